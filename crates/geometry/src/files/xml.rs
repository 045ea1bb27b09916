//! As much of XML as VTK's files need: tags with attributes, and the text between them.

/// A tag.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tag<'a> {
    /// Its name; of a closing tag with the slash.
    pub(super) name: &'a [u8],
    attributes: &'a [u8],
    /// Where it begins \[bytes\].
    pub(super) offset: usize,
    /// Where what follows it begins \[bytes\].
    pub(super) end: usize,
}

impl<'a> Tag<'a> {
    /// The value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&'a [u8]> {
        let mut rest = self.attributes;
        loop {
            let equals = rest.iter().position(|&b| b == b'=')?;
            let found = rest[..equals].trim_ascii();
            let value = rest[equals + 1..].trim_ascii_start();
            let (&quote, value) = value.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
            let end = value.iter().position(|&b| b == quote)?;
            if found == name.as_bytes() {
                return Some(&value[..end]);
            }
            rest = &value[end + 1..];
        }
    }

    /// The value of an attribute that is a number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        std::str::from_utf8(self.attribute(name)?).ok()?.trim().parse().ok()
    }
}

/// The tags of a file, one after the other; comments and instructions are stepped over.
#[derive(Debug, Clone)]
pub(super) struct Tags<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tags<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn position_of(&self, from: usize, wanted: &[u8]) -> Option<usize> {
        let rest = self.bytes.get(from..)?;
        Some(from + rest.windows(wanted.len()).position(|window| window == wanted)?)
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let start = self.position_of(self.at, b"<")?;
            let rest = &self.bytes[start + 1..];
            let close: &[u8] = if rest.starts_with(b"!--") { b"-->" } else { b">" };
            let end = self.position_of(start + 1, close)?;
            self.at = end + close.len();
            if rest.starts_with(b"!") || rest.starts_with(b"?") {
                continue;
            }
            let inside = self.bytes[start + 1..end].trim_ascii();
            let length = inside.iter().position(u8::is_ascii_whitespace).unwrap_or(inside.len());
            let (name, attributes) = inside.split_at(length);
            let name = name.strip_suffix(b"/").filter(|name| !name.is_empty()).unwrap_or(name);
            return Some(Tag { name, attributes, offset: start, end: self.at });
        }
    }
}

/// Bytes written as letters, six bits each (base 64), as many as there are up to what is no such letter, and at most
/// `most`; blanks are stepped over. Also says how many bytes of text were read, at most `budget` of them and one.
pub(crate) fn from_base64(text: &[u8], most: usize, budget: usize) -> (Vec<u8>, usize) {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    let mut read = 0;
    for &letter in text {
        if bytes.len() == most || read > budget {
            break;
        }
        read += 1;
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                // What is written behind the filling begins a new group.
                (bits, held) = (0, 0);
                continue;
            }
            blank if blank.is_ascii_whitespace() => continue,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    (bytes, read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_names_and_attributes() {
        let text = b"<?xml version=\"1.0\"?><!-- <no> --><File type='a b' n=\"12\">\n<Data format = \"x\"/>text</Data ></File>";
        let tags: Vec<_> = Tags::new(text).collect();
        let names: Vec<_> = tags.iter().map(|tag| tag.name).collect();
        assert_eq!(names, [&b"File"[..], b"Data", b"/Data", b"/File"]);
        assert_eq!((tags[0].attribute("type"), tags[0].number("n")), (Some(&b"a b"[..]), Some(12)));
        assert_eq!((tags[1].attribute("format"), tags[1].attribute("n")), (Some(&b"x"[..]), None));
        assert_eq!(&text[tags[1].end..tags[2].offset], b"text");
        assert_eq!(Tags::new(b"<a b=").count() + Tags::new(b"<").count() + Tags::new(b"").count(), 0);
    }

    #[test]
    fn base64_is_undone() {
        assert_eq!(from_base64(b" TWVu\naXNj dXM= ", 99, 99), (b"Meniscus".to_vec(), 16));
        assert_eq!(from_base64(b"AQ==AgM=", 99, 99), (vec![1, 2, 3], 8));
        assert_eq!(from_base64(b"AQI<", 99, 99), (vec![1, 2], 4));
        assert_eq!(from_base64(b"TWVuaXNjdXM=", 4, 99), (b"Meni".to_vec(), 6));
        assert_eq!(from_base64(&[b' '; 99], 4, 10), (vec![], 11));
    }
}
