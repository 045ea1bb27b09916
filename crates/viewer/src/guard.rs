//! Who may come in: the right token, asked for under our own name, from our own page.
//!
//! A page of a stranger in the same browser can send requests to this machine. It does not know the token. If it makes its own
//! name point here (DNS rebinding), the Host header still has that name; if it opens a WebSocket, the Origin header does.

use axum::http::{HeaderMap, HeaderValue, header};
use std::net::IpAddr;

/// What visitors are held against.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    token: String,
    /// Whether machines beyond this one may come.
    beyond: bool,
    /// Further names under which this server may be asked for.
    names: Vec<String>,
}

impl Guard {
    pub(crate) fn new(token: String, bind: IpAddr, names: &[String]) -> Self {
        let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { token, beyond: !bind.is_loopback(), names }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The one Host header of a request, if it names us. The port is free: it changes on its way through a tunnel.
    pub(crate) fn host<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let mut all = headers.get_all(header::HOST).iter();
        let host = all.next()?.to_str().ok()?;
        let name = name_of(host)?.to_ascii_lowercase();
        let address: Option<IpAddr> = name.parse().ok();
        let ours = match address {
            Some(address) => address.is_loopback() || self.beyond,
            None => name == "localhost" || self.names.contains(&name),
        };
        (ours && all.next().is_none()).then_some(host)
    }

    /// Whether a WebSocket is opened by a page that this server sent.
    pub(crate) fn same_origin(&self, headers: &HeaderMap) -> bool {
        let mut all = headers.get_all(header::ORIGIN).iter();
        let (Some(origin), None, Some(host)) = (all.next(), all.next(), self.host(headers)) else { return false };
        origin.as_bytes() == format!("http://{host}").as_bytes()
    }

    /// What follows `/TOKEN/` in a path; nothing without the token.
    pub(crate) fn inside<'a>(&self, path: &'a str) -> Option<&'a str> {
        let path = path.strip_prefix('/')?;
        let (token, rest) = path.split_once('/').unwrap_or((path, ""));
        same(token.as_bytes(), self.token.as_bytes()).then_some(rest)
    }
}

/// Compares in a time that does not tell how much was right.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}

/// The name in a Host header, without its port and brackets.
fn name_of(host: &str) -> Option<&str> {
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    if let Some(rest) = host.strip_prefix('[') {
        let (name, port) = rest.split_once(']')?;
        return (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(name);
    }
    match host.split_once(':') {
        None => Some(host),
        Some((name, port)) => is_port(port).then_some(name),
    }
}

/// Adds what keeps the page to itself: nothing from elsewhere, nothing inline, in no frame, in no cache.
pub(crate) fn harden(headers: &mut HeaderMap, host: &str) {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self' ws://{host}; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(value) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, value);
    }
}

/// A token that cannot be guessed: 128 random bits.
pub(crate) fn random_token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether a token given by hand can stand in a link and is hard to guess.
pub(crate) fn usable_token(token: &str) -> bool {
    token.len() >= 16
        && token.len() <= 128
        && token.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(bind: &str) -> Guard {
        Guard::new("0123456789abcdef".into(), bind.parse().unwrap(), &["Lab.example".into()])
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn only_our_own_names_are_answered() {
        let welcome = |bind: &str, host: &str| guard(bind).host(&headers(&[("host", host)])).is_some();
        for host in ["127.0.0.1:7420", "localhost:8080", "LOCALHOST", "[::1]:7420", "127.0.0.1", "lab.example:7420"] {
            assert!(welcome("127.0.0.1", host), "{host}");
        }
        for host in
            ["evil.example", "127.0.0.1.evil.example:7420", "192.168.1.5:7420", "localhost:x", "[::1", "", "a:b:c"]
        {
            assert!(!welcome("127.0.0.1", host), "{host}");
        }
        assert!(welcome("0.0.0.0", "192.168.1.5:7420") && !welcome("0.0.0.0", "evil.example"));
        assert!(guard("127.0.0.1").host(&headers(&[])).is_none());
        assert!(guard("127.0.0.1").host(&headers(&[("host", "localhost"), ("host", "evil.example")])).is_none());
    }

    #[test]
    fn sockets_open_for_our_own_page_only() {
        let open = |pairs: &[(&'static str, &str)]| guard("127.0.0.1").same_origin(&headers(pairs));
        assert!(open(&[("host", "localhost:7420"), ("origin", "http://localhost:7420")]));
        for origin in ["http://localhost:3000", "http://evil.example", "https://localhost:7420", "null", ""] {
            assert!(!open(&[("host", "localhost:7420"), ("origin", origin)]), "{origin}");
        }
        assert!(!open(&[("host", "localhost:7420")]));
        assert!(!open(&[("host", "evil.example"), ("origin", "http://evil.example")]));
    }

    #[test]
    fn nothing_is_inside_without_the_token() {
        let guard = guard("127.0.0.1");
        assert_eq!(guard.inside("/0123456789abcdef/main.js"), Some("main.js"));
        assert_eq!(guard.inside("/0123456789abcdef"), Some(""));
        for path in
            ["/", "", "/main.js", "/0123456789abcdeF/main.js", "/0123456789abcdef0/main.js", "//0123456789abcdef/"]
        {
            assert_eq!(guard.inside(path), None, "{path}");
        }
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let (a, b) = (random_token().unwrap(), random_token().unwrap());
        assert!(a.len() == 32 && a != b && usable_token(&a));
        assert!(!usable_token("short") && !usable_token("has/slash/in/it/somewhere"));
    }
}
