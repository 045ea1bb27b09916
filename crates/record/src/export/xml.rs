//! The XML of VTK files, with their arrays as raw bytes behind it.
//!
//! ```text
//! <?xml version="1.0"?>
//! <VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">
//!   …  <DataArray type="Float32" Name="velocity" NumberOfComponents="3" format="appended" offset="0"/>  …
//!   <AppendedData encoding="raw">_[u64 length][bytes][u64 length][bytes]…</AppendedData>
//! </VTKFile>
//! ```
//! The bytes lie in the reverse order of their elements. VTK does not care; meshio (5.3) renumbers offsets while it looks
//! for the next one, and in the forward order it can take an array for one that it has already renumbered.

use std::fmt::{Display, Write};

use super::array::{DataArray, FieldData, Points, Values};
use crate::error::Result;

/// An XML document that grows from front to back. Writing to a string does not fail, so results of `write!` are dropped.
pub(super) struct Xml {
    text: String,
    open: Vec<&'static str>,
    arrays: Vec<Appended>,
}

/// An array behind the XML, with its length in front.
struct Appended {
    bytes: Vec<u8>,
    /// Where in the text its offset goes.
    offset_at: usize,
}

impl Xml {
    /// A VTK file of a type, such as `PolyData`.
    pub(super) fn vtk_file(kind: &'static str) -> Self {
        let mut xml = Self { text: "<?xml version=\"1.0\"?>\n".into(), open: Vec::new(), arrays: Vec::new() };
        let attributes: [(&str, &dyn Display); 4] =
            [("type", &kind), ("version", &"1.0"), ("byte_order", &"LittleEndian"), ("header_type", &"UInt64")];
        xml.begin("VTKFile", &attributes);
        xml
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &dyn Display)], end: &str) {
        let _ = write!(self.text, "{:indent$}<{name}", "", indent = 2 * self.open.len());
        for (key, value) in attributes {
            let _ = write!(self.text, " {key}=\"{}\"", escape(&value.to_string()));
        }
        self.text.push_str(end);
    }

    /// Opens an element.
    pub(super) fn begin(&mut self, name: &'static str, attributes: &[(&str, &dyn Display)]) {
        self.tag(name, attributes, ">\n");
        self.open.push(name);
    }

    /// Writes an element with nothing in it.
    pub(super) fn empty(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.tag(name, attributes, "/>\n");
    }

    /// Closes the element that was opened last.
    pub(super) fn end(&mut self) {
        if let Some(name) = self.open.pop() {
            let _ = writeln!(self.text, "{:indent$}</{name}>", "", indent = 2 * self.open.len());
        }
    }

    /// Writes an array. One in a field says how long it is: no points or cells do.
    fn array(&mut self, array: &DataArray, in_field: bool) {
        let values = array.values();
        let (name, kind, components) = (array.name(), values.type_name(), array.components());
        let tuples = values.len() / components.max(1);
        let mut attributes: Vec<(&str, &dyn Display)> = vec![("type", &kind), ("Name", &name)];
        if components != 1 {
            attributes.push(("NumberOfComponents", &components));
        }
        if in_field {
            attributes.push(("NumberOfTuples", &tuples));
        }
        attributes.push(("format", &"appended"));
        self.tag("DataArray", &attributes, " offset=\"");
        let offset_at = self.text.len();
        match array.unit() {
            "" => self.text.push_str("\"/>\n"),
            unit => self.unit(unit),
        }
        let mut bytes = (values.byte_length() as u64).to_le_bytes().to_vec();
        values.append_to(&mut bytes);
        self.arrays.push(Appended { bytes, offset_at });
    }

    /// Ends the tag of an array by saying its unit.
    fn unit(&mut self, unit: &str) {
        let indent = 2 * self.open.len();
        let label =
            format!(r#"<InformationKey name="UNITS_LABEL" location="vtkDataArray">{}</InformationKey>"#, escape(unit));
        let _ = write!(self.text, "\">\n{:indent$}  {label}\n{:indent$}</DataArray>\n", "", "");
    }

    /// `FieldData`, if there is any.
    pub(super) fn field(&mut self, field: &FieldData) {
        if *field == FieldData::default() {
            return;
        }
        self.begin("FieldData", &[]);
        if let Some(time) = field.time {
            self.array(&DataArray::scalars("TimeValue", &[time]), true);
        }
        if !field.body_names.is_empty() {
            self.texts("body_names", &field.body_names);
        }
        self.end();
    }

    /// Texts, which VTK wants as the numbers of their bytes with a zero behind each.
    fn texts(&mut self, name: &str, texts: &[&str]) {
        let attributes: [(&str, &dyn Display); 4] =
            [("type", &"String"), ("Name", &name), ("NumberOfTuples", &texts.len()), ("format", &"ascii")];
        self.tag("DataArray", &attributes, ">");
        for text in texts {
            for byte in text.replace('\0', "\u{fffd}").bytes() {
                let _ = write!(self.text, "{byte} ");
            }
            self.text.push_str("0 ");
        }
        self.text.push_str("</DataArray>\n");
    }

    /// `Points`
    pub(super) fn points(&mut self, points: Points) {
        self.begin("Points", &[]);
        self.array(&DataArray::vectors("Points", points), false);
        self.end();
    }

    /// `PointData` or `CellData`, for so many points or cells.
    pub(super) fn data(&mut self, element: &'static str, arrays: &[DataArray], tuples: usize) -> Result<()> {
        self.begin(element, &[]);
        for array in arrays {
            array.check(tuples)?;
            self.array(array, false);
        }
        self.end();
        Ok(())
    }

    /// Cells of a kind, such as `Polys`, with further arrays.
    pub(super) fn cells(&mut self, element: &'static str, cells: &Connectivity, types: Option<&[u8]>) {
        self.begin(element, &[]);
        self.array(&DataArray::scalars("connectivity", &cells.nodes), false);
        self.array(&DataArray::scalars("offsets", &cells.offsets), false);
        if let Some(types) = types {
            self.array(&DataArray::scalars("types", Values::U8(types)), false);
        }
        self.end();
    }

    /// The whole file.
    pub(super) fn finish(mut self) -> Vec<u8> {
        while self.open.len() > 1 {
            self.end();
        }
        let mut bytes = self.text_with_offsets().into_bytes();
        if !self.arrays.is_empty() {
            bytes.extend_from_slice(b"  <AppendedData encoding=\"raw\">\n_");
            self.arrays.iter().rev().for_each(|array| bytes.extend_from_slice(&array.bytes));
            bytes.extend_from_slice(b"\n  </AppendedData>\n");
        }
        bytes.extend_from_slice(b"</VTKFile>\n");
        bytes
    }

    fn text_with_offsets(&self) -> String {
        let mut offset: usize = self.arrays.iter().map(|array| array.bytes.len()).sum();
        let (mut text, mut rest, mut done) = (String::new(), self.text.as_str(), 0);
        for array in &self.arrays {
            offset -= array.bytes.len();
            let (before, after) = rest.split_at(array.offset_at - done);
            let _ = write!(text, "{before}{offset}");
            (rest, done) = (after, array.offset_at);
        }
        text + rest
    }
}

