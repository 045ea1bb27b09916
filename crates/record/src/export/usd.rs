//! A run as USD, for Blender, Houdini, Maya and their kin: a short root in words, one clip per frame and body.
//!
//! ```text
//! NAME.usda                        metres, up axis, frame rate, camera, lights, materials, rigid bodies as transforms, and where the clips are
//! NAME.blender.py                  opens it in Blender, shaded; written where it is missing
//! NAME/geo.usdc                    points and triangles of rigid bodies
//! NAME/water_1.00012.usdc …        points, velocities, speeds, pressures and triangles of one liquid (or soft body) at one frame
//! NAME/water_1_spray.00012.usdc …  drops that fly alone: points, widths, velocities, ids
//! NAME/water_1.manifest.usda       which attributes the clips have
//! ```
//! Clips and `geo` are binary, or `.usda` where words are asked for.
//! Topology may change from frame to frame: clips hold all of it. A body that is not there at a frame has an empty mesh there.

mod binary;
mod layer;

use std::fmt::Write;
use std::path::Path;

use glam::{DMat3, DVec3, Vec3};
use meniscus_core::{BodyInfo, BodyKind, Frame, Particles, Surface};

use self::layer::{Attribute, Layer, Prim, Value};
use super::rigid_motion::carry;
use super::{Destination, ExportReport, joined};
use crate::RunFolder;
use crate::error::{PROGRAM_VERSION, Result};

/// What USD wants to know that frames do not tell.
#[derive(Debug, Clone)]
pub struct UsdScene {
    /// Name of the root file and of the folder of clips.
    pub name: String,
    /// Frames per second \[1/s\].
    pub fps: f64,
    /// Names of bodies that never change their shape: one mesh, and where it is.
    pub rigid: Vec<String>,
    /// Where the picture is taken from.
    pub camera: UsdCamera,
    /// Clips in words, four times as large, instead of binary ones.
    pub words: bool,
}

/// A camera at `eye` \[m\] with unit vectors to its right, up and forward.
#[derive(Debug, Clone, Copy)]
pub struct UsdCamera {
    /// Position \[m\].
    pub eye: Vec3,
    /// To the right.
    pub right: Vec3,
    /// Up in the picture.
    pub up: Vec3,
    /// To what is looked at.
    pub forward: Vec3,
    /// Vertical field of view \[degrees\].
    pub field_of_view: f32,
    /// Width over height, dimensionless.
    pub aspect: f32,
}

/// Exports what `change` makes of the frames of a run: liquids as surfaces, and their spray as particles.
///
/// # Errors
/// When the run cannot be listed or a file cannot be written. Frames that cannot be read are in the report.
pub fn export_usd(
    run: &RunFolder,
    out_dir: impl AsRef<Path>,
    scene: &UsdScene,
    progress: &mut dyn FnMut(usize, usize),
    mut change: impl FnMut(&Frame) -> Frame,
) -> Result<ExportReport> {
    let mut out = Destination::new(out_dir.as_ref())?;
    let mut stage: Option<Stage> = None;
    out.each_frame(run, progress, |out, frame| {
        let frame = change(frame);
        let stage = stage.get_or_insert_with(|| Stage::new(&frame, scene));
        stage.follow(&frame);
        stage.clips(&frame).try_for_each(|(name, bytes)| out.write(&name, &bytes))
    })?;
    if let Some(stage) = stage {
        let (name, bytes) = stage.geometry();
        out.write(&name, &bytes)?;
        stage.manifests().try_for_each(|(name, text)| out.write(&name, text.as_bytes()))?;
        out.write(&format!("{}.usda", stage.folder), stage.root(scene).as_bytes())?;
        let script = format!("{}.blender.py", stage.folder);
        // Somebody may have changed it.
        if !out.dir.join(&script).exists() {
            out.write(&script, BLENDER_SCRIPT.as_bytes())?;
        }
    }
    Ok(out.report)
}

/// Finds the root by its own name.
const BLENDER_SCRIPT: &str = include_str!("usd/blender.py");

/// The bodies of a run, as its first frame has them.
struct Stage {
    /// Name of the folder of clips.
    folder: String,
    /// Clips are in words.
    words: bool,
    /// First and last frame.
    frames: [u32; 2],
    clipped: Vec<Clipped>,
    rigid: Vec<Rigid>,
}

