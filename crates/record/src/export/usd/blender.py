"""Opens the USD file beside this script in Blender, shaded: water, glass, rubber; camera and light as in our pictures.

    blender --python NAME.blender.py
    blender --background --python NAME.blender.py -- --render picture.png --frame 12 --samples 64
    python NAME.blender.py --save NAME.blend          (with Blender as a module: pip install bpy)

Written by Meniscus beside every export; change it as you like, it is only written where it is missing.
"""

import argparse
import math
import re
import sys
from pathlib import Path

import bpy
from mathutils import Vector

ROOT = Path(__file__).resolve().with_suffix("").with_suffix(".usda")


def stage_number(key):
    """A number that the root says about all of the stage, if it does."""
    found = re.search(rf"^\s*(?:double )?{key} = ([-+.\deE]+)", ROOT.read_text(), re.MULTILINE)
    return float(found.group(1)) if found else None


def lay(camera):
    """The ground of our pictures, if they have one."""
    height, size = stage_number("ground"), stage_number("clarity") or 1.0
    if height is None:
        return
    middle = camera.location.xy if camera else (0.0, 0.0)
    bpy.ops.mesh.primitive_plane_add(size=400 * size, location=(*middle, height - 0.002 * size))
    floor = bpy.context.object
    floor.name = "Floor"
    floor.data.materials.append(bpy.data.materials.new("Floor"))
    tree = floor.active_material.node_tree
    tiles, place = node(tree, "ShaderNodeTexBrick"), node(tree, "ShaderNodeNewGeometry")
    tiles.offset, tiles.squash = 0.0, 1.0
    tile = 10 ** round(math.log10(0.3 * size))  # [m]
    settings = {"Scale": 1.0, "Brick Width": tile, "Row Height": tile, "Mortar Size": 0.01 * tile}
    colors = {"Color1": (0.55, 0.57, 0.62, 1), "Color2": (0.55, 0.57, 0.62, 1), "Mortar": (0.2, 0.22, 0.26, 1)}
    for name, value in (settings | colors).items():
        tiles.inputs[name].default_value = value
    tree.links.new(place.outputs["Position"], tiles.inputs["Vector"])
    tree.links.new(tiles.outputs["Color"], node(tree, "ShaderNodeBsdfPrincipled").inputs["Base Color"])


def node(tree, kind):
    """The node of a kind that a material has; a new one if it has none."""
    found = next((n for n in tree.nodes if n.bl_idname == kind), None)
    return found or tree.nodes.new(kind)


def shade(material, kind):
    """Water is clear and drinks light on its way, walls are glass, bodies are rubber."""
    tree = material.node_tree
    surface, output = node(tree, "ShaderNodeBsdfPrincipled"), node(tree, "ShaderNodeOutputMaterial")
    tree.links.new(surface.outputs["BSDF"], output.inputs["Surface"])
    color = tuple(surface.inputs["Base Color"].default_value)
    clear = kind in ("liquid", "spray", "wall")
    surface.inputs["Alpha"].default_value = 1.0
    surface.inputs["Roughness"].default_value = 0.0 if clear else 0.45
    surface.inputs["Transmission Weight"].default_value = 1.0 if clear else 0.0
    surface.inputs["IOR"].default_value = 1.333 if kind in ("liquid", "spray") else 1.45
    surface.inputs["Coat Weight"].default_value = 0.0 if clear else 0.3
    if clear:
        surface.inputs["Base Color"].default_value = (1.0, 1.0, 1.0, 1.0)
    if kind == "liquid":
        drinks = node(tree, "ShaderNodeVolumeAbsorption")
        lacks = [1 - c ** (1 / 2.2) for c in color[:3]]  # of each color; what is lacked most is absorbed first
        drinks.inputs["Color"].default_value = (*(1 - part / (max(lacks) or 1.0) for part in lacks), 1.0)
        drinks.inputs["Density"].default_value = 1.0 / (stage_number("clarity") or 1.0)
        tree.links.new(drinks.outputs["Volume"], output.inputs["Volume"])


