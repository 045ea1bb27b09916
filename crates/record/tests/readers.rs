//! Exported files are read by the programs they are meant for: VTK (through PyVista) and meshio.
//!
//! Needs a Python with `pip install pyvista meshio`; `MENISCUS_PYTHON` names it, `python3` is the default. Without it the
//! tests say that they skip, and fail when CI=true.

mod scenery;

use std::fs;
use std::path::Path;
use std::process::Command;

use bytemuck::NoUninit;
use glam::{DVec3, Vec3};
use meniscus_core::{Frame, Surface};
use meniscus_record::export::{
    CellBlock, CellShape, DataArray, FieldData, ImageData, PolyData, UnstructuredGrid, export_ply, export_vtk,
};
use meniscus_record::{RunFolder, RunInfo};
use serde_json::{Value, json};

fn python() -> Option<String> {
    let python = std::env::var("MENISCUS_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import pyvista, meshio"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    let in_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!in_ci, "{python} cannot import pyvista and meshio");
    println!("skipped: {python} cannot import pyvista and meshio (pip install pyvista meshio)");
    None
}

/// Has the readers compare files with what they should hold.
fn check(folder: &Path, expectations: &Value) {
    let Some(python) = python() else { return };
    let path = folder.join("expectations.json");
    fs::write(&path, expectations.to_string()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_exports.py");
    let output = Command::new(python).arg(script).arg(path).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    println!("{out}");
}

/// Numbers as the script wants them: type, shape, bytes.
fn array<T: NoUninit>(kind: &str, columns: usize, values: &[T]) -> Value {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    let width: usize = kind.trim_start_matches(char::is_alphabetic).parse::<usize>().unwrap() / 8;
    let rows = bytes.len() / width / columns;
    let shape = if columns == 1 { json!([rows]) } else { json!([rows, columns]) };
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    json!({"type": kind, "shape": shape, "bytes": hex})
}

fn vectors(values: &[Vec3]) -> Value {
    array("float32", 3, values)
}

fn numbered(count: usize) -> Value {
    array("uint32", 1, &(0..count as u32).collect::<Vec<_>>())
}

/// A frame with everything, one with particles only, one with nothing, and a damaged one.
fn sample_run(dir: &Path) -> (RunFolder, [Frame; 3]) {
    let run = RunFolder::create(dir, "readers").unwrap();
    run.write_info(&RunInfo::start("readers", "none")).unwrap();
    let mut everything = scenery::tiny(0);
    let (positions, velocities) = (vec![Vec3::X, Vec3::Y, Vec3::Z], vec![Vec3::NEG_X; 3]);
    everything.surfaces.push(Surface {
        body: 0,
        positions,
        velocities,
        triangles: vec![[2, 1, 0]],
        ..Surface::default()
    });
    let particles_only = Frame { surfaces: Vec::new(), ..scenery::tiny(1) };
    let nothing = Frame { number: 2, time: 2.0 / 24.0, ..Frame::default() };
    let frames = [everything, particles_only, nothing];
    for frame in &frames {
        run.write_frame(frame).unwrap();
    }
    fs::write(run.frame_path(3), b"damaged").unwrap();
    (run, frames)
}

fn expected_particles(path: &Path, frame: &Frame) -> Value {
    let p = &frame.particles;
    if p.is_empty() {
        return expected_nothing(path, frame);
    }
    json!({
        "path": path, "kind": "PolyData", "time": array("float64", 1, &[frame.time]),
        "points": vectors(&p.positions), "vertices": numbered(p.len()),
        "point_data": {
            "id": array("uint32", 1, &p.ids), "body": array("uint16", 1, &p.bodies),
            "velocity": vectors(&p.velocities),
            "density": array("float32", 1, &p.densities), "pressure": array("float32", 1, &p.pressures),
        },
        "cell_data": {}, "body_names": names(frame),
        "units": {"velocity": "m/s", "density": "kg/m³", "pressure": "Pa"},
    })
}

fn names(frame: &Frame) -> Vec<&str> {
    frame.bodies.iter().map(|b| b.name.as_str()).collect()
}

fn expected_nothing(path: &Path, frame: &Frame) -> Value {
    json!({
        "path": path, "kind": "PolyData", "time": array("float64", 1, &[frame.time]),
        "points": vectors(&[]), "vertices": numbered(0), "point_data": {}, "cell_data": {},
    })
}

fn expected_surfaces(path: &Path, frame: &Frame) -> Value {
    let [a, _, b] = &frame.surfaces[..] else { return expected_nothing(path, frame) };
    let first = a.positions.len() as u32;
    let triangles: Vec<_> =
        a.triangles.iter().copied().chain(b.triangles.iter().map(|t| t.map(|c| c + first))).collect();
    let mut bodies = vec![a.body; a.triangles.len()];
    bodies.resize(triangles.len(), b.body);
    // What has no pressure has none in the file.
    let mut pressures = a.pressures.clone();
    pressures.resize(a.positions.len() + b.positions.len(), f32::NAN);
    json!({
        "path": path, "kind": "PolyData", "time": array("float64", 1, &[frame.time]),
        "points": vectors(&[&a.positions[..], &b.positions].concat()),
        "triangles": array("uint32", 3, &triangles),
        "point_data": {
            "velocity": vectors(&[&a.velocities[..], &b.velocities].concat()),
            "pressure": array("float32", 1, &pressures),
        },
        "cell_data": {"body": array("uint16", 1, &bodies)}, "body_names": names(frame),
        "units": {"velocity": "m/s", "pressure": "Pa"},
    })
}

#[test]
fn a_run_in_vtk() {
    let out = tempfile::tempdir().unwrap();
    let (run, frames) = sample_run(out.path());
    let dir = out.path().join("vtk");
    let mut calls = Vec::new();
    let report = export_vtk(&run, &dir, &mut |done, total| calls.push((done, total))).unwrap();
    assert_eq!(calls, [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]);
    assert_eq!((report.frames, report.files, report.skipped.len()), (3, 9, 1));
    assert_eq!(report.skipped[0].path, run.frame_path(3));

    let file = |name: &str, frame: &Frame| dir.join(format!("{name}/{name}_{:05}.vtp", frame.number));
    let particles = frames.iter().map(|f| expected_particles(&file("particles", f), f));
    let surfaces = frames.iter().map(|f| expected_surfaces(&file("surfaces", f), f));
    let series = |name: &str, points: Value| json!({"path": dir.join(name), "times": frames.each_ref().map(|f| f.time), "points": points});
    check(
        out.path(),
        &json!({
            "vtk": particles.chain(surfaces).collect::<Vec<_>>(),
            "pvd": [
                series("particles.pvd", json!([[5], [5], [0]])),
                series("surfaces.pvd", json!([[7], [0], [0]])),
                series("all.pvd", json!([[5, 7], [5, 0], [0, 0]])),
            ],
        }),
    );
}

#[test]
fn a_run_without_surfaces_has_no_surface_files() {
    let out = tempfile::tempdir().unwrap();
    let run = RunFolder::create(out.path(), "dam").unwrap();
    let frame = scenery::breaking_dam(20);
    run.write_frame(&frame).unwrap();
    let dir = out.path().join("vtk");
    export_vtk(&run, &dir, &mut |_, _| {}).unwrap();
    assert!(!dir.join("surfaces.pvd").exists() && !dir.join("surfaces").exists());
    check(out.path(), &json!({"vtk": [expected_particles(&dir.join("particles/particles_00040.vtp"), &frame)]}));
}

#[test]
fn a_run_in_ply() {
    let out = tempfile::tempdir().unwrap();
    let (run, frames) = sample_run(out.path());
    let dir = out.path().join("ply");
    let report = export_ply(&run, &dir, &mut |_, _| {}).unwrap();
    assert_eq!((report.frames, report.files, report.skipped.len()), (3, 5, 1));

    let mut expected = json!({"vtk": [], "meshio": []});
    let mut expect = |name: String, points: &[Vec3], triangles: &[[u32; 3]], point_data: Value| {
        let (path, points) = (dir.join(name), vectors(points));
        let triangles =
            if triangles.is_empty() { json!({}) } else { json!({"triangle": array("uint32", 3, triangles)}) };
        let by_meshio = json!({"path": path, "points": points, "cells": triangles, "point_data": point_data});
        expected["meshio"].as_array_mut().unwrap().push(by_meshio);
        // VTK takes positions and faces from PLY and passes over what it does not know.
        let mut by_vtk = json!({"path": path, "kind": "PolyData", "points": points});
        if let Some(triangles) = triangles.get("triangle") {
            by_vtk["triangles"] = triangles.clone();
        }
        expected["vtk"].as_array_mut().unwrap().push(by_vtk);
    };
    for frame in &frames[..2] {
        let p = &frame.particles;
        let mut data = velocity_columns(&p.velocities);
        data["density"] = array("float32", 1, &p.densities);
        data["pressure"] = array("float32", 1, &p.pressures);
        data["id"] = array("uint32", 1, &p.ids);
        data["body"] = array("uint32", 1, &p.bodies.iter().map(|&b| u32::from(b)).collect::<Vec<_>>());
        expect(format!("particles/particles_{:05}.ply", frame.number), &p.positions, &[], data);
    }
    for (name, s) in [("01_Fu_ball", 0), ("00_wa_t_er____oil_-2", 2)] {
        let surface = &frames[0].surfaces[s];
        let mut data = velocity_columns(&surface.velocities);
        if !surface.pressures.is_empty() {
            data["pressure"] = array("float32", 1, &surface.pressures);
        }
        expect(format!("surfaces/{name}_00000.ply"), &surface.positions, &surface.triangles, data);
    }
    assert!(dir.join("surfaces/00_wa_t_er____oil__00000.ply").exists(), "the empty surface");
    check(out.path(), &expected);
}

fn velocity_columns(velocities: &[Vec3]) -> Value {
    let column = |c: usize| array("float32", 1, &velocities.iter().map(|v| v[c]).collect::<Vec<_>>());
    json!({"vx": column(0), "vy": column(1), "vz": column(2)})
}

#[test]
fn points_lines_and_triangles_in_vtp() {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("a.vtp");
    let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let (name, cell_values) = ("σ <\"Pa\"> & more\u{1}", [1u8, 2, 3, 4]);
    let file = PolyData {
        points: (&points).into(),
        vertices: &[3],
        lines: &[[0, 3], [3, 1]],
        triangles: &[[0, 1, 2]],
        point_data: vec![DataArray::tuples("tensor", 9, &[0.5f64; 36]), DataArray::scalars("n", &[1i32, -2, 3, -4])],
        cell_data: vec![DataArray::scalars(name, &cell_values)],
        field: FieldData { time: Some(-0.125), ..FieldData::default() },
    };
    fs::write(&path, file.encode().unwrap()).unwrap();
    check(
        out.path(),
        &json!({"vtk": [{
            "path": path, "kind": "PolyData", "points": array("float64", 3, &points),
            "vertices": array("uint32", 1, &[3u32]), "lines": array("uint32", 2, &[0u32, 3, 3, 1]),
            "triangles": array("uint32", 3, &[0u32, 1, 2]),
            "point_data": {"tensor": array("float64", 9, &[0.5f64; 36]), "n": array("int32", 1, &[1i32, -2, 3, -4])},
            "cell_data": {"σ <\"Pa\"> & more\u{fffd}": array("uint8", 1, &cell_values)},
            "time": array("float64", 1, &[-0.125f64]),
        }]}),
    );
}

#[test]
fn tetrahedra_and_hexahedra_in_vtu() {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("a.vtu");
    let corner = |i: u32| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)) / 3.0;
    let points: Vec<_> = (0..8).map(corner).collect();
    let (tets, hexes): ([u32; 8], [u32; 8]) = ([0, 1, 2, 4, 3, 2, 1, 7], [0, 1, 3, 2, 4, 5, 7, 6]);
    let displacement: Vec<_> = (0..8).map(|i| Vec3::splat(i as f32 / 3.0)).collect();
    let (strain, body) = ([0.1f64, f64::NAN, -0.0], [5u64, 6, u64::MAX]);
    let grid = UnstructuredGrid {
        points: (&points).into(),
        cells: vec![
            CellBlock { shape: CellShape::Tetrahedron, nodes: &tets },
            CellBlock { shape: CellShape::Hexahedron, nodes: &hexes },
        ],
        point_data: vec![DataArray::vectors("displacement", &displacement)],
        cell_data: vec![DataArray::scalars("strain & co", &strain), DataArray::scalars("body", &body)],
        field: FieldData { time: Some(1.5), ..FieldData::default() },
    };
    fs::write(&path, grid.encode().unwrap()).unwrap();
    let point_data = json!({"displacement": vectors(&displacement)});
    let (tets, hexes) = (array("uint32", 4, &tets), array("uint32", 8, &hexes));
    let blocks = |kind, values: &[u64]| json!([array(kind, 1, &values[..2]), array(kind, 1, &values[2..])]);
    check(
        out.path(),
        &json!({
            "vtk": [{
                "path": path, "kind": "UnstructuredGrid", "points": array("float64", 3, &points),
                "cells": {"10": tets, "12": hexes}, "point_data": point_data,
                "cell_data": {"strain & co": array("float64", 1, &strain), "body": array("uint64", 1, &body)},
                "time": array("float64", 1, &[1.5f64]),
            }],
            "meshio": [{
                "path": path, "points": array("float64", 3, &points), "point_data": point_data,
                "cells": {"tetra": tets, "hexahedron": hexes},
                "cell_data": {
                    "strain & co": blocks("float64", &strain.map(f64::to_bits)), "body": blocks("uint64", &body),
                },
            }],
        }),
    );
}

