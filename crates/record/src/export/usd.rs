//! A run as USD, for Blender, Houdini, Maya and their kin: a short root in words, one clip per frame and body.
//!
//! ```text
//! NAME.usda                        metres, up axis, frame rate, camera, lights, materials, rigid bodies as transforms, and where the clips are
//! NAME/water_1.00012.usda …        points, velocities, speeds and triangles of one liquid (or soft body) at one frame
//! NAME/water_1_spray.00012.usda …  drops that fly alone: points, widths, velocities, ids
//! NAME/water_1.manifest.usda       which attributes the clips have
//! ```
//! Topology may change from frame to frame: clips hold all of it. A body that is not there at a frame has an empty mesh there.

use std::fmt::Write;
use std::path::Path;

use glam::{DMat3, DVec3, Vec3};
use meniscus_core::{BodyInfo, BodyKind, Frame, Particles, Surface};

use super::{Destination, ExportReport};
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
        stage.clips(&frame).try_for_each(|(name, text)| out.write(&name, text.as_bytes()))
    })?;
    if let Some(stage) = stage {
        stage.manifests().try_for_each(|(name, text)| out.write(&name, text.as_bytes()))?;
        out.write(&format!("{}.usda", stage.folder), stage.root(scene).as_bytes())?;
    }
    Ok(out.report)
}