/// A body whose shape changes.
struct Clipped {
    prim: String,
    body: u16,
    info: BodyInfo,
    /// Spray of this liquid rather than its surface.
    spray: bool,
    /// First and last of frames in a row at which there is no spray.
    empty: Vec<[u32; 2]>,
}

/// A body that only moves.
struct Rigid {
    prim: String,
    info: BodyInfo,
    first: Surface,
    /// Frame, and what carries the first frame's points there.
    places: Vec<(u32, DMat3, DVec3)>,
}

impl Stage {
    fn new(frame: &Frame, scene: &UsdScene) -> Self {
        let (mut clipped, mut rigid) = (Vec::new(), Vec::new());
        for (body, info) in (0..).zip(&frame.bodies) {
            let first = frame.surfaces.iter().find(|surface| surface.body == body);
            // Two names may become one.
            let prim = format!("{}_{body}", identifier(&info.name));
            match (info.kind, first) {
                (BodyKind::Liquid, _) => {
                    let spray = format!("{prim}_spray");
                    clipped.push(Clipped { prim, body, info: info.clone(), spray: false, empty: Vec::new() });
                    clipped.push(Clipped { prim: spray, body, info: info.clone(), spray: true, empty: Vec::new() });
                }
                (_, Some(first)) if scene.rigid.contains(&info.name) => {
                    rigid.push(Rigid { prim, info: info.clone(), first: first.clone(), places: Vec::new() });
                }
                (_, Some(_)) => {
                    clipped.push(Clipped { prim, body, info: info.clone(), spray: false, empty: Vec::new() });
                }
                (_, None) => {}
            }
        }
        let (folder, frames) = (identifier(&scene.name), [frame.number; 2]);
        Self { folder, words: scene.words, frames, clipped, rigid }
    }

    /// Takes note of where things are.
    fn follow(&mut self, frame: &Frame) {
        self.frames[1] = frame.number;
        for spray in self.clipped.iter_mut().filter(|clipped| clipped.spray) {
            spray.note_if_empty(frame);
        }
        for rigid in &mut self.rigid {
            if let Some(now) = frame.surfaces.iter().find(|surface| surface.body == rigid.first.body) {
                let (turn, shift) = carry(&rigid.first.positions, &now.positions);
                rigid.places.push((frame.number, turn, shift));
            }
        }
    }

    /// What files of clips end with.
    fn ending(&self) -> &'static str {
        if self.words { "usda" } else { "usdc" }
    }

    fn encode(&self, layer: &Layer) -> Vec<u8> {
        if self.words { layer.to_usda().into_bytes() } else { layer.to_usdc() }
    }

    /// The clips of one frame; of what is not there an empty one.
    fn clips<'a>(&'a self, frame: &'a Frame) -> impl Iterator<Item = (String, Vec<u8>)> + 'a {
        self.clipped.iter().map(move |clipped| {
            let name = format!("{}/{}.{:05}.{}", self.folder, clipped.prim, frame.number, self.ending());
            let attributes = if clipped.spray {
                spray_samples(&frame.particles, clipped.body, frame.number)
            } else {
                mesh_samples(joined(frame, clipped.body), frame.number)
            };
            let prims = vec![Prim { name: clipped.prim.clone(), attributes }];
            (name, self.encode(&Layer { prims }))
        })
    }

    /// The meshes of rigid bodies.
    fn geometry(&self) -> (String, Vec<u8>) {
        let prim = |rigid: &Rigid| Prim { name: rigid.prim.clone(), attributes: rigid.shape() };
        let layer = Layer { prims: self.rigid.iter().map(prim).collect() };
        (format!("{}/geo.{}", self.folder, self.ending()), self.encode(&layer))
    }

    fn manifests(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.clipped.iter().map(|clipped| {
            let name = format!("{}/{}.manifest.usda", self.folder, clipped.prim);
            (name, over(&clipped.prim, clipped.attributes()))
        })
    }

    /// The root.
    fn root(&self, scene: &UsdScene) -> String {
        let [first, last] = self.frames;
        let fps = scene.fps;
        let mut text = format!(
            "#usda 1.0\n(\n    defaultPrim = \"World\"\n    metersPerUnit = 1\n    upAxis = \"Y\"\n    startTimeCode = {first}\n    \
             endTimeCode = {last}\n    timeCodesPerSecond = {fps}\n    framesPerSecond = {fps}\n    doc = \"Meniscus {PROGRAM_VERSION}, \
             {}\"\n)\n\ndef Xform \"World\"\n{{\n",
            plain(&scene.name)
        );
        self.clipped.iter().for_each(|clipped| clipped.write(&mut text, self));
        self.rigid.iter().for_each(|rigid| rigid.write(&mut text, self));
        text.push_str("    def Scope \"Looks\"\n    {\n");
        for (prim, info) in self.looks() {
            material(&mut text, prim, info);
        }
        text.push_str("    }\n");
        scene.camera.write(&mut text);
        text.push_str(
            "    def DomeLight \"Sky\"\n    {\n        float inputs:intensity = 0.7\n    }\n    def DistantLight \"Sun\"\n    {\n        \
             float inputs:intensity = 2.5\n        bool inputs:normalize = 1\n        float inputs:angle = 2\n        double3 xformOp:rotateXYZ = (-50, 35, 0)\n        \
             uniform token[] xformOpOrder = [\"xformOp:rotateXYZ\"]\n    }\n}\n",
        );
        text
    }

    fn looks(&self) -> impl Iterator<Item = (&str, &BodyInfo)> {
        let clipped = self.clipped.iter().map(|body| (body.prim.as_str(), &body.info));
        clipped.chain(self.rigid.iter().map(|body| (body.prim.as_str(), &body.info)))
    }
}

