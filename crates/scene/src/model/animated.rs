//! Animated meshes in a scene file: an animator's surface that moves by itself and does not answer.

use crate::load::Asset;
use crate::model::{Method, Scene, Vector};
use crate::validate::Checks;
use glam::{DQuat, DVec3};
use meniscus_boundary::Friction;
use meniscus_core::Material;
use meniscus_geometry::animation::{Animation, AnimationOptions, Playback, Wetting, load_animation};
use meniscus_geometry::{ImportOptions, UpAxis};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

/// A mesh whose vertices move over time, from a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Animated {
    /// glTF (.glb, .gltf), or a sequence of meshes with one # for each digit of the frame's number, such as "frame_####.obj" (.ply, .stl); a
    /// relative path starts at the scene file.
    pub file: String,
    /// Name of the animation in a glTF file, default the first.
    #[serde(default)]
    pub animation: Option<String>,
    /// Frames per second of a sequence \[1/s\], default 24; glTF files have their own times.
    #[serde(default = "fps")]
    pub fps: f64,
    /// Metres per unit of the file, default 1.
    #[serde(default = "one")]
    pub scale: f64,
    /// The axis that points up in the file, default "y".
    #[serde(default)]
    pub up: UpAxis,
    /// Turned about the file's origin: axis times angle \[degrees\], default \[0, 0, 0\].
    #[serde(default)]
    pub rotation: Vector,
    /// Where the file's origin comes to lie \[m\], default \[0, 0, 0\].
    #[serde(default)]
    pub position: Vector,
    /// How it is carried along while it is played \[m/s\], default \[0, 0, 0\].
    #[serde(default)]
    pub velocity: Vector,
    /// Time of the scene at which it begins to move \[s\], default 0.
    #[serde(default)]
    pub start: f64,
    /// Seconds of the file per second of the scene, dimensionless, default 1.
    #[serde(default = "one")]
    pub speed: f64,
    /// First time that is played, in the file \[s\], default that of the first key.
    #[serde(default)]
    pub from: Option<f64>,
    /// Last time that is played, in the file \[s\], default that of the last key.
    #[serde(default)]
    pub until: Option<f64>,
    /// How often it is played, dimensionless, default 1. Afterwards it stands still.
    #[serde(default = "one")]
    pub cycles: f64,
    /// Whether it is played for ever, default false.
    #[serde(default, rename = "loop")]
    pub forever: bool,
    /// Whether it is a body with an inside, "closed", or a "shell" with fluid on both sides; default: a shell if it has holes of more than 1 %
    /// of its area.
    #[serde(default)]
    pub wetting: Option<MeshWetting>,
    /// To which side of its triangles a shell is thick, "centred", "inside" or "outside", default "centred": the other side keeps its
    /// place.
    #[serde(default)]
    pub side: ShellSide,
    /// Friction with the liquid: "slip", "no-slip", or { viscosity = … } \[Pa·s\] for particles; default "slip".
    #[serde(default)]
    pub friction: Friction,
    /// Red, green, blue, 0 to 1, default \[0.8, 0.62, 0.5\].
    #[serde(default = "color")]
    pub color: Vector,
    /// What it looks like in `final` pictures: "rubber", "tissue", "glass", "tile", "wood" or "stone"; default "rubber".
    #[serde(default)]
    pub material: Option<Material>,
}

fn one() -> f64 {
    1.0
}

fn fps() -> f64 {
    24.0
}

fn color() -> Vector {
    [0.8, 0.62, 0.5]
}

/// On how many sides a mesh is wetted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeshWetting {
    /// On one: it is a body with an inside.
    Closed,
    /// On both.
    Shell,
}

/// To which side of its triangles a shell is thick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShellSide {
    /// To both, half of its thickness each.
    #[default]
    Centred,
    /// Against the normals.
    Inside,
    /// Along the normals.
    Outside,
}