def paint(cloud, material):
    """Gives points a material at every frame: each is read anew from its file, without one."""
    if not cloud.data.materials:
        cloud.data.materials.append(material)
    nodes = bpy.data.node_groups.new(cloud.name, "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        nodes.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    begin, wears, end = (nodes.nodes.new(kind) for kind in ("NodeGroupInput", "GeometryNodeSetMaterial", "NodeGroupOutput"))
    wears.inputs["Material"].default_value = cloud.data.materials[0]
    nodes.links.new(begin.outputs[0], wears.inputs["Geometry"])
    nodes.links.new(wears.outputs["Geometry"], end.inputs[0])
    cloud.modifiers.new("Material", "NODES").node_group = nodes


def told(thing, name):
    """What the export says about an object."""
    return thing.get(name) or (thing.data.get(name) if thing.data else None)


def hide_where_empty(thing, frames, frame_offset):
    """Keys that hide a cloud where it has no points: Cycles of Blender 5.0 fails on one."""
    ranges = [[int(number) + frame_offset for number in pair.split("-")] for pair in frames.split()]
    keys = {ranges[0][0] - 1: False} | {last + 1: False for _, last in ranges} | {first: True for first, _ in ranges}
    for frame, hidden in sorted(keys.items()):
        thing.hide_render = thing.hide_viewport = hidden
        thing.keyframe_insert("hide_render", frame=frame)
        thing.keyframe_insert("hide_viewport", frame=frame)


def bring_in(frame_offset=0):
    """Adds the export to the open file and returns its objects. Frame `f` of the export is shown at `f + frame_offset`."""
    before = set(bpy.data.objects)
    bpy.ops.wm.usd_import(filepath=str(ROOT), set_frame_range=False)
    objects = [thing for thing in bpy.data.objects if thing not in before]
    for thing in objects:
        kind = told(thing, "meniscus")
        if kind in ("spray", "foam"):
            paint(thing, bpy.data.materials.new(thing.name))
        for slot in thing.material_slots if kind else []:
            shade(slot.material, kind)
        if frames := told(thing, "meniscus_empty"):
            hide_where_empty(thing, frames, frame_offset)
    for cache in bpy.data.cache_files:
        if Path(bpy.path.abspath(cache.filepath)).resolve() == ROOT:
            cache.frame_offset = frame_offset
    return objects


def look_through(objects):
    """Takes camera, frames and rate of the export for those of the scene."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = int(stage_number("startTimeCode")), int(stage_number("endTimeCode"))
    fps = stage_number("framesPerSecond")
    scene.render.fps, scene.render.fps_base = max(1, round(fps)), max(1, round(fps)) / fps
    camera = next((thing for thing in objects if thing.type == "CAMERA"), None)
    if camera:
        scene.camera = camera
        aspect = camera.data.sensor_width / camera.data.sensor_height
        scene.render.resolution_x, scene.render.resolution_y = round(1080 * aspect), 1080
    scene.world = scene.world or bpy.data.worlds.new("Sky")
    sky = node(scene.world.node_tree, "ShaderNodeBackground")
    sky.inputs["Color"].default_value = (0.75, 0.8, 0.9, 1.0)
    sky.inputs["Strength"].default_value = 0.7
    for sun in (thing.data for thing in objects if thing.type == "LIGHT" and thing.data.type == "SUN"):
        sun.energy, sun.normalize = 2.5, True
    scene.view_settings.view_transform = "Standard"
    scene.render.engine = "CYCLES"


def main(arguments):
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--render", metavar="PNG", help="draw one frame with Cycles")
    words.add_argument("--frame", type=int, help="which one (the last)")
    words.add_argument("--samples", type=int, default=64, help="paths per pixel")
    words.add_argument("--width", type=int, help="of the picture [px]")
    words.add_argument("--save", metavar="BLEND", help="save the file")
    asked = words.parse_args(arguments)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    objects = bring_in()
    look_through(objects)
    lay(bpy.context.scene.camera)
    scene = bpy.context.scene
    scene.frame_set(scene.frame_end if asked.frame is None else asked.frame)
    if asked.width:
        scene.render.resolution_y = round(asked.width * scene.render.resolution_y / scene.render.resolution_x)
        scene.render.resolution_x = asked.width
    if asked.save:
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(asked.save).resolve()))
    if asked.render:
        scene.cycles.samples = asked.samples
        scene.render.filepath = str(Path(asked.render).resolve())
        bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    inside = "--python" in sys.argv or "-P" in sys.argv
    main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [] if inside else sys.argv[1:])