const MESH_ATTRIBUTES: &str = "        point3f[] points\n        vector3f[] velocities\n        int[] faceVertexCounts\n        \
    int[] faceVertexIndices\n        float[] primvars:speed (\n            interpolation = \"vertex\"\n        )\n        float[] primvars:pressure (\n            interpolation = \"vertex\"\n        )\n        float3[] extent\n";
const SPRAY_ATTRIBUTES: &str = "        point3f[] points\n        vector3f[] velocities\n        float[] widths\n        int64[] ids\n        \
    float3[] extent\n";

impl Clipped {
    fn note_if_empty(&mut self, frame: &Frame) {
        if frame.particles.bodies.contains(&self.body) {
            return;
        }
        match self.empty.last_mut() {
            Some([_, last]) if *last + 1 == frame.number => *last = frame.number,
            _ => self.empty.push([frame.number; 2]),
        }
    }

    /// Where there is no spray, in words. Blender 5.0 cannot draw a cloud of no points: the script hides it there.
    fn emptiness(&self) -> String {
        let words: Vec<String> = self.empty.iter().map(|[first, last]| format!("{first}-{last}")).collect();
        format!("        custom string userProperties:meniscus_empty = \"{}\"\n", words.join(" "))
    }

    fn attributes(&self) -> &'static str {
        if self.spray { SPRAY_ATTRIBUTES } else { MESH_ATTRIBUTES }
    }

    fn write(&self, text: &mut String, stage: &Stage) {
        let (prim, folder, ending, [first, last]) = (&self.prim, &stage.folder, stage.ending(), stage.frames);
        let kind = if self.spray { "Points" } else { "Mesh" };
        // A default would win over the clips: the attributes are declared without.
        let _ = write!(
            text,
            "    def {kind} \"{prim}\" (\n        prepend apiSchemas = [\"MaterialBindingAPI\"]\n        clips = {{\n            dictionary default \
             = {{\n                asset manifestAssetPath = @./{folder}/{prim}.manifest.usda@\n                string primPath = \
             \"/World/{prim}\"\n                string templateAssetPath = \"./{folder}/{prim}.#####.{ending}\"\n                double \
             templateStartTime = {first}\n                double templateEndTime = {last}\n                double templateStride = 1\n            \
             }}\n        }}\n    )\n    {{\n        rel material:binding = </World/Looks/{prim}>\n{}{}",
            role(if self.spray { "spray" } else { role_of(&self.info) }),
            self.attributes()
        );
        if self.spray {
            text.push_str(&self.emptiness());
        } else {
            text.push_str(SHAPE);
        }
        text.push_str("    }\n");
    }
}