impl Animated {
    /// A file, everything else as it is by default.
    #[must_use]
    pub fn new(file: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            animation: None,
            fps: fps(),
            scale: 1.0,
            up: UpAxis::default(),
            rotation: [0.0; 3],
            position: [0.0; 3],
            velocity: [0.0; 3],
            start: 0.0,
            speed: 1.0,
            from: None,
            until: None,
            cycles: 1.0,
            forever: false,
            wetting: None,
            side: ShellSide::default(),
            friction: Friction::default(),
            color: color(),
            material: None,
        }
    }

    fn options(&self) -> AnimationOptions {
        let turn = DVec3::from_array(self.rotation).map(f64::to_radians);
        let &Self { start, speed, from, until, .. } = self;
        let cycles = if self.forever { f64::INFINITY } else { self.cycles };
        AnimationOptions {
            import: ImportOptions { scale: self.scale, up: self.up },
            position: DVec3::from_array(self.position),
            rotation: DQuat::from_scaled_axis(turn),
            velocity: DVec3::from_array(self.velocity),
            playback: Playback { start, speed, from, until, cycles },
            fps: self.fps,
            animation: self.animation.clone(),
            joints: Vec::new(),
            wetting: self.wetting.map(|wetting| match wetting {
                MeshWetting::Closed => Wetting::Closed,
                MeshWetting::Shell => Wetting::Shell,
            }),
        }
    }
}

/// An animation with the files that it was read from.
#[derive(Debug, Clone)]
pub(crate) struct LoadedAnimation {
    pub(crate) animation: Arc<Animation>,
    files: Vec<Asset>,
}

impl LoadedAnimation {
    /// Reads the files of a table.
    pub(crate) fn new(table: &Animated, read: &dyn Fn(&str) -> std::io::Result<Vec<u8>>) -> Result<Self, String> {
        let files: RefCell<Vec<Asset>> = RefCell::default();
        let noted = |file: &str| {
            let bytes = read(file)?;
            let mut files = files.borrow_mut();
            if files.iter().all(|asset| asset.file != file) {
                files.push(Asset { file: file.to_owned(), bytes: bytes.clone() });
            }
            Ok(bytes)
        };
        let animation = load_animation(&table.file, &table.options(), &noted).map_err(|e| e.to_string())?;
        Ok(Self { animation: Arc::new(animation), files: files.into_inner() })
    }

    /// Its files in a folder of their own, so that they find each other by the names that they have.
    pub(crate) fn in_folder(&self, number: usize, table: &Animated) -> (String, Vec<Asset>) {
        let home = Path::new(&table.file).parent().unwrap_or(Path::new(""));
        let name = |file: &str| {
            let own = Path::new(file).strip_prefix(home).unwrap_or(Path::new(file));
            format!("animated-{number}/{}", own.to_string_lossy().replace('\\', "/"))
        };
        let moved = |asset: &Asset| Asset { file: name(&asset.file), bytes: asset.bytes.clone() };
        (name(&table.file), self.files.iter().map(moved).collect())
    }
}

impl Checks {
    /// The numbers of an animated mesh.
    pub(crate) fn animated(&mut self, table: &Animated, scene: &Scene) {
        self.require("file", !table.file.is_empty(), "must name a file");
        self.range("fps", table.fps, [1e-3, 1e6]);
        self.positive("scale", table.scale);
        self.range("speed", table.speed, [1e-9, 1e6]);
        self.positive("cycles", table.cycles);
        self.require("cycles", !table.forever || table.cycles == 1.0, "has no meaning with loop = true");
        self.color("color", table.color);
        if let (Some(from), Some(until)) = (table.from, table.until) {
            self.require("until", until > from, format!("must come after from = {from}, not {until}"));
        }
        if let Friction::Viscosity(viscosity) = table.friction {
            self.within(["friction"], |c| c.not_negative("viscosity", viscosity));
            let known = scene.method != Method::Twophase;
            self.require("friction", known, "must be \"slip\" or \"no-slip\" with \"twophase\"");
        }
        let grid = scene.method == Method::Twophase;
        let shell = table.wetting == Some(MeshWetting::Shell);
        self.require("wetting", grid || !shell, "can be \"shell\" with \"twophase\" only: particles need an inside");
        let side = grid || table.side == ShellSide::Centred;
        self.require("side", side, "is of shells, which only \"twophase\" has");
    }
}
