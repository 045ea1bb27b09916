//! The page, embedded.

/// A file of the page.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! page {
    ($($kind:ident $name:literal),* $(,)?) => {
        &[$(Asset { name: $name, kind: $kind, bytes: include_bytes!(concat!("../page/", $name)) }),*]
    };
}

const PAGE: &[Asset] = page![
    HTML "index.html",
    CSS "style.css",
    SVG "icon.svg",
    JS "main.js",
    JS "camera.js",
    JS "colors.js",
    JS "connection.js",
    JS "dom.js",
    JS "gl.js",
    JS "hands.js",
    JS "liquid-shaders.js",
    JS "liquid.js",
    JS "math.js",
    JS "meshes.js",
    JS "panel.js",
    JS "picking.js",
    JS "plots.js",
    JS "protocol.js",
    JS "renderer.js",
    JS "shaders.js",
    JS "water-shaders.js",
    JS "water.js",
];

/// Finds a file by the rest of its path; the empty path is the page itself.
pub(crate) fn find(path: &str) -> Option<&'static Asset> {
    let name = if path.is_empty() { "index.html" } else { path };
    PAGE.iter().find(|asset| asset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_page_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/page");
        let mut files: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        let mut names: Vec<&str> = PAGE.iter().map(|asset| asset.name).collect();
        names.sort_unstable();
        assert_eq!(files, names);
    }

    #[test]
    fn nothing_else_is_found() {
        assert!(find("").is_some() && find("main.js").is_some());
        for path in ["../Cargo.toml", "..%2fCargo.toml", "/etc/passwd", "page/main.js", "main.js/", "MAIN.JS", "."] {
            assert!(find(path).is_none(), "{path}");
        }
    }

    /// The page works without a network and under a strict policy: nothing from elsewhere, nothing inline.
    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        for asset in PAGE {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            let foreign = text.replace("http://www.w3.org/", "");
            assert!(!foreign.contains("https://") && !foreign.contains("http://"), "{}", asset.name);
            assert!(!text.contains("eval(") && !text.contains("innerHTML"), "{}", asset.name);
            let inline = ["style=", "onclick=", "<script>", "<style>"];
            assert!(asset.kind != HTML || inline.iter().all(|word| !text.contains(word)), "{}", asset.name);
        }
    }
}
