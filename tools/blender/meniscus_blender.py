"""Meniscus in Blender: mark what is liquid, tank and animated, simulate, and have the result in the scene.

Install this file under Edit > Preferences > Add-ons > Install from Disk. The panel is in the sidebar of the 3D view (N), tab
"Meniscus". The program `meniscus` must be on the PATH, or its place be given in the panel.
"""

import json
import os
import runpy
import subprocess
from pathlib import Path

import bpy

bl_info = {
    "name": "Meniscus",
    "description": "Liquids meet solids: simulate with Meniscus and import the result",
    "author": "The Meniscus developers",
    "version": (0, 1, 0),
    "blender": (4, 2, 0),
    "location": "View3D > Sidebar > Meniscus",
    "category": "Physics",
}

ROLES = [
    ("NONE", "Nothing", "Takes no part"),
    ("LIQUID", "Liquid", "Its box is filled with liquid at the first frame"),
    ("TANK", "Tank", "The inside of its box holds the liquid; open at the top"),
    ("ANIMATED", "Animated", "Its mesh pushes the liquid as it moves and deforms; it must be closed"),
]


def upright(v):
    """A point of Blender, z up, as scenes have it, y up."""
    return [v[0], v[2], -v[1]]


def box(thing):
    """Two corners of the box round an object."""
    corners = [upright(thing.matrix_world @ type(thing.location)(corner)) for corner in thing.bound_box]
    return [min(axis) for axis in zip(*corners)], [max(axis) for axis in zip(*corners)]


