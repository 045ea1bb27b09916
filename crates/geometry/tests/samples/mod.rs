//! A small mesh of tetrahedra as every kind of file that we read.

use std::fmt::Write as _;

use glam::DVec3;
use meniscus_geometry::TetMesh;

/// The mesh that all files hold.
pub(crate) fn mesh() -> TetMesh {
    TetMesh::block(DVec3::new(0.25, -0.5, 1.0), DVec3::new(0.75, 0.5, 1.25), [1, 2, 1])
}

/// A tetrahedron's region: its index is odd or even.
pub(crate) fn region(tet: usize) -> i64 {
    7 + (tet % 2) as i64
}

/// Numbers on their way into a file.
pub(crate) struct Bytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) big: bool,
}

impl Bytes {
    pub(crate) fn put(&mut self, mut raw: Vec<u8>) -> &mut Self {
        if self.big {
            raw.reverse();
        }
        self.bytes.extend(raw);
        self
    }

    pub(crate) fn int(&mut self, value: i64) -> &mut Self {
        self.put((value as i32).to_le_bytes().to_vec())
    }

    pub(crate) fn long(&mut self, value: i64) -> &mut Self {
        self.put(value.to_le_bytes().to_vec())
    }

    pub(crate) fn real(&mut self, value: f64) -> &mut Self {
        self.put(value.to_le_bytes().to_vec())
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.bytes.extend(text.as_bytes());
        self
    }
}

pub(crate) fn msh_2_text() -> Vec<u8> {
    let mesh = mesh();
    let mut text = String::from(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n2 1 \"skin\"\n3 7 \"soft part\"\n3 8 \"hard\"\n\
         $EndPhysicalNames\n$Comment\nanything goes\n$EndComment\n",
    );
    let _ = writeln!(text, "$Nodes\n{}", mesh.vertices().len() + 1);
    for (i, v) in mesh.vertices().iter().enumerate() {
        let _ = writeln!(text, "{} {} {} {}", 10 * i + 3, v.x, v.y, v.z);
    }
    let _ = writeln!(text, "99999 0 0 0\n$EndNodes\n$Elements\n{}", mesh.tets().len() + 1);
    let _ = writeln!(text, "1 2 2 1 1 3 13 23");
    for (i, tet) in mesh.tets().iter().enumerate() {
        let [a, b, c, d] = tet.map(|v| 10 * v + 3);
        let _ = writeln!(text, "{} 4 2 {} 1 {a} {b} {c} {d}", i + 2, region(i));
    }
    text.push_str("$EndElements\n");
    text.into()
}

pub(crate) fn msh_2_binary(big: bool) -> Vec<u8> {
    let mesh = mesh();
    let mut out = Bytes { bytes: Vec::new(), big };
    out.text("$MeshFormat\n2.2 1 8\n").int(1).text("\n$EndMeshFormat\n");
    out.text(&format!("$Nodes\n{}\n", mesh.vertices().len()));
    for (i, v) in mesh.vertices().iter().enumerate() {
        out.int(i as i64 + 1).real(v.x).real(v.y).real(v.z);
    }
    out.text(&format!("\n$EndNodes\n$Elements\n{}\n", mesh.tets().len() + 1));
    out.int(15).int(1).int(2).int(1).int(0).int(0).int(1);
    out.int(4).int(mesh.tets().len() as i64).int(2);
    for (i, tet) in mesh.tets().iter().enumerate() {
        out.int(i as i64 + 2).int(region(i)).int(1);
        tet.iter().for_each(|&v| {
            out.int(i64::from(v) + 1);
        });
    }
    out.text("\n$EndElements\n");
    out.bytes
}

pub(crate) fn msh_4_text() -> Vec<u8> {
    let mesh = mesh();
    let mut text = String::from("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n1 1 0 2\n");
    text.push_str(
        "1 0 0 0 0 \n5 0 0 0 1 1 1 0 2 1 1 \n21 0 0 0 1 1 1 1 7 0 \n22 0 0 0 1 1 1 2 8 9 1 4 \n$EndEntities\n",
    );
    let n = mesh.vertices().len();
    let _ = writeln!(text, "$Nodes\n2 {n} 1 {n}\n0 1 0 1\n1");
    let v = mesh.vertices()[0];
    let _ = writeln!(text, "{} {} {}\n3 21 1 {}", v.x, v.y, v.z, n - 1);
    (2..=n).for_each(|i| text.push_str(&format!("{i}\n")));
    for v in &mesh.vertices()[1..] {
        let _ = writeln!(text, "{} {} {} 0.5 0.5 0.5", v.x, v.y, v.z);
    }
    let m = mesh.tets().len();
    let _ = writeln!(text, "$EndNodes\n$Elements\n{} {} 1 {}\n0 1 15 1\n1 1 ", m + 1, m + 1, m + 1);
    for (i, tet) in mesh.tets().iter().enumerate() {
        let [a, b, c, d] = tet.map(|v| v + 1);
        let _ = writeln!(text, "3 {} 4 1\n{} {a} {b} {c} {d} ", 21 + i % 2, i + 2);
    }
    text.push_str("$EndElements\n");
    text.into()
}

