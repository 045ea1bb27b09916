//! Tetrahedral meshes from all kinds of files.

use meniscus_geometry::{
    ImportOptions, MeshFileError, TetFile, UpAxis, parse_msh, parse_tetgen, parse_vtk, parse_vtu, read_tets,
};

mod samples;

use samples::{Xml, mesh, region};

fn options() -> ImportOptions {
    ImportOptions::default()
}

fn assert_is_the_mesh(name: &str, file: &TetFile) {
    assert_eq!(file.mesh, mesh(), "{name}");
    assert_eq!((file.report.turned, file.report.pieces, file.report.quality.slivers), (0, 1, 0), "{name}");
    assert_eq!(file.report.quality, mesh().quality());
}

#[test]
fn all_kinds_of_files_give_the_same_mesh() {
    let regions: Vec<i64> = (0..mesh().tets().len()).map(region).collect();
    for (name, bytes) in [
        ("2.2 text", samples::msh_2_text()),
        ("2.2 binary", samples::msh_2_binary(false)),
        ("2.2 binary, other byte order", samples::msh_2_binary(true)),
        ("4.1 text", samples::msh_4_text()),
        ("4.1 binary", samples::msh_4_binary(false)),
        ("4.1 binary, other byte order", samples::msh_4_binary(true)),
    ] {
        let file = parse_msh(&bytes, &options()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_is_the_mesh(name, &file);
        assert_eq!(file.regions, regions, "{name}");
    }
    for first in [0, 1] {
        let [node, ele] = samples::tetgen(first);
        let file = parse_tetgen(&node, &ele, &options()).unwrap();
        assert_is_the_mesh("tetgen", &file);
        assert_eq!(file.regions, regions);
    }
    for bytes in [samples::vtk_text(3), samples::vtk_text(5), samples::vtk_binary()] {
        assert_is_the_mesh("vtk", &parse_vtk(&bytes, &options()).unwrap());
    }
    for kind in [Xml::Ascii, Xml::Base64, Xml::AppendedBase64, Xml::Raw] {
        assert_is_the_mesh("vtu", &parse_vtu(&samples::vtu(kind), &options()).unwrap());
    }
}

#[test]
fn names_other_elements_and_unused_nodes_are_reported() {
    let file = parse_msh(&samples::msh_2_text(), &options()).unwrap();
    assert_eq!(file.region_names, [(7, "soft part".to_owned()), (8, "hard".to_owned())]);
    assert_eq!((file.report.other_elements, file.report.unused_nodes), (1, 1));
    let file = parse_vtk(&samples::vtk_text(3), &options()).unwrap();
    assert_eq!((file.report.other_elements, file.report.unused_nodes), (1, 0));
}

#[test]
fn tetrahedra_of_ten_nodes_keep_their_corners() {
    let text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n10\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n\
                5 .5 0 0\n6 .5 .5 0\n7 0 .5 0\n8 0 0 .5\n9 0 .5 .5\n10 .5 0 .5\n$EndNodes\n\
                $Elements\n1\n1 11 2 1 1 1 2 3 4 5 6 7 8 9 10\n$EndElements\n";
    let file = parse_msh(text.as_bytes(), &options()).unwrap();
    assert_eq!((file.mesh.vertices().len(), file.report.reduced, file.report.unused_nodes), (4, 1, 6));
    let file = parse_tetgen(
        b"10 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 9 0 0\n6 9 9 0\n7 0 9 0\n8 0 0 9\n9 0 9 9\n10 9 0 9\n",
        b"1 10 0\n1 1 2 3 4 5 6 7 8 9 10\n",
        &options(),
    );
    assert_eq!(file.unwrap().report.reduced, 1);
}

#[test]
fn inverted_tetrahedra_are_turned_and_pieces_and_slivers_counted() {
    let node = b"8 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 5 5 5\n6 6 5 5\n7 5 6 5\n8 6 6 5.01\n";
    let file = parse_tetgen(node, b"2 4 0\n1 1 3 2 4\n2 5 6 7 8\n", &options()).unwrap();
    let report = file.report;
    assert_eq!((report.turned, report.pieces, report.quality.slivers, report.quality.worst), (1, 2, 1, 1));
    assert!(file.mesh.volume() > 0.0);
    let options = ImportOptions { scale: 0.001, up: UpAxis::Z };
    let scaled = parse_tetgen(node, b"1 4 0\n1 1 2 3 4\n", &options).unwrap();
    assert!((scaled.mesh.volume() - 1e-9 / 6.0).abs() < 1e-20 && scaled.report.turned == 0);
}

#[test]
fn errors_say_where_and_what_would_be_right() {
    let msh = String::from_utf8(samples::msh_2_text()).unwrap();
    for (from, to, part) in [
        ("$MeshFormat", "$MeshFormats", "line 1: expected `$MeshFormat`"),
        ("2.2 0 8", "4.0 0 8", "line 2: expected version 2.2 or 4.1, found `4.0`"),
        ("2.2 0 8", "2.2 0 4", "line 2: expected numbers of 8 bytes"),
        ("$Nodes\n13", "$Nodes\n4000000000", "4000000000 nodes are announced"),
        ("$Nodes\n13", "$Nodes\n12", "line 27: expected the end of the section, found `99999`"),
        ("$Nodes\n13", "$Nodes\n14", "expected a whole number, found `$EndNodes`"),
        ("\n13 0.75", "\n3 0.75", "line 16: expected a node number that is not taken, found `3`"),
        ("\n13 0.75", "\n13 nan", "line 16: the coordinate NaN"),
        ("\n13 0.75", "\n13 x", "line 16: expected a number, found `x`"),
        ("2 4 2 7 1 3", "2 4 2 7 1 4", "line 32: a tetrahedron uses node 4, which the file does not have"),
        ("2 4 2 7 1 3 ", "2 4 2 7 1 13 ", "line 32: tetrahedron 0 at"),
        ("2 4 2 7 1 3", "2 444 2 7 1 3", "line 32: expected a type of element that Gmsh has, found `444`"),
        ("$EndElements", "$End", "expected the end of the section"),
    ] {
        assert!(msh.contains(from), "{from}");
        let error = parse_msh(msh.replacen(from, to, 1).as_bytes(), &options()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}\ninstead of\n{part}");
    }
    let [node, ele] = samples::tetgen(1).map(|bytes| String::from_utf8(bytes).unwrap());
    let tetgen =
        |node: String, ele: String| parse_tetgen(node.as_bytes(), ele.as_bytes(), &options()).unwrap_err().to_string();
    let error = tetgen(node.replace("12 3 1 1", "13 3 1 1"), ele.clone());
    assert!(error.contains("in the .node file, line 15: a node: its number, x, y and z should follow"), "{error}");
    let error = tetgen(node.clone(), ele.replace("\n2  ", "\n2 77 "));
    assert!(error.contains("in the .ele file, line 3: a tetrahedron uses node 77"), "{error}");
    let error = tetgen(node.clone(), ele.replace("10  4  1", "10  8  1"));
    assert!(error.contains("in the .ele file, line 1: expected 4 or 10 nodes per tetrahedron, found `8`"), "{error}");
    let vtk = String::from_utf8(samples::vtk_text(3)).unwrap();
    for (from, to, part) in [
        ("# vtk", "# vtx", "line 1: expected `# vtk DataFile Version 3.0` or another"),
        ("ASCII", "UTF8", "line 3: expected ASCII or BINARY, found `UTF8`"),
        ("UNSTRUCTURED_GRID", "POLYDATA", "line 4: expected DATASET UNSTRUCTURED_GRID, found `DATASET POLYDATA`"),
        ("POINTS 12 double", "POINTS 12 quad", "line 8: expected a type of data such as float"),
        ("CELL_TYPES 11", "CELL_TYPES 10", "expected POINTS, CELLS, CELL_TYPES or FIELD, found `10`"),
        ("CELLS 11", "CELLS 12", "expected a whole number, found `CELL_TYPES`"),
        ("\n4 0", "\n-4 0", "expected the number of points of a cell, found `-4`"),
        ("\n4 1", "\n4 77", "a tetrahedron uses node 77"),
    ] {
        assert!(vtk.contains(from), "{from}");
        let error = parse_vtk(vtk.replacen(from, to, 1).as_bytes(), &options()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}\ninstead of\n{part}");
    }
    let vtu = String::from_utf8(samples::vtu(Xml::Ascii)).unwrap();
    for (from, to, part) in [
        ("VTKFile type", "File type", "line 1: expected `<VTKFile …>`"),
        ("\"UnstructuredGrid\"", "\"PolyData\"", "line 3: expected type=\"UnstructuredGrid\", found `PolyData`"),
        (
            "byte_order",
            "compressor=\"vtkZLibDataCompressor\" byte_order",
            "line 3: expected a file that is not compressed",
        ),
        ("Float64", "Float128", "line 7: expected a type such as Float64"),
        ("0.25 -0.5 1\n0.75", "0.25 -0.5 1\nzero", "line 9: expected a number, found `zero`"),
        ("\"ascii\"", "\"text\"", "line 7: expected the format ascii, binary or appended, found `text`"),
        ("NumberOfPoints=\"12\"", "NumberOfPoints=\"13\"", "expected as many points and cells as the piece announces"),
        ("\"offsets\"", "\"offset\"", "the offsets of the Cells should follow"),
    ] {
        assert!(vtu.contains(from), "{from}");
        let error = parse_vtu(vtu.replacen(from, to, 1).as_bytes(), &options()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}\ninstead of\n{part}");
    }
}

#[test]
fn files_are_known_by_their_extensions() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let [node, ele] = samples::tetgen(0);
    write("a.ele", &ele);
    for path in [
        write("a.msh", &samples::msh_4_binary(false)),
        write("a.node", &node),
        write("a.VTK", &samples::vtk_binary()),
        write("a.vtu", &samples::vtu(Xml::Raw)),
        folder.path().join("a.ele"),
    ] {
        assert_is_the_mesh("read", &read_tets(path, &options()).unwrap());
    }
    let error = read_tets(folder.path().join("a.obj"), &options()).unwrap_err();
    assert!(matches!(error, MeshFileError::UnknownTetFormat { .. }) && error.to_string().contains(".msh"), "{error}");
    write("bad.ele", b"1 4 0\n1 11 10 3\n");
    let error = read_tets(write("bad.node", &node), &options()).unwrap_err().to_string();
    assert!(error.contains("bad.ele, line 2: a whole number should follow"), "{error}");
    assert!(read_tets(folder.path().join("none.msh"), &options()).unwrap_err().to_string().contains("none.msh"));
}