/// The bodies of a run, as its first frame has them.
struct Stage {
    /// Name of the folder of clips.
    folder: String,
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
                    clipped.push(Clipped { prim, body, info: info.clone(), spray: false });
                    clipped.push(Clipped { prim: spray, body, info: info.clone(), spray: true });
                }
                (_, Some(first)) if scene.rigid.contains(&info.name) => {
                    rigid.push(Rigid { prim, info: info.clone(), first: first.clone(), places: Vec::new() });
                }
                (_, Some(_)) => clipped.push(Clipped { prim, body, info: info.clone(), spray: false }),
                (_, None) => {}
            }
        }
        Self { folder: identifier(&scene.name), frames: [frame.number; 2], clipped, rigid }
    }

    /// Takes note of where things are.
    fn follow(&mut self, frame: &Frame) {
        self.frames[1] = frame.number;
        for rigid in &mut self.rigid {
            if let Some(now) = frame.surfaces.iter().find(|surface| surface.body == rigid.first.body) {
                let (turn, shift) = carry(&rigid.first.positions, &now.positions);
                rigid.places.push((frame.number, turn, shift));
            }
        }
    }

    /// The clips of one frame; of what is not there an empty one.
    fn clips<'a>(&'a self, frame: &'a Frame) -> impl Iterator<Item = (String, String)> + 'a {
        self.clipped.iter().map(move |clipped| {
            let name = format!("{}/{}.{:05}.usda", self.folder, clipped.prim, frame.number);
            let samples = if clipped.spray {
                spray_samples(&frame.particles, clipped.body, frame.number)
            } else {
                mesh_samples(&joined(frame, clipped.body), frame.number)
            };
            (name, over(&clipped.prim, &samples))
        })
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
        self.rigid.iter().for_each(|rigid| rigid.write(&mut text));
        text.push_str("    def Scope \"Looks\"\n    {\n");
        for (prim, info) in self.looks() {
            material(&mut text, prim, info);
        }
        text.push_str("    }\n");
        scene.camera.write(&mut text);
        text.push_str(
            "    def DomeLight \"Sky\"\n    {\n        float inputs:intensity = 0.7\n    }\n    def DistantLight \"Sun\"\n    {\n        \
             float inputs:intensity = 2.5\n        float inputs:angle = 2\n        double3 xformOp:rotateXYZ = (-50, 35, 0)\n        \
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
    int[] faceVertexIndices\n        float[] primvars:speed (\n            interpolation = \"vertex\"\n        )\n        float3[] extent\n";
const SPRAY_ATTRIBUTES: &str = "        point3f[] points\n        vector3f[] velocities\n        float[] widths\n        int64[] ids\n        \
    float3[] extent\n";

impl Clipped {
    fn attributes(&self) -> &'static str {
        if self.spray { SPRAY_ATTRIBUTES } else { MESH_ATTRIBUTES }
    }

    fn write(&self, text: &mut String, stage: &Stage) {
        let (prim, folder, [first, last]) = (&self.prim, &stage.folder, stage.frames);
        let kind = if self.spray { "Points" } else { "Mesh" };
        // A default would win over the clips: the attributes are declared without.
        let _ = write!(
            text,
            "    def {kind} \"{prim}\" (\n        prepend apiSchemas = [\"MaterialBindingAPI\"]\n        clips = {{\n            dictionary default \
             = {{\n                asset manifestAssetPath = @./{folder}/{prim}.manifest.usda@\n                string primPath = \
             \"/World/{prim}\"\n                string templateAssetPath = \"./{folder}/{prim}.#####.usda\"\n                double \
             templateStartTime = {first}\n                double templateEndTime = {last}\n                double templateStride = 1\n            \
             }}\n        }}\n    )\n    {{\n        rel material:binding = </World/Looks/{prim}>\n{}",
            self.attributes()
        );
        if !self.spray {
            text.push_str(SHAPE);
        }
        text.push_str("    }\n");
    }
}

/// Triangles are meant as they are.
const SHAPE: &str =
    "        uniform token subdivisionScheme = \"none\"\n        uniform token orientation = \"rightHanded\"\n";

impl Rigid {
    fn write(&self, text: &mut String) {
        let prim = &self.prim;
        let _ = write!(
            text,
            "    def Mesh \"{prim}\" (\n        prepend apiSchemas = [\"MaterialBindingAPI\"]\n    )\n    {{\n        rel material:binding = \
             </World/Looks/{prim}>\n{SHAPE}"
        );
        let surface = &self.first;
        let _ = writeln!(text, "        point3f[] points = {}", vectors(&surface.positions));
        let _ = writeln!(text, "        float3[] extent = {}", extent(&surface.positions));
        triangles(text, &surface.triangles, |kind, values| format!("        int[] {kind} = {values}\n"));
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
        let vertical = 24.0;
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
    let [r, g, b] = info.color;
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

fn mesh_samples(surface: &Surface, frame: u32) -> String {
    let mut text = String::new();
    let speeds: Vec<f32> = surface.velocities.iter().map(|v| v.length()).collect();
    sample(&mut text, "point3f[] points", frame, &vectors(&surface.positions));
    sample(&mut text, "vector3f[] velocities", frame, &vectors(&surface.velocities));
    sample(&mut text, "float[] primvars:speed", frame, &list(&speeds, |v| format!("{v:?}")));
    sample(&mut text, "float3[] extent", frame, &extent(&surface.positions));
    triangles(&mut text, &surface.triangles, |kind, values| {
        let mut text = String::new();
        sample(&mut text, &format!("int[] {kind}"), frame, &values);
        text
    });
    text
}

fn spray_samples(particles: &Particles, body: u16, frame: u32) -> String {
    let mine: Vec<usize> = (0..particles.len()).filter(|&i| particles.bodies[i] == body).collect();
    let positions: Vec<Vec3> = mine.iter().map(|&i| particles.positions[i]).collect();
    let velocities: Vec<Vec3> = mine.iter().map(|&i| particles.velocities[i]).collect();
    // As wide as a ball that holds what a particle holds.
    let width = particles.spacing * 1.2407;
    let mut text = String::new();
    sample(&mut text, "point3f[] points", frame, &vectors(&positions));
    sample(&mut text, "vector3f[] velocities", frame, &vectors(&velocities));
    sample(&mut text, "float[] widths", frame, &list(&mine, |_| format!("{width:?}")));
    sample(&mut text, "int64[] ids", frame, &list(&mine, |&i| particles.ids[i].to_string()));
    sample(&mut text, "float3[] extent", frame, &extent(&positions));
    text
}

fn sample(text: &mut String, attribute: &str, frame: u32, value: &str) {
    let _ = writeln!(text, "        {attribute}.timeSamples = {{ {frame}: {value} }}");
}

fn triangles(text: &mut String, triangles: &[[u32; 3]], line: impl Fn(&str, String) -> String) {
    text.push_str(&line("faceVertexCounts", list(triangles, |_| "3".into())));
    text.push_str(&line("faceVertexIndices", list(triangles.as_flattened(), u32::to_string)));
}

fn list<T>(values: &[T], one: impl Fn(&T) -> String) -> String {
    let mut text = String::with_capacity(12 * values.len() + 2);
    text.push('[');
    for (k, value) in values.iter().enumerate() {
        if k > 0 {
            text.push_str(", ");
        }
        text.push_str(&one(value));
    }
    text.push(']');
    text
}

fn vectors(values: &[Vec3]) -> String {
    list(values, |v| format!("({:?}, {:?}, {:?})", v.x, v.y, v.z))
}

/// Two corners round all points.
fn extent(points: &[Vec3]) -> String {
    let low = points.iter().copied().reduce(Vec3::min).unwrap_or_default();
    vectors(&[low, points.iter().copied().reduce(Vec3::max).unwrap_or_default()])
}

/// All surfaces of a body as one.
fn joined(frame: &Frame, body: u16) -> Surface {
    let mut all = Surface { body, ..Surface::default() };
    for surface in frame.surfaces.iter().filter(|surface| surface.body == body) {
        let shift = all.positions.len() as u32;
        all.positions.extend_from_slice(&surface.positions);
        all.velocities.extend_from_slice(&surface.velocities);
        all.triangles.extend(surface.triangles.iter().map(|triangle| triangle.map(|corner| corner + shift)));
    }
    all
}

/// Rotation and shift that carry the points of a rigid body from one frame to another, found from the three of them that span
/// most: the first, the farthest from it, and the farthest from their line.
fn carry(from: &[Vec3], to: &[Vec3]) -> (DMat3, DVec3) {
    let still = (DMat3::IDENTITY, DVec3::ZERO);
    if from.len() != to.len() || from.is_empty() {
        return still;
    }
    let at = |points: &[Vec3], i: usize| points[i].as_dvec3();
    let farthest = |measure: &dyn Fn(DVec3) -> f64| {
        (0..from.len()).max_by(|&i, &j| measure(at(from, i)).total_cmp(&measure(at(from, j)))).unwrap_or(0)
    };
    let a = at(from, 0);
    let second = farthest(&|p| (p - a).length_squared());
    let axis = at(from, second) - a;
    let third = farthest(&|p| (p - a).cross(axis).length_squared());
    let frame = |points: &[Vec3]| {
        let x = (at(points, second) - at(points, 0)).try_normalize()?;
        let z = x.cross(at(points, third) - at(points, 0)).try_normalize()?;
        Some(DMat3::from_cols(x, z.cross(x), z))
    };
    match (frame(from), frame(to)) {
        (Some(before), Some(after)) => {
            let turn = after * before.transpose();
            (turn, at(to, 0) - turn * a)
        }
        _ => still,
    }
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

    /// A turn by 0.7 about (1, 2, 3) and a shift are found again from what they do to points.
    #[test]
    fn where_a_rigid_body_is_comes_from_its_points() {
        let turn = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7);
        let shift = DVec3::new(0.4, -2.0, 1.5);
        let points: Vec<Vec3> =
            (0..8).map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32)).collect();
        let moved: Vec<Vec3> = points.iter().map(|p| (turn * p.as_dvec3() + shift).as_vec3()).collect();
        let (found, by) = carry(&points, &moved);
        assert!((found - turn).to_cols_array().iter().all(|x| x.abs() < 1e-6), "{found}");
        assert!((by - shift).length() < 1e-6, "{by}");
        assert_eq!(carry(&points, &[]).1, DVec3::ZERO);
        assert_eq!(carry(&[Vec3::ONE; 3], &[Vec3::X; 3]).0, DMat3::IDENTITY);
    }

    #[test]
    fn what_is_not_there_is_an_empty_mesh() {
        let text = mesh_samples(&Surface::default(), 7);
        assert!(text.contains("point3f[] points.timeSamples = { 7: [] }"), "{text}");
        assert!(text.contains("int[] faceVertexIndices.timeSamples = { 7: [] }"), "{text}");
    }
}
