"""Opens OBJ and PLY files, and glTF files at every tenth of a second, with VTK and says, as JSON, what is in them.

Usage: read_meshes.py FILE...
Of each file (of each body and time in a glTF file) points, triangles, volume and bounds.
"""

import json
import sys
from pathlib import Path

import pyvista
from vtkmodules.vtkIOGeometry import vtkGLTFReader


def row(mesh):
    """Points, triangles, volume, bounds."""
    triangles = mesh.n_cells
    return [mesh.n_points, triangles, mesh.volume if triangles else 0.0, list(mesh.bounds) if mesh.n_points else None]


def moving(path):
    """Bodies of a glTF file over time, in the order of the file."""
    reader = vtkGLTFReader()
    reader.SetFileName(str(path))
    reader.ApplyDeformationsToGeometryOn()
    reader.SetFrameRate(10)
    reader.UpdateInformation()
    animations = range(reader.GetNumberOfAnimations())
    for number in animations:
        reader.EnableAnimation(number)
    reader.UpdateInformation()
    end = max((reader.GetAnimationDuration(number) for number in animations), default=0.0)
    rows = []
    for k in range(round(10 * end) + 1):
        reader.UpdateTimeStep(k / 10)
        blocks = pyvista.wrap(reader.GetOutput())
        rows.append([row(mesh.extract_surface(algorithm=None)) for mesh in leaves(blocks)])
    return rows


def leaves(blocks):
    """Meshes of blocks in blocks."""
    for block in blocks:
        if isinstance(block, pyvista.MultiBlock):
            yield from leaves(block)
        elif block is not None:
            yield block


told = {}
for name in sys.argv[1:]:
    path = Path(name)
    told[path.name] = moving(path) if path.suffix == ".glb" else row(pyvista.read(path))
print(json.dumps(told))