/// What a body is, for scripts: Blender takes it over as a property of the object.
fn role(word: &str) -> String {
    format!("        custom string userProperties:meniscus = \"{word}\"\n")
}

fn role_of(info: &BodyInfo) -> &'static str {
    match info.kind {
        BodyKind::Liquid => "liquid",
        BodyKind::Wall => "wall",
        _ => "solid",
    }
}

/// Triangles are meant as they are.
const SHAPE: &str =
    "        uniform token subdivisionScheme = \"none\"\n        uniform token orientation = \"rightHanded\"\n";

impl Rigid {
    /// Its mesh at the first frame.
    fn shape(&self) -> Vec<Attribute> {
        let Surface { positions, triangles, .. } = &self.first;
        vec![
            Attribute { name: "points", kind: "point3f[]", frame: None, value: Value::Vectors(positions.clone()) },
            Attribute { name: "extent", kind: "float3[]", frame: None, value: Value::Vectors(extent(positions)) },
            Attribute { name: "faceVertexCounts", kind: "int[]", frame: None, value: counts(triangles) },
            Attribute { name: "faceVertexIndices", kind: "int[]", frame: None, value: corners(triangles) },
        ]
    }

    fn write(&self, text: &mut String, stage: &Stage) {
        let (prim, folder, ending) = (&self.prim, &stage.folder, stage.ending());
        let _ = write!(
            text,
            "    def Mesh \"{prim}\" (\n        prepend apiSchemas = [\"MaterialBindingAPI\"]\n        prepend references = \
             @./{folder}/geo.{ending}@</World/{prim}>\n    )\n    {{\n        rel material:binding = </World/Looks/{prim}>\n{}{SHAPE}",
            role(role_of(&self.info))
        );
        text.push_str("        matrix4d xformOp:transform.timeSamples = {\n");
        for (frame, turn, shift) in &self.places {
            // Points are rows in USD: p' = p M.
            let row = |v: DVec3, w: u8| format!("({:?}, {:?}, {:?}, {w})", v.x, v.y, v.z);
            let rows = [row(turn.x_axis, 0), row(turn.y_axis, 0), row(turn.z_axis, 0), row(*shift, 1)];
            let _ = writeln!(text, "            {frame}: ( {} ),", rows.join(", "));
        }
        text.push_str("        }\n        uniform token[] xformOpOrder = [\"xformOp:transform\"]\n    }\n");
    }
}

impl UsdCamera {
    fn write(&self, text: &mut String) {
        // Apertures count in tenths of the stage's unit: 24 mm.
        let vertical = 0.24;
        let focal = 0.5 * vertical / (0.5 * f64::from(self.field_of_view).to_radians()).tan();
        // It looks along its −z.
        let row = |v: Vec3, w: u8| format!("({:?}, {:?}, {:?}, {w})", v.x, v.y, v.z);
        let rows = [row(self.right, 0), row(self.up, 0), row(-self.forward, 0), row(self.eye, 1)];
        let _ = write!(
            text,
            "    def Camera \"Camera\"\n    {{\n        float horizontalAperture = {:?}\n        float verticalAperture = {vertical:?}\n        \
             float focalLength = {focal:?}\n        float2 clippingRange = (0.01, 10000)\n        matrix4d xformOp:transform = ( {} )\n        \
             uniform token[] xformOpOrder = [\"xformOp:transform\"]\n    }}\n",
            vertical * f64::from(self.aspect),
            rows.join(", ")
        );
    }
}

fn material(text: &mut String, prim: &str, info: &BodyInfo) {
    // Ours are sRGB, shaders want them linear.
    let [r, g, b] = info.color.map(|c| c.powf(2.2));
    let liquid = info.kind == BodyKind::Liquid;
    let (roughness, opacity) = if liquid { (0.0, 0.35) } else { (0.45, 1.0) };
    let _ = write!(
        text,
        "        def Material \"{prim}\"\n        {{\n            token outputs:surface.connect = </World/Looks/{prim}/Shader.outputs:surface>\n            \
         def Shader \"Shader\"\n            {{\n                uniform token info:id = \"UsdPreviewSurface\"\n                color3f \
         inputs:diffuseColor = ({r:?}, {g:?}, {b:?})\n                float inputs:roughness = {roughness:?}\n                float inputs:opacity = \
         {opacity:?}\n                float inputs:ior = 1.333\n                token outputs:surface\n            }}\n        }}\n"
    );
}