pub(crate) fn msh_4_binary(big: bool) -> Vec<u8> {
    let mesh = mesh();
    let (n, m) = (mesh.vertices().len() as i64, mesh.tets().len() as i64);
    let mut out = Bytes { bytes: Vec::new(), big };
    out.text("$MeshFormat\n4.1 1 8\n").int(1).text("\n$EndMeshFormat\n$Entities\n");
    out.long(0).long(0).long(0).long(2);
    for volume in [21, 22] {
        out.int(volume);
        (0..6).for_each(|i| {
            out.real(f64::from(i));
        });
        out.long(1).int(volume - 14).long(2).int(5).int(6);
    }
    out.text("\n$EndEntities\n$Nodes\n").long(1).long(n).long(1).long(n).int(3).int(21).int(0).long(n);
    (1..=n).for_each(|i| {
        out.long(i);
    });
    for v in mesh.vertices() {
        out.real(v.x).real(v.y).real(v.z);
    }
    out.text("\n$EndNodes\n$Elements\n").long(m).long(m).long(1).long(m);
    for (i, tet) in mesh.tets().iter().enumerate() {
        out.int(3).int(21 + i as i64 % 2).int(4).long(1).long(i as i64 + 1);
        tet.iter().for_each(|&v| {
            out.long(i64::from(v) + 1);
        });
    }
    out.text("\n$EndElements\n");
    out.bytes
}

/// The .node and the .ele file.
pub(crate) fn tetgen(first: usize) -> [Vec<u8>; 2] {
    let mesh = mesh();
    let mut node = format!("# nodes\n\n{} 3 1 1 # dimension, attributes, markers\n", mesh.vertices().len());
    for (i, v) in mesh.vertices().iter().enumerate() {
        let _ = writeln!(node, "  {}  {} {} {} 0.5 1", i + first, v.x, v.y, v.z);
    }
    let mut ele = format!("{}  4  1\n", mesh.tets().len());
    for (i, tet) in mesh.tets().iter().enumerate() {
        let [a, b, c, d] = tet.map(|v| v as usize + first);
        let _ = writeln!(ele, "{}  {a} {b} {c} {d}  {}.0", i + first, region(i));
    }
    ele.push_str("# Generated by tetgen\n");
    [node.into(), ele.into()]
}

pub(crate) fn vtk_text(version: u32) -> Vec<u8> {
    let mesh = mesh();
    let (n, m) = (mesh.vertices().len(), mesh.tets().len());
    let mut text =
        format!("# vtk DataFile Version {version}.{}\na title\nASCII\nDATASET UNSTRUCTURED_GRID\n", version % 2);
    let _ = writeln!(text, "FIELD FieldData 1\ntime 1 1 double\n0.25\nPOINTS {n} double");
    for v in mesh.vertices() {
        let _ = writeln!(text, "{} {} {}", v.x, v.y, v.z);
    }
    text.push_str("METADATA\nINFORMATION 0\n\n");
    if version < 5 {
        let _ = writeln!(text, "CELLS {} {}\n2 0 1", m + 1, 5 * m + 3);
        mesh.tets().iter().for_each(|[a, b, c, d]| text.push_str(&format!("4 {a} {b} {c} {d}\n")));
    } else {
        let _ = writeln!(text, "CELLS {} {}\nOFFSETS vtktypeint64\n0", m + 2, 4 * m + 2);
        (0..=m).for_each(|i| text.push_str(&format!("{} ", 4 * i + 2)));
        text.push_str("\nCONNECTIVITY vtktypeint64\n0 1\n");
        mesh.tets().iter().for_each(|[a, b, c, d]| text.push_str(&format!("{a} {b} {c} {d}\n")));
    }
    let _ = writeln!(text, "CELL_TYPES {}\n3", m + 1);
    (0..m).for_each(|_| text.push_str("10\n"));
    let _ = writeln!(text, "POINT_DATA {n}\nSCALARS s float 1\nLOOKUP_TABLE default");
    text.into()
}

