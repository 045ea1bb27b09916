"""The way into Blender and out of it, with Blender as a module (`pip install bpy`).

    MENISCUS_BINARY=target/release/meniscus python tools/blender/test_blender.py [folder for pictures]
"""

import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import bpy

HERE = Path(__file__).resolve().parent
PROGRAM = str(Path(os.environ["MENISCUS_BINARY"]).resolve())

SCENE = """
seconds = 0.3
fps = 20
[sph]
spacing = 0.03
[liquid.water]
fill = [{ box = { min = [0, 0.1, 0], max = [0.3, 0.7, 0.4] } }]
[rigid.ball]
shape = { sphere = { center = [0.7, 0.8, 0.2], radius = 0.1 } }
[solid.cube]
shape = { box = { min = [0.6, 0.05, 0.1], max = [0.8, 0.25, 0.3] } }
target_tets = 60
[wall.tank]
shape = { box = { min = [0, 0, 0], max = [1, 1, 0.4], open = ["+y"] } }
"""


def meniscus(*words):
    subprocess.run([PROGRAM, *map(str, words)], check=True)


def shown(thing):
    """The mesh of an object after its modifiers, at the frame that is set."""
    return thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data


def vertices_of_ply(path):
    """How many vertices the header of a PLY file announces."""
    lines = path.read_bytes().split(b"end_header")[0].decode().splitlines()
    return next(int(line.split()[2]) for line in lines if line.startswith("element vertex"))


def find(prefix):
    return next(o for o in bpy.data.objects if o.name.startswith(prefix) and "spray" not in o.name)


def highest(thing):
    """Of the points of an object, z up [m]."""
    return max((thing.matrix_world @ v.co).z for v in shown(thing).vertices)


def a_run_opens_shaded(folder, pictures):
    (folder / "falls.toml").write_text(SCENE)
    meniscus("run", folder / "falls.toml", "--no-pictures", "--quiet", "--out", folder / "r")
    meniscus("export", folder / "r", "--to", "usd", "--quiet")
    meniscus("export", folder / "r", "--to", "ply", "--quiet")
    script = runpy.run_path(str(folder / "r/usd/falls.blender.py"))
    picture = pictures / "blender-run.png"
    script["main"](["--render", str(picture), "--frame", "6", "--samples", "24", "--width", "480"])
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (0, 6, 20), (scene.frame_start, scene.frame_end)
    water, ball = find("water"), find("ball")
    counts, tops = [], []
    for frame in range(7):
        scene.frame_set(frame)
        mesh = shown(water)
        (ply,) = (folder / "r/ply/surfaces").glob(f"*_water_{frame:05}.ply")
        assert len(mesh.vertices) == vertices_of_ply(ply), (frame, len(mesh.vertices), ply)
        velocity = mesh.attributes["velocity"]
        assert velocity.domain == "POINT" and velocity.data_type == "FLOAT_VECTOR"
        counts.append(len(mesh.vertices))
        tops.append(highest(ball))
    assert len(set(counts)) > 1, "the triangles change"
    fallen = tops[0] - tops[4]
    assert abs(fallen - 0.5 * 9.81 * 0.2**2) < 0.01, fallen
    surface = next(n for n in water.active_material.node_tree.nodes if n.bl_idname == "ShaderNodeBsdfPrincipled")
    assert surface.inputs["Transmission Weight"].default_value == 1.0
    assert scene.camera is not None and any(o.type == "LIGHT" for o in bpy.data.objects)
    spray = next(o for o in bpy.data.objects if o.name.endswith("spray"))
    assert len(shown(spray).points) > 0 and shown(spray).materials[0].original == spray.data.materials[0], "drops have their material at every frame"
    cube, floor = find("cube"), find("Floor")
    assert len(shown(cube).polygons) > 50 and "velocity" in shown(cube).attributes
    ground = (0.0, -0.002)
    assert ground[1] < floor.location.z < ground[0], floor.location
    not_blank(picture)


def not_blank(picture):
    """A picture has light and dark."""
    image = bpy.data.images.load(str(picture))
    values = list(image.pixels)
    assert max(values[0::4]) - min(values[0::4]) > 0.2, "the picture is blank"


def cube(name, low, high):
    middle = [(a + b) / 2 for a, b in zip(low, high)]
    bpy.ops.mesh.primitive_cube_add(size=1, location=middle)
    bpy.context.object.scale = [b - a for a, b in zip(low, high)]
    bpy.context.object.name = name
    return bpy.context.object


def an_animated_mesh_pushes_water(folder, pictures):
    addon = runpy.run_path(str(HERE / "meniscus_blender.py"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon["register"]()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 9, 20
    cube("Tank", (0, 0, 0), (1, 0.5, 0.8)).meniscus_role = "TANK"
    cube("Water", (0, 0, 0), (1, 0.5, 0.3)).meniscus_role = "LIQUID"
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.12, segments=24, ring_count=12, location=(0.5, 0.25, 0.6))
    ball = bpy.context.object
    ball.name, ball.meniscus_role = "Ball", "ANIMATED"
    ball.keyframe_insert("location", frame=1)
    ball.location.z = 0.2
    ball.keyframe_insert("location", frame=9)
    settings = scene.meniscus
    settings.program, settings.folder, settings.resolution = PROGRAM, str(folder / "blend"), 0.05
    assert bpy.ops.meniscus.simulate() == {"FINISHED"}
    water = find("water_")
    tops = []
    for frame in (1, 9):
        scene.frame_set(frame)
        assert len(shown(water).vertices) > 100
        tops.append(highest(water))
    assert abs(tops[0] - 0.3) < 0.04, f"the water is 0.3 m deep, not {tops[0]}"
    assert tops[1] > tops[0] + 0.01, f"the ball lifts the water: {tops}"
    assert find("Ball") is not None and find("Water").hide_render
    # As a user would look at it.
    bpy.ops.object.camera_add(location=(1.9, -1.6, 1.3), rotation=(1.08, 0, 0.75))
    scene.camera = bpy.context.object
    bpy.ops.object.light_add(type="SUN", rotation=(0.7, 0.3, 0.4))
    bpy.context.object.data.energy = 4
    find("Tank").hide_render = True
    scene.world = bpy.data.worlds.new("Sky")
    next(n for n in scene.world.node_tree.nodes if n.bl_idname == "ShaderNodeBackground").inputs["Color"].default_value = (0.6, 0.7, 0.8, 1)
    scene.render.engine, scene.cycles.samples = "CYCLES", 16
    scene.render.resolution_x, scene.render.resolution_y = 480, 270
    scene.render.filepath = str(pictures / "blender-add-on.png")
    bpy.ops.render.render(write_still=True)
    not_blank(pictures / "blender-add-on.png")
    # What is missing is said.
    find("Water").meniscus_role = "NONE"
    try:
        bpy.ops.meniscus.simulate()
    except RuntimeError as error:
        assert "Liquid" in str(error), error
    else:
        raise AssertionError("a scene without liquid was run")
    addon["unregister"]()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        pictures = Path(sys.argv[1] if len(sys.argv) > 1 else place).resolve()
        a_run_opens_shaded(Path(place), pictures)
        an_animated_mesh_pushes_water(Path(place), pictures)
    print("Blender", bpy.app.version_string, "opens what we write, and runs what it has")
