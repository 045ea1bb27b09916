//! A run as USD, for Blender, Houdini, Maya and their kin: a short root in words, one clip per frame and body.
//!
//! ```text
//! NAME.usda                        metres, up axis, frame rate, camera, lights, materials, rigid bodies as transforms, and where the clips are
//! NAME.blender.py                  opens it in Blender, shaded; written where it is missing
//! NAME/geo.usdc                    points and triangles of rigid bodies, triangles of soft ones
//! NAME/water_1.00012.usdc …        points, velocities, speeds, pressures and triangles of one liquid at one frame
//! NAME/jelly_2.00012.usdc …        points, velocities and speeds of one soft body; triangles too where it breaks on the way
//! NAME/water_1_spray.00012.usdc …  drops that fly alone: points, widths, velocities, ids
//! NAME/water_1_foam.00012.usdc …   its foam, bubbles and fine drops, where the scene has `surface.foam`
//! NAME/water_1.manifest.usda       which attributes the clips have
//! ```
//! Clips and `geo` are binary, or `.usda` where words are asked for.
//! Where topology changes from frame to frame clips hold all of it; a body that keeps its triangles has them once and is animated points.
//! A body that is not there at a frame has an empty mesh there.

mod binary;
mod layer;

use std::fmt::Write;
use std::path::Path;