/// The nodes of cells one behind the other, and where each cell ends.
#[derive(Default)]
pub(super) struct Connectivity {
    nodes: Vec<i64>,
    offsets: Vec<i64>,
}

impl Connectivity {
    /// Adds cells of so many nodes each.
    pub(super) fn push(&mut self, nodes: &[u32], per_cell: usize) {
        for cell in nodes.chunks_exact(per_cell) {
            self.nodes.extend(cell.iter().map(|&node| i64::from(node)));
            self.offsets.push(self.nodes.len() as i64);
        }
    }

    /// Adds other cells.
    pub(super) fn append(&mut self, other: Self) {
        let first = self.nodes.len() as i64;
        self.nodes.extend(other.nodes);
        self.offsets.extend(other.offsets.into_iter().map(|end| first + end));
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.offsets.len()
    }
}

/// Text that can stand in an attribute. Characters that XML cannot hold at all become U+FFFD.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' => escaped.push_str("&#9;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        assert_eq!(escape("a<b> & \"c\"\n\u{1}ü"), "a&lt;b&gt; &amp; &quot;c&quot;&#10;\u{fffd}ü");
    }

    #[test]
    fn a_file_closes_what_it_opens() {
        let mut xml = Xml::vtk_file("Collection");
        xml.begin("Collection", &[]);
        xml.empty("DataSet", &[("file", &"a & b")]);
        let text = String::from_utf8(xml.finish()).unwrap();
        assert!(text.ends_with("    <DataSet file=\"a &amp; b\"/>\n  </Collection>\n</VTKFile>\n"), "{text}");
    }

    #[test]
    fn arrays_follow_the_xml() {
        let mut xml = Xml::vtk_file("PolyData");
        xml.data("PointData", &[DataArray::scalars("a", &[1u8, 2]), DataArray::scalars("b", &[258u16, 0])], 2).unwrap();
        let bytes = xml.finish();
        let tail = b"_\x04\0\0\0\0\0\0\0\x02\x01\0\0\x02\0\0\0\0\0\0\0\x01\x02\n  </AppendedData>\n</VTKFile>\n";
        assert!(bytes.ends_with(tail));
        for (name, offset) in [("a", 12), ("b", 0)] {
            let element = format!("Name=\"{name}\" format=\"appended\" offset=\"{offset}\"/>");
            assert!(String::from_utf8_lossy(&bytes).contains(&element));
        }
    }
}
