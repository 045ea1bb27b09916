"""Reads exported files with PyVista (VTK) and meshio and compares them, bit for bit, with what they should hold.

Usage: read_exports.py expectations.json

The JSON document is written by readers.rs: {"vtk": [...], "meshio": [...], "pvd": [...]}, arrays as
{"type": "float32", "shape": [n, 3], "bytes": "<hex, little endian>"}. Ends with status 1 and a list of differences.
"""

import json
import sys

import meshio
import numpy
import pyvista
from vtkmodules.vtkCommonCore import vtkDataArray

differences = []


def expected_array(document):
    flat = numpy.frombuffer(bytes.fromhex(document["bytes"]), dtype=document["type"])
    return flat.reshape(document["shape"])


def compare(where, found, document):
    expected = expected_array(document)
    found = numpy.asarray(found)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        differences.append(f"{where}: {found.dtype}{found.shape} instead of {expected.dtype}{expected.shape}")
    elif found.tobytes() != expected.tobytes():
        differences.append(f"{where}: {found} instead of {expected}")


def compare_integers(where, found, document):
    """Indices: readers choose their width."""
    expected = expected_array(document)
    if not numpy.array_equal(numpy.asarray(found), expected):
        differences.append(f"{where}: {found} instead of {expected}")


def compare_data(where, found, expected):
    if sorted(found) != sorted(expected):
        differences.append(f"{where}: arrays {sorted(found)} instead of {sorted(expected)}")
        return
    for name, document in expected.items():
        compare(f"{where} {name!r}", found[name], document)


def check_vtk(expected):
    path = expected["path"]
    mesh = pyvista.read(path)
    kind = type(mesh).__name__
    if kind != expected["kind"]:
        differences.append(f"{path}: a {kind} instead of a {expected['kind']}")
        return
    for key in ("dimensions", "origin", "spacing"):
        if key in expected and list(getattr(mesh, key)) != expected[key]:
            differences.append(f"{path}: {key} {getattr(mesh, key)} instead of {expected[key]}")
    if "points" in expected:
        compare(f"{path} points", mesh.points, expected["points"])
    if "vertices" in expected:
        found = numpy.asarray(mesh.verts).reshape(-1, 2)[:, 1]
        compare_integers(f"{path} vertices", found, expected["vertices"])
    if "lines" in expected:
        compare_integers(f"{path} lines", numpy.asarray(mesh.lines).reshape(-1, 3)[:, 1:], expected["lines"])
    if "triangles" in expected:
        found = numpy.asarray(mesh.faces).reshape(-1, 4)[:, 1:]
        compare_integers(f"{path} triangles", found, expected["triangles"])
    for code, document in expected.get("cells", {}).items():
        compare_integers(f"{path} cells {code}", mesh.cells_dict[int(code)], document)
    if "point_data" in expected:
        compare_data(f"{path} point data", mesh.point_data, expected["point_data"])
    if "cell_data" in expected:
        compare_data(f"{path} cell data", mesh.cell_data, expected["cell_data"])
    if "units" in expected:
        data = mesh.GetPointData()
        found = {data.GetArrayName(k): data.GetArray(k).GetInformation().Get(vtkDataArray.UNITS_LABEL()) for k in range(data.GetNumberOfArrays())}
        found = {name: unit for name, unit in found.items() if unit is not None}
        if found != expected["units"]:
            differences.append(f"{path}: units {found} instead of {expected['units']}")
    if "body_names" in expected and list(mesh.field_data["body_names"]) != expected["body_names"]:
        differences.append(f"{path}: body names {mesh.field_data['body_names']} instead of {expected['body_names']}")
    if "time" in expected:
        compare(f"{path} time", mesh.field_data["TimeValue"], expected["time"])


def check_meshio(expected):
    path = expected["path"]
    mesh = meshio.read(path)
    compare(f"{path} points", mesh.points, expected["points"])
    if "point_data" in expected:
        compare_data(f"{path} point data", mesh.point_data, expected["point_data"])
    if sorted(mesh.cells_dict) != sorted(expected["cells"]):
        differences.append(f"{path}: cells {sorted(mesh.cells_dict)} instead of {sorted(expected['cells'])}")
        return
    for name, document in expected["cells"].items():
        compare_integers(f"{path} {name}", mesh.cells_dict[name], document)
    for name, blocks in expected.get("cell_data", {}).items():
        for block, (found, document) in enumerate(zip(mesh.cell_data[name], blocks, strict=True)):
            compare(f"{path} cell data {name!r} {block}", found, document)


def check_pvd(expected):
    path = expected["path"]
    reader = pyvista.get_reader(path)
    if list(reader.time_values) != expected["times"]:
        differences.append(f"{path}: times {reader.time_values} instead of {expected['times']}")
        return
    for time, points in zip(expected["times"], expected["points"], strict=True):
        reader.set_active_time_value(time)
        found = [0 if block is None else block.n_points for block in reader.read()]
        if found != points:
            differences.append(f"{path}, {time} s: blocks of {found} points instead of {points}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        expectations = json.load(file)
    checks = {"vtk": check_vtk, "meshio": check_meshio, "pvd": check_pvd}
    count = 0
    for key, check in checks.items():
        for expected in expectations.get(key, []):
            with pyvista.VtkErrorCatcher(raise_errors=True):
                check(expected)
            count += 1
    print(f"{count} files read, {len(differences)} differences")
    for difference in differences:
        print(difference)
    sys.exit(1 if differences or count == 0 else 0)


main()