use glam::{DMat3, DVec3, Vec3};
use meniscus_core::{BodyInfo, BodyKind, Foam, Frame, Particles, Surface};

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
    /// Unit vector to the light.
    pub to_light: Vec3,
    /// Height of the ground in pictures \[m\], if they have one.
    pub ground: Option<f32>,
    /// Length after which 1/e of red is left in a liquid \[m\].
    pub clarity: Option<f32>,
    /// Clips in words, four times as large, instead of binary ones.
    pub words: bool,
    /// Whether frames have foam.
    pub foam: bool,
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
    let lasting = lasting_bodies(run, scene)?;
    let mut stage: Option<Stage> = None;
    out.each_frame(run, progress, |out, frame| {
        let frame = change(frame);
        let stage = stage.get_or_insert_with(|| Stage::new(&frame, scene, &lasting));
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

/// Soft bodies that have the same triangles at every frame that can be read.
fn lasting_bodies(run: &RunFolder, scene: &UsdScene) -> Result<Vec<u16>> {
    let mut frames = run.frame_numbers()?.into_iter().filter_map(|number| run.read_frame(number).ok());
    let Some(first) = frames.next() else { return Ok(Vec::new()) };
    let is_soft = |body: u16, info: &BodyInfo| {
        let shown = first.surfaces.iter().any(|surface| surface.body == body);
        shown && info.kind != BodyKind::Liquid && !scene.rigid.contains(&info.name)
    };
    let soft = (0..).zip(&first.bodies).filter(|(body, info)| is_soft(*body, info));
    let mut left: Vec<(u16, Vec<[u32; 3]>)> = soft.map(|(body, _)| (body, joined(&first, body).triangles)).collect();
    while let (false, Some(frame)) = (left.is_empty(), frames.next()) {
        left.retain(|(body, triangles)| joined(&frame, *body).triangles == *triangles);
    }
    Ok(left.into_iter().map(|(body, _)| body).collect())
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
    holds: Holds,
    /// First and last of frames in a row at which there are no points.
    empty: Vec<[u32; 2]>,
}

/// What clips hold.
enum Holds {
    /// A surface whole.
    Mesh,
    /// Its points: these are the triangles of all frames.
    Points(Vec<[u32; 3]>),
    /// Particles that fly alone.
    Spray,
    /// What is white.
    Foam,
}

/// A body that only moves.
struct Rigid {
    prim: String,
    info: BodyInfo,
    first: Surface,
    /// Frame, and what carries the first frame's points there.
    poses: Vec<(u32, DMat3, DVec3)>,
}

impl Stage {
    fn new(frame: &Frame, scene: &UsdScene, lasting: &[u16]) -> Self {
        let (mut clipped, mut rigid) = (Vec::new(), Vec::new());
        for (body, info) in (0..).zip(&frame.bodies) {
            let first = frame.surfaces.iter().find(|surface| surface.body == body);
            // Two names may become one.
            let prim = format!("{}_{body}", identifier(&info.name));
            let mut clip = |prim, holds| {
                let mut info = info.clone();
                if matches!(holds, Holds::Foam) {
                    (info.kind, info.color) = (BodyKind::Solid, [0.95; 3]); // dull and white, whatever the liquid
                }
                clipped.push(Clipped { prim, body, info, holds, empty: Vec::new() });
            };
            match (info.kind, first) {
                (BodyKind::Liquid, _) => {
                    let (spray, foam) = (format!("{prim}_spray"), format!("{prim}_foam"));
                    clip(prim, Holds::Mesh);
                    clip(spray, Holds::Spray);
                    if scene.foam {
                        clip(foam, Holds::Foam);
                    }
                }
                (_, Some(first)) if scene.rigid.contains(&info.name) => {
                    rigid.push(Rigid { prim, info: info.clone(), first: first.clone(), poses: Vec::new() });
                }
                (_, Some(_)) if lasting.contains(&body) => clip(prim, Holds::Points(joined(frame, body).triangles)),
                (_, Some(_)) => clip(prim, Holds::Mesh),
                (_, None) => {}
            }
        }
        let (folder, frames) = (identifier(&scene.name), [frame.number; 2]);
        Self { folder, words: scene.words, frames, clipped, rigid }
    }

    /// Takes note of where things are.
    fn follow(&mut self, frame: &Frame) {
        self.frames[1] = frame.number;
        for cloud in self.clipped.iter_mut().filter(|clipped| clipped.is_cloud()) {
            cloud.note_if_empty(frame);
        }
        for rigid in &mut self.rigid {
            if let Some(now) = frame.surfaces.iter().find(|surface| surface.body == rigid.first.body) {
                let (turn, shift) = carry(&rigid.first.positions, &now.positions);
                rigid.poses.push((frame.number, turn, shift));
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
            let attributes = match &clipped.holds {
                Holds::Spray => spray_samples(&frame.particles, clipped.body, frame.number),
                Holds::Foam => foam_samples(&frame.foam, clipped.body, frame.number),
                Holds::Mesh => mesh_samples(joined(frame, clipped.body), frame.number),
                Holds::Points(_) => point_samples(joined(frame, clipped.body), frame.number),
            };
            let prims = vec![Prim { name: clipped.prim.clone(), attributes }];
            (name, self.encode(&Layer { prims }))
        })
    }

    /// The meshes of rigid bodies, and the triangles of soft ones.
    fn geometry(&self) -> (String, Vec<u8>) {
        let soft = self.clipped.iter().filter_map(|clipped| match &clipped.holds {
            Holds::Points(triangles) => {
                Some(Prim { name: clipped.prim.clone(), attributes: topology(triangles, None) })
            }
            Holds::Mesh | Holds::Spray | Holds::Foam => None,
        });
        let rigid = self.rigid.iter().map(|rigid| Prim { name: rigid.prim.clone(), attributes: rigid.shape() });
        let layer = Layer { prims: soft.chain(rigid).collect() };
        (format!("{}/geo.{}", self.folder, self.ending()), self.encode(&layer))
    }

    fn manifests(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.clipped.iter().map(|clipped| {
            let name = format!("{}/{}.manifest.usda", self.folder, clipped.prim);
            (name, over(&clipped.prim, &clipped.attributes()))
        })
    }

    /// The root.
    fn root(&self, scene: &UsdScene) -> String {
        let [first, last] = self.frames;
        let fps = scene.fps;
        let mut text = format!(
            "#usda 1.0\n(\n    defaultPrim = \"World\"\n    metersPerUnit = 1\n    upAxis = \"Y\"\n    startTimeCode = {first}\n    \
             endTimeCode = {last}\n    timeCodesPerSecond = {fps}\n    framesPerSecond = {fps}\n    doc = \"Meniscus {PROGRAM_VERSION}, \
             {}\"\n    customLayerData = {{\n",
            plain(&scene.name)
        );
        for (key, value) in [("ground", scene.ground), ("clarity", scene.clarity)] {
            let _ = value.map(|value| writeln!(text, "        double {key} = {value:?}"));
        }
        text.push_str("    }\n)\n\ndef Xform \"World\"\n{\n");
        self.clipped.iter().for_each(|clipped| clipped.write(&mut text, self));
        self.rigid.iter().for_each(|rigid| rigid.write(&mut text, self));
        text.push_str("    def Scope \"Looks\"\n    {\n");
        for (prim, info) in self.looks() {
            material(&mut text, prim, info);
        }
        text.push_str("    }\n");
        scene.camera.write(&mut text);
        lights(&mut text, scene.to_light);
        text.push_str("}\n");
        text
    }

    fn looks(&self) -> impl Iterator<Item = (&str, &BodyInfo)> {
        let clipped = self.clipped.iter().map(|body| (body.prim.as_str(), &body.info));
        clipped.chain(self.rigid.iter().map(|body| (body.prim.as_str(), &body.info)))
    }
}

const POINT_ATTRIBUTES: &str = "        point3f[] points\n        vector3f[] velocities\n        float[] primvars:speed (\n            \
    interpolation = \"vertex\"\n        )\n        float[] primvars:pressure (\n            interpolation = \"vertex\"\n        )\n        float3[] extent\n";
const TOPOLOGY_ATTRIBUTES: &str = "        int[] faceVertexCounts\n        int[] faceVertexIndices\n";
const SPRAY_ATTRIBUTES: &str = "        point3f[] points\n        vector3f[] velocities\n        float[] widths\n        int64[] ids\n        \
    float3[] extent\n";

impl Clipped {
    fn is_cloud(&self) -> bool {
        matches!(self.holds, Holds::Spray | Holds::Foam)
    }

    fn note_if_empty(&mut self, frame: &Frame) {
        let foam = matches!(self.holds, Holds::Foam);
        let bodies = if foam { &frame.foam.bodies } else { &frame.particles.bodies };
        if bodies.contains(&self.body) {
            return;
        }
        match self.empty.last_mut() {
            Some([_, last]) if *last + 1 == frame.number => *last = frame.number,
            _ => self.empty.push([frame.number; 2]),
        }
    }

    /// Where there are no points, in words. Blender 5.0 cannot draw a cloud of no points: the script hides it there.
    fn emptiness(&self) -> String {
        let words: Vec<String> = self.empty.iter().map(|[first, last]| format!("{first}-{last}")).collect();
        format!("        custom string userProperties:meniscus_empty = \"{}\"\n", words.join(" "))
    }

    fn attributes(&self) -> String {
        match self.holds {
            Holds::Mesh => format!("{POINT_ATTRIBUTES}{TOPOLOGY_ATTRIBUTES}"),
            Holds::Points(_) => POINT_ATTRIBUTES.to_owned(),
            Holds::Spray | Holds::Foam => SPRAY_ATTRIBUTES.to_owned(),
        }
    }

    fn write(&self, text: &mut String, stage: &Stage) {
        let (prim, folder, ending, [first, last]) = (&self.prim, &stage.folder, stage.ending(), stage.frames);
        let kind = if self.is_cloud() { "Points" } else { "Mesh" };
        let reference = match self.holds {
            Holds::Points(_) => geometry_of(prim, stage),
            Holds::Mesh | Holds::Spray | Holds::Foam => String::new(),
        };
        // A default would win over the clips: the attributes are declared without.
        let _ = write!(
            text,
            "    def {kind} \"{prim}\" (\n        prepend apiSchemas = [\"MaterialBindingAPI\"]\n{reference}        clips = {{\n            dictionary default \
             = {{\n                asset manifestAssetPath = @./{folder}/{prim}.manifest.usda@\n                string primPath = \
             \"/World/{prim}\"\n                string templateAssetPath = \"./{folder}/{prim}.#####.{ending}\"\n                double \
             templateStartTime = {first}\n                double templateEndTime = {last}\n                double templateStride = 1\n            \
             }}\n        }}\n    )\n    {{\n        rel material:binding = </World/Looks/{prim}>\n{}{}",
            role(match (&self.holds, self.info.kind) {
                (Holds::Spray, _) => "spray",
                (Holds::Foam, _) => "foam",
                (_, BodyKind::Liquid) => "liquid",
                _ => "solid",
            }),
            self.attributes()
        );
        if self.is_cloud() {
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

/// Triangles are meant as they are.
const SHAPE: &str =
    "        uniform token subdivisionScheme = \"none\"\n        uniform token orientation = \"rightHanded\"\n";

/// Metadata that brings in what `geo` has of a prim.
fn geometry_of(prim: &str, stage: &Stage) -> String {
    format!("        prepend references = @./{}/geo.{}@</World/{prim}>\n", stage.folder, stage.ending())
}

impl Rigid {
    /// Its mesh at the first frame.
    fn shape(&self) -> Vec<Attribute> {
        let Surface { positions, triangles, .. } = &self.first;
        let mut shape = vec![
            Attribute { name: "points", kind: "point3f[]", frame: None, value: Value::Vectors(positions.clone()) },
            Attribute { name: "extent", kind: "float3[]", frame: None, value: Value::Vectors(extent(positions)) },
        ];
        shape.extend(topology(triangles, None));
        shape
    }

    fn write(&self, text: &mut String, stage: &Stage) {
        let prim = &self.prim;
        let _ = write!(
            text,
            "    def Mesh \"{prim}\" (\n        prepend apiSchemas = [\"MaterialBindingAPI\"]\n{}    )\n    {{\n        rel material:binding = </World/Looks/{prim}>\n{}{SHAPE}",
            geometry_of(prim, stage),
            role(if self.info.kind == BodyKind::Wall { "wall" } else { "solid" })
        );
        text.push_str("        matrix4d xformOp:transform.timeSamples = {\n");
        for (frame, turn, shift) in &self.poses {
            let _ = writeln!(text, "            {frame}: {},", matrix([turn.x_axis, turn.y_axis, turn.z_axis], *shift));
        }
        text.push_str("        }\n        uniform token[] xformOpOrder = [\"xformOp:transform\"]\n    }\n");
    }
}

/// A matrix as USD writes it: points are rows, p' = p M.
fn matrix(turn: [DVec3; 3], shift: DVec3) -> String {
    let row = |v: DVec3, w: u8| format!("({:?}, {:?}, {:?}, {w})", v.x, v.y, v.z);
    let [x, y, z] = turn;
    format!("( {}, {}, {}, {} )", row(x, 0), row(y, 0), row(z, 0), row(shift, 1))
}

/// A sky and a sun, which shines along its −z.
fn lights(text: &mut String, to_light: Vec3) {
    let z = to_light.as_dvec3().normalize_or(DVec3::Y);
    let x = z.any_orthonormal_vector();
    let _ = write!(
        text,
        "    def DomeLight \"Sky\"\n    {{\n        float inputs:intensity = 0.7\n    }}\n    def DistantLight \"Sun\"\n    {{\n        \
         float inputs:intensity = 2.5\n        bool inputs:normalize = 1\n        float inputs:angle = 2\n        matrix4d xformOp:transform = {}\n        \
         uniform token[] xformOpOrder = [\"xformOp:transform\"]\n    }}\n",
        matrix([x, z.cross(x), z], DVec3::ZERO)
    );
}

impl UsdCamera {
    fn write(&self, text: &mut String) {
        // Apertures count in tenths of the stage's unit: 24 mm.
        let vertical = 0.24;
        let focal = 0.5 * vertical / (0.5 * f64::from(self.field_of_view).to_radians()).tan();
        // It looks along its −z.
        let turn = [self.right, self.up, -self.forward].map(Vec3::as_dvec3);
        let _ = write!(
            text,
            "    def Camera \"Camera\"\n    {{\n        float horizontalAperture = {:?}\n        float verticalAperture = {vertical:?}\n        \
             float focalLength = {focal:?}\n        float2 clippingRange = (0.01, 10000)\n        matrix4d xformOp:transform = {}\n        \
             uniform token[] xformOpOrder = [\"xformOp:transform\"]\n    }}\n",
            vertical * f64::from(self.aspect),
            matrix(turn, self.eye.as_dvec3())
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
    let triangles = topology(&surface.triangles, Some(frame));
    point_samples(surface, frame).into_iter().chain(triangles).collect()
}

fn topology(triangles: &[[u32; 3]], frame: Option<u32>) -> Vec<Attribute> {
    vec![
        Attribute { name: "faceVertexCounts", kind: "int[]", frame, value: Value::Indices(vec![3; triangles.len()]) },
        Attribute {
            name: "faceVertexIndices",
            kind: "int[]",
            frame,
            value: Value::Indices(triangles.as_flattened().to_vec()),
        },
    ]
}

fn point_samples(surface: Surface, frame: u32) -> Vec<Attribute> {
    let speeds = surface.velocities.iter().map(|v| v.length()).collect();
    let box_round = extent(&surface.positions);
    let sample = |kind, name, value| Attribute { name, kind, frame: Some(frame), value };
    let mut samples = vec![
        sample("point3f[]", "points", Value::Vectors(surface.positions)),
        sample("vector3f[]", "velocities", Value::Vectors(surface.velocities)),
        sample("float[]", "primvars:speed", Value::Floats(speeds)),
        sample("float3[]", "extent", Value::Vectors(box_round)),
    ];
    if !surface.pressures.is_empty() {
        samples.push(sample("float[]", "primvars:pressure", Value::Floats(surface.pressures)));
    }
    samples
}

fn spray_samples(particles: &Particles, body: u16, frame: u32) -> Vec<Attribute> {
    let mine: Vec<usize> = (0..particles.len()).filter(|&i| particles.bodies[i] == body).collect();
    let positions = mine.iter().map(|&i| particles.positions[i]).collect();
    let velocities = mine.iter().map(|&i| particles.velocities[i]).collect();
    let ids = mine.iter().map(|&i| particles.ids[i]).collect();
    // As wide as a ball that holds what a particle holds.
    cloud_samples([positions, velocities], particles.spacing * 1.2407, ids, frame)
}

fn foam_samples(foam: &Foam, body: u16, frame: u32) -> Vec<Attribute> {
    let mine: Vec<usize> = (0..foam.len()).filter(|&i| foam.bodies[i] == body).collect();
    let positions = mine.iter().map(|&i| foam.positions[i]).collect();
    let velocities = mine.iter().map(|&i| foam.velocities[i]).collect();
    cloud_samples([positions, velocities], foam.size, mine.iter().map(|&i| foam.ids[i]).collect(), frame)
}

fn cloud_samples([positions, velocities]: [Vec<Vec3>; 2], width: f32, ids: Vec<u32>, frame: u32) -> Vec<Attribute> {
    let box_round = extent(&positions);
    let sample = |kind, name, value| Attribute { name, kind, frame: Some(frame), value };
    vec![
        sample("point3f[]", "points", Value::Vectors(positions)),
        sample("vector3f[]", "velocities", Value::Vectors(velocities)),
        sample("float[]", "widths", Value::Floats(vec![width; ids.len()])),
        sample("int64[]", "ids", Value::Ids(ids)),
        sample("float3[]", "extent", Value::Vectors(box_round)),
    ]
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