def key(thing):
    """The name of an object as a scene file can have it."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in thing.name.lower()).strip("-") or "body"


def write_obj(path, thing, graph):
    """The mesh of an object as it is at this frame, after all modifiers."""
    shown = thing.evaluated_get(graph)
    mesh = shown.to_mesh()
    mesh.calc_loop_triangles()
    with open(path, "w") as out:
        for vertex in mesh.vertices:
            out.write("v {!r} {!r} {!r}\n".format(*upright(shown.matrix_world @ vertex.co)))
        for triangle in mesh.loop_triangles:
            out.write("f {} {} {}\n".format(*(corner + 1 for corner in triangle.vertices)))
    shown.to_mesh_clear()


def write_animation(folder, thing, scene):
    """A file per frame; the pattern of their names."""
    (folder / key(thing)).mkdir(parents=True, exist_ok=True)
    for number, frame in enumerate(range(scene.frame_start, scene.frame_end + 1)):
        scene.frame_set(frame)
        write_obj(folder / key(thing) / f"frame_{number:05}.obj", thing, bpy.context.evaluated_depsgraph_get())
    return f"{key(thing)}/frame_#####.obj"


def write_scene(context, folder):
    """Writes `scene.toml` and the files that it needs; its path."""
    scene, settings = context.scene, context.scene.meniscus
    before = scene.frame_current
    fps = scene.render.fps / scene.render.fps_base
    of = {role[0]: [o for o in context.view_layer.objects if o.meniscus_role == role[0]] for role in ROLES}
    if not of["LIQUID"]:
        raise ValueError("mark an object as Liquid: its box is filled")
    lines = [
        f'title = "{key(scene)}"',
        f"seconds = {(scene.frame_end - scene.frame_start) / fps!r}",
        f"fps = {fps!r}",
        f"resolution = {settings.resolution:.6g}",
    ]
    scene.frame_set(scene.frame_start)
    for thing in of["LIQUID"]:
        low, high = box(thing)
        fill = f"{{ box = {{ min = {low}, max = {high} }} }}"
        lines += [f"[liquid.{key(thing)}]", f"viscosity = {settings.viscosity:.6g}", f"fill = [{fill}]"]
    for thing in of["TANK"]:
        low, high = box(thing)
        lines += [f"[wall.{key(thing)}]", f'shape = {{ box = {{ min = {low}, max = {high}, open = ["+y"] }} }}']
    for thing in of["ANIMATED"]:
        file = write_animation(folder, thing, scene)
        lines += [f"[animated.{key(thing)}]", f"file = {json.dumps(file)}", f"fps = {fps!r}"]
    scene.frame_set(before)
    path = folder / "scene.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def free_folder(settings):
    """The first of `run`, `run-2`, … that does not exist."""
    base = Path(bpy.path.abspath(settings.folder))
    names = ["run", *(f"run-{k}" for k in range(2, 10000))]
    return next(base / name for name in names if not (base / name).exists())


class MeniscusSettings(bpy.types.PropertyGroup):
    """What the panel asks for."""

    program: bpy.props.StringProperty(name="Program", default="meniscus", subtype="FILE_PATH")
    folder: bpy.props.StringProperty(name="Folder", default="//meniscus", subtype="DIR_PATH")
    resolution: bpy.props.FloatProperty(
        name="Resolution", description="Distance between particles [m]", default=0.05, min=1e-4, unit="LENGTH"
    )
    viscosity: bpy.props.FloatProperty(name="Viscosity [Pa s]", default=0.001, min=0.0, precision=4)
    hide: bpy.props.BoolProperty(name="Hide liquid boxes afterwards", default=True)


class MENISCUS_OT_simulate(bpy.types.Operator):
    """Write the scene, run Meniscus, bring the result in"""

    bl_idname = "meniscus.simulate"
    bl_label = "Simulate"
    bl_options = {"REGISTER", "UNDO"}

    def commands(self, context):
        """What is to be run, one after the other."""
        settings = context.scene.meniscus
        self.run = free_folder(settings)
        self.run.parent.mkdir(parents=True, exist_ok=True)
        scene = write_scene(context, self.run.parent)
        program = bpy.path.abspath(settings.program) if os.sep in settings.program else settings.program
        yield [program, "run", str(scene), "--no-pictures", "--quiet", "--out", str(self.run)]
        yield [program, "export", str(self.run), "--to", "usd", "--quiet"]

    def execute(self, context):
        try:
            for command in self.commands(context):
                subprocess.run(command, check=True, capture_output=True, text=True)
            return self.bring_in(context)
        except subprocess.CalledProcessError as error:
            self.report({"ERROR"}, error.stderr or error.stdout)
        except (OSError, ValueError) as error:
            self.report({"ERROR"}, str(error))
        return {"CANCELLED"}

    def invoke(self, context, _event):
        """In a window Blender stays awake meanwhile; Esc stops."""
        try:
            self.left = list(self.commands(context))
            self.start()
        except (OSError, ValueError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.timer = context.window_manager.event_timer_add(0.2, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def start(self):
        # What it says goes to a file: a pipe that nobody reads would fill up and stop it.
        self.words = open(self.run.parent / "last.log", "w+")  # noqa: SIM115: closed when it ends
        self.process = subprocess.Popen(self.left.pop(0), stdout=self.words, stderr=self.words)

    def modal(self, context, event):
        if event.type == "ESC":
            self.process.terminate()
        code = self.process.poll() if event.type in {"TIMER", "ESC"} else None
        if code is None:
            return {"PASS_THROUGH"}
        self.words.seek(0)
        said = self.words.read()
        self.words.close()
        if code == 0 and self.left:
            self.start()
            return {"RUNNING_MODAL"}
        context.window_manager.event_timer_remove(self.timer)
        if code == 0:
            return self.bring_in(context)
        self.report({"ERROR"}, said or f"meniscus ended with {code}")
        return {"CANCELLED"}

    def bring_in(self, context):
        """Imports by the script that the export has beside it."""
        script = next((self.run / "usd").glob("*.blender.py"))
        objects = runpy.run_path(str(script))["bring_in"](context.scene.frame_start)
        roles = {key(o): o for o in context.view_layer.objects if o.meniscus_role != "NONE"}
        for thing in objects:
            # The scene has its own camera and lights, and what was sent out is here already.
            sent = next((name for name in roles if thing.name.lower().startswith(name.replace("-", "_") + "_")), None)
            if thing.type in {"CAMERA", "LIGHT"} or (sent and roles[sent].meniscus_role == "ANIMATED"):
                bpy.data.objects.remove(thing)
        for liquid in (o for o in roles.values() if o.meniscus_role == "LIQUID"):
            liquid.hide_render = context.scene.meniscus.hide
            liquid.hide_set(context.scene.meniscus.hide)
        self.report({"INFO"}, f"{self.run}")
        return {"FINISHED"}


class MENISCUS_PT_panel(bpy.types.Panel):
    """The sidebar."""

    bl_label = "Meniscus"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Meniscus"

    def draw(self, context):
        if context.object and context.object.type == "MESH":
            self.layout.prop(context.object, "meniscus_role")
        for name in ("resolution", "viscosity", "folder", "program", "hide"):
            self.layout.prop(context.scene.meniscus, name)
        self.layout.operator("meniscus.simulate")


CLASSES = (MeniscusSettings, MENISCUS_OT_simulate, MENISCUS_PT_panel)


def register():
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    bpy.types.Object.meniscus_role = bpy.props.EnumProperty(name="Is", items=ROLES, default="NONE")
    bpy.types.Scene.meniscus = bpy.props.PointerProperty(type=MeniscusSettings)


def unregister():
    del bpy.types.Scene.meniscus
    del bpy.types.Object.meniscus_role
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)


if __name__ == "__main__":
    register()