/// Attributes of a prim below the world.
fn over(prim: &str, attributes: &str) -> String {
    format!("#usda 1.0\n\nover \"World\"\n{{\n    over \"{prim}\"\n    {{\n{attributes}    }}\n}}\n")
}

fn mesh_samples(surface: Surface, frame: u32) -> Vec<Attribute> {
    let speeds = surface.velocities.iter().map(|v| v.length()).collect();
    let box_round = extent(&surface.positions);
    let sample = |kind, name, value| Attribute { name, kind, frame: Some(frame), value };
    let mut samples = vec![
        sample("point3f[]", "points", Value::Vectors(surface.positions)),
        sample("vector3f[]", "velocities", Value::Vectors(surface.velocities)),
        sample("float[]", "primvars:speed", Value::Floats(speeds)),
        sample("float3[]", "extent", Value::Vectors(box_round)),
        sample("int[]", "faceVertexCounts", counts(&surface.triangles)),
        sample("int[]", "faceVertexIndices", corners(&surface.triangles)),
    ];
    if !surface.pressures.is_empty() {
        samples.push(sample("float[]", "primvars:pressure", Value::Floats(surface.pressures)));
    }
    samples
}

fn spray_samples(particles: &Particles, body: u16, frame: u32) -> Vec<Attribute> {
    let mine: Vec<usize> = (0..particles.len()).filter(|&i| particles.bodies[i] == body).collect();
    let positions: Vec<Vec3> = mine.iter().map(|&i| particles.positions[i]).collect();
    let velocities = mine.iter().map(|&i| particles.velocities[i]).collect();
    // As wide as a ball that holds what a particle holds.
    let width = particles.spacing * 1.2407;
    let box_round = extent(&positions);
    let sample = |kind, name, value| Attribute { name, kind, frame: Some(frame), value };
    vec![
        sample("point3f[]", "points", Value::Vectors(positions)),
        sample("vector3f[]", "velocities", Value::Vectors(velocities)),
        sample("float[]", "widths", Value::Floats(vec![width; mine.len()])),
        sample("int64[]", "ids", Value::Ids(mine.iter().map(|&i| particles.ids[i]).collect())),
        sample("float3[]", "extent", Value::Vectors(box_round)),
    ]
}

fn counts(triangles: &[[u32; 3]]) -> Value {
    Value::Indices(vec![3; triangles.len()])
}

fn corners(triangles: &[[u32; 3]]) -> Value {
    Value::Indices(triangles.as_flattened().to_vec())
}

/// Two corners round all points.
fn extent(points: &[Vec3]) -> Vec<Vec3> {
    let low = points.iter().copied().reduce(Vec3::min).unwrap_or_default();
    vec![low, points.iter().copied().reduce(Vec3::max).unwrap_or_default()]
}

/// A name as USD allows it.
fn identifier(name: &str) -> String {
    let word: String = name.chars().take(80).map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if word.starts_with(|c: char| c.is_ascii_alphabetic()) { word } else { format!("_{word}") }
}

/// Text that needs no escape.
fn plain(text: &str) -> String {
    text.chars().map(|c| if matches!(c, ' '..='~') && c != '"' && c != '\\' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        assert_eq!(identifier("water-2"), "water_2");
        assert_eq!(identifier("2 Füße"), "_2_F__e");
        assert_eq!(identifier(""), "_");
    }

    #[test]
    fn what_is_not_there_is_an_empty_mesh() {
        let prim = Prim { name: "water".into(), attributes: mesh_samples(Surface::default(), 7) };
        let text = Layer { prims: vec![prim] }.to_usda();
        assert!(text.contains("point3f[] points.timeSamples = { 7: [] }"), "{text}");
        assert!(text.contains("int[] faceVertexIndices.timeSamples = { 7: [] }"), "{text}");
    }
}
