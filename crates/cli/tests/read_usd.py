"""Opens an export with USD's own library and says, as JSON, what is in it.

Usage: read_usd.py root.usda [other.usda]

With another root, names what is not the same in it, bit for bit.
"""

import json
import sys

import numpy as np
from pxr import Usd, UsdGeom, UsdShade, UsdValidation

root = sys.argv[1]
stage = Usd.Stage.Open(root)
told = {
    "up": str(UsdGeom.GetStageUpAxis(stage)),
    "metres": UsdGeom.GetStageMetersPerUnit(stage),
    "fps": stage.GetTimeCodesPerSecond(),
    "frames": [stage.GetStartTimeCode(), stage.GetEndTimeCode()],
    "default": stage.GetDefaultPrim().GetName(),
    "camera": bool(UsdGeom.Camera(stage.GetPrimAtPath("/World/Camera"))),
    "meshes": {},
    "points": {},
    "faults": [],
}
frames = range(int(told["frames"][0]), int(told["frames"][1]) + 1)


def volume(points, indices):
    """Of the cones from the origin to the triangles."""
    total = 0.0
    for k in range(0, len(indices), 3):
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (points[i] for i in indices[k : k + 3])
        total += ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return total / 6


for prim in stage.GetPrimAtPath("/World").GetChildren():
    name = prim.GetName()
    rows = []
    if mesh := UsdGeom.Mesh(prim):
        for frame in frames:
            points = mesh.GetPointsAttr().Get(frame) or []
            indices = mesh.GetFaceVertexIndicesAttr().Get(frame) or []
            counts = mesh.GetFaceVertexCountsAttr().Get(frame) or []
            if any(not 0 <= index < len(points) for index in indices) or sum(counts) != len(indices):
                told["faults"].append(f"{name}: indices out of range at {frame}")
            velocities = mesh.GetVelocitiesAttr().Get(frame)
            if velocities is not None and len(velocities) != len(points):
                told["faults"].append(f"{name}: {len(velocities)} velocities of {len(points)} points at {frame}")
            attribute = prim.GetAttribute("primvars:pressure")
            pressures = attribute.Get(frame) if attribute else None
            if pressures is not None and len(pressures) != len(points):
                told["faults"].append(f"{name}: {len(pressures)} pressures of {len(points)} points at {frame}")
            if pressures is not None and len(pressures):
                told.setdefault("pressures", {})[name] = [float(min(pressures)), float(max(pressures))]
            place = mesh.ComputeLocalToWorldTransform(frame).Transform(points[0]) if len(points) else None
            rows.append([len(points), len(counts), volume(points, indices), list(place) if place else None])
        told["meshes"][name] = rows
        varying = [name_of for name_of, attribute in (("points", mesh.GetPointsAttr()), ("triangles", mesh.GetFaceVertexIndicesAttr())) if attribute.ValueMightBeTimeVarying()]
        told.setdefault("varying", {})[name] = varying
        if mesh.GetSubdivisionSchemeAttr().Get() != "none":
            told["faults"].append(f"{name}: would be subdivided")
        if not UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]:
            told["faults"].append(f"{name}: no material")
    elif points := UsdGeom.Points(prim):
        for frame in frames:
            rows.append([len(attribute.Get(frame) or []) for attribute in (points.GetPointsAttr(), points.GetWidthsAttr(), points.GetIdsAttr())])
        told["points"][name] = rows
validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
for error in UsdValidation.ValidationContext(validators).Validate(stage):
    told["faults"].append(f"{error.GetName()}: {error.GetMessage()}")


def bits(attribute, frame):
    """The bytes of an array at a frame; nothing where it has no value."""
    value = attribute.Get(frame)
    return None if value is None else (len(value), np.asarray(value).tobytes())


ARRAYS = ["points", "velocities", "faceVertexCounts", "faceVertexIndices", "primvars:speed", "primvars:pressure", "extent", "widths", "ids"]
if len(sys.argv) > 2:
    other = Usd.Stage.Open(sys.argv[2])
    told["compared"], told["differs"] = 0, []
    for prim in stage.GetPrimAtPath("/World").GetChildren():
        twin = other.GetPrimAtPath(prim.GetPath())
        for name in filter(prim.HasAttribute, ARRAYS):
            for frame in frames:
                ours = bits(prim.GetAttribute(name), frame)
                told["compared"] += ours is not None
                if ours != bits(twin.GetAttribute(name), frame):
                    told["differs"].append(f"{prim.GetName()}.{name} at {frame}")
print(json.dumps(told))