/// meshio takes arrays for one another at some sizes unless they lie in the reverse order.
#[test]
fn tetrahedra_of_many_sizes_in_vtu() {
    let out = tempfile::tempdir().unwrap();
    let (mut by_vtk, mut by_meshio) = (Vec::new(), Vec::new());
    for count in 1..60u32 {
        let path = out.path().join(format!("{count}.vtu"));
        let points: Vec<_> = (0..count + 3).map(|i| Vec3::splat(i as f32)).collect();
        let tets: Vec<_> = (0..count).flat_map(|i| [i, i + 1, i + 2, i + 3]).collect();
        let bodies: Vec<_> = (0..count as u16).collect();
        let grid = UnstructuredGrid {
            points: (&points).into(),
            cells: vec![CellBlock { shape: CellShape::Tetrahedron, nodes: &tets }],
            cell_data: vec![DataArray::scalars("body", &bodies)],
            field: FieldData { time: Some(0.25), ..FieldData::default() },
            ..UnstructuredGrid::default()
        };
        fs::write(&path, grid.encode().unwrap()).unwrap();
        let (points, tets, bodies) = (vectors(&points), array("uint32", 4, &tets), array("uint16", 1, &bodies));
        by_vtk.push(json!({
            "path": path, "kind": "UnstructuredGrid", "points": points, "cells": {"10": tets}, "point_data": {},
            "cell_data": {"body": bodies},
        }));
        by_meshio.push(json!({
            "path": path, "points": points, "cells": {"tetra": tets}, "cell_data": {"body": [bodies]},
        }));
    }
    check(out.path(), &json!({"vtk": by_vtk, "meshio": by_meshio}));
}

#[test]
fn grids_in_vti() {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("a.vti");
    let distance: Vec<f32> = (0..60).map(|i| i as f32 / 7.0).collect();
    let velocity: Vec<DVec3> = (0..24).map(|i| DVec3::splat(f64::from(i) / 3.0)).collect();
    let grid = ImageData {
        cells: [4, 3, 2],
        origin: [-0.1, 0.2, 1.0 / 3.0],
        spacing: [0.01, 0.02, 1.0 / 7.0],
        point_data: vec![DataArray::scalars("signed_distance", &distance)],
        cell_data: vec![DataArray::vectors("velocity", &velocity)],
        field: FieldData { time: Some(0.0), ..FieldData::default() },
    };
    fs::write(&path, grid.encode().unwrap()).unwrap();
    check(
        out.path(),
        &json!({"vtk": [{
            "path": path, "kind": "ImageData", "dimensions": [5, 4, 3],
            "origin": grid.origin, "spacing": grid.spacing,
            "point_data": {"signed_distance": array("float32", 1, &distance)},
            "cell_data": {"velocity": array("float64", 3, &velocity)},
            "time": array("float64", 1, &[0.0f64]),
        }]}),
    );
}