pub(crate) fn vtk_binary() -> Vec<u8> {
    let mesh = mesh();
    let (n, m) = (mesh.vertices().len(), mesh.tets().len());
    let mut out = Bytes { bytes: Vec::new(), big: true };
    out.text(&format!("# vtk DataFile Version 3.0\na title\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS {n} float\n"));
    for v in mesh.vertices() {
        v.as_vec3().to_array().iter().for_each(|x| {
            out.put(x.to_le_bytes().to_vec());
        });
    }
    out.text(&format!("\nCELLS {m} {}\n", 5 * m));
    for tet in mesh.tets() {
        out.int(4);
        tet.iter().for_each(|&v| {
            out.int(v.into());
        });
    }
    out.text(&format!("\nCELL_TYPES {m}\n"));
    (0..m).for_each(|_| {
        out.int(10);
    });
    out.bytes
}

/// How an XML file holds its data.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Xml {
    Ascii,
    Base64,
    AppendedBase64,
    Raw,
}

pub(crate) fn vtu(kind: Xml) -> Vec<u8> {
    let mesh = mesh();
    let mut points = Bytes { bytes: Vec::new(), big: false };
    let mut connectivity = Bytes { bytes: Vec::new(), big: false };
    let mut offsets = Bytes { bytes: Vec::new(), big: false };
    for v in mesh.vertices() {
        points.real(v.x).real(v.y).real(v.z);
    }
    for (i, tet) in mesh.tets().iter().enumerate() {
        tet.iter().for_each(|&v| {
            connectivity.int(v.into());
        });
        offsets.long(4 * i as i64 + 4);
    }
    let types = vec![10u8; mesh.tets().len()];
    let ascii = [
        mesh.vertices().iter().map(|v| format!("{} {} {}\n", v.x, v.y, v.z)).collect::<String>(),
        mesh.tets().iter().map(|[a, b, c, d]| format!("{a} {b} {c} {d}\n")).collect(),
        (1..=mesh.tets().len()).map(|i| format!("{} ", 4 * i)).collect(),
        "10 ".repeat(mesh.tets().len()),
    ];
    let raw = [points.bytes, connectivity.bytes, offsets.bytes, types];
    let mut appended = Vec::new();
    let mut array = |i: usize, attributes: &str| {
        let sized = [&(raw[i].len() as u32).to_le_bytes()[..], &raw[i]].concat();
        let offset = appended.len();
        let (format, body) = match kind {
            Xml::Ascii => ("ascii".to_owned(), ascii[i].clone()),
            Xml::Base64 => ("binary".to_owned(), base64(&sized)),
            Xml::AppendedBase64 => {
                appended.extend(base64(&sized).into_bytes());
                (format!("appended\" offset=\"{offset}"), String::new())
            }
            Xml::Raw => {
                appended.extend(sized);
                (format!("appended\" offset=\"{offset}"), String::new())
            }
        };
        format!("<DataArray {attributes} format=\"{format}\">\n{body}\n</DataArray>\n")
    };
    let mut text = format!(
        "<?xml version=\"1.0\"?>\n<!-- a mesh -->\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">\n\
         <UnstructuredGrid><Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<PointData></PointData>\n<Points>\n",
        mesh.vertices().len(),
        mesh.tets().len()
    );
    text += &array(0, "type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"");
    text += "</Points>\n<Cells>\n";
    text += &array(1, "type=\"Int32\" Name=\"connectivity\"");
    text += &array(2, "type=\"Int64\" Name=\"offsets\"");
    text += &array(3, "type=\"UInt8\" Name=\"types\"");
    text += "</Cells>\n</Piece></UnstructuredGrid>\n";
    let mut bytes = text.into_bytes();
    if !appended.is_empty() {
        let encoding = if kind == Xml::Raw { "raw" } else { "base64" };
        bytes.extend(format!("<AppendedData encoding=\"{encoding}\">\n_").bytes());
        bytes.extend(&appended);
        bytes.extend(b"\n</AppendedData>");
    }
    bytes.extend(b"</VTKFile>\n");
    bytes
}

fn base64(bytes: &[u8]) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().chain([&0; 2]).take(3).fold(0u32, |bits, &b| bits << 8 | u32::from(b));
        for i in 0..4 {
            text.push(if i > group.len() { '=' } else { char::from(letters[(bits >> (18 - 6 * i) & 63) as usize]) });
        }
    }
    text
}
