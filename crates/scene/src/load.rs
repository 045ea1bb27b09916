//! From a file, or a gallery scene, to a scene with its meshes.

use crate::error::SceneError;
use crate::model::animated::{Animated, LoadedAnimation};
use crate::model::bodies::BodyShape;
use crate::model::{Mesh, Method, Scene, Shape, SolidShape, WallShape, WetSide};
use crate::parse::{Settings, Source, parse_with_hints, span_of};
use glam::DVec3;
use meniscus_geometry::animation::Animation;
use meniscus_geometry::{
    Bvh, ImportOptions, LARGEST_SURFACE, MeshFileError, TetError, TetFile, TetMesh, TriangleMesh, parse_mesh,
    parse_msh, parse_tetgen, parse_vtk, parse_vtu, read_bytes,
};
use std::path::Path;
use std::sync::Arc;
use toml_edit::Document;

/// A scene with everything that it names.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Its name: the file name without `.toml`.
    pub name: String,
    /// The scene.
    pub scene: Scene,
    /// Mesh files as they were read.
    pub assets: Vec<Asset>,
    /// What the file says in an old way, or to no effect.
    pub hints: Vec<String>,
    meshes: Vec<(Mesh, TriangleMesh)>,
    tets: Vec<(Mesh, TetMesh)>,
    /// In the order of the scene's tables.
    animations: Vec<LoadedAnimation>,
}

type Read<'a> = &'a dyn Fn(&str) -> std::io::Result<Vec<u8>>;

/// A file that a scene names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// The path as the scene gives it.
    pub file: String,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
}

impl Loaded {
    /// Reads a scene file and the meshes that it names; relative paths start at the scene file.
    ///
    /// # Errors
    /// With file, line, the offending text and what would be right.
    pub fn from_file(path: &Path, overrides: &[String]) -> Result<Self, SceneError> {
        Self::from_file_with(path, &Settings::new(overrides))
    }

    /// The same with settings.
    ///
    /// # Errors
    /// With file, line, the offending text and what would be right.
    pub fn from_file_with(path: &Path, settings: &Settings) -> Result<Self, SceneError> {
        let text = read_text(path).map_err(|reason| SceneError::Unreadable { path: path.to_owned(), reason })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("scene");
        let read = |file: &str| read_asset(&folder.join(file));
        Self::with_settings(name, &path.display().to_string(), &text, settings, &read)
    }

    /// Reads a scene from text; `read` finds the files that it names, `shown` is the file name that errors show.
    ///
    /// # Errors
    /// With file, line, the offending text and what would be right.
    pub fn from_text(
        name: &str,
        shown: &str,
        text: &str,
        overrides: &[String],
        read: &dyn Fn(&str) -> std::io::Result<Vec<u8>>,
    ) -> Result<Self, SceneError> {
        Self::with_settings(name, shown, text, &Settings::new(overrides), read)
    }

    /// The same with settings.
    ///
    /// # Errors
    /// With file, line, the offending text and what would be right.
    pub fn with_settings(
        name: &str,
        shown: &str,
        text: &str,
        settings: &Settings,
        read: &dyn Fn(&str) -> std::io::Result<Vec<u8>>,
    ) -> Result<Self, SceneError> {
        let (scene, hints) = parse_with_hints(shown, text, settings)?;
        let (assets, meshes, tets, animations) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut loaded = Self { name: name.to_owned(), scene, assets, hints, meshes, tets, animations };
        for (path, mesh, use_as) in named_meshes(&loaded.scene) {
            if let Err(problem) = loaded.add(&mesh, use_as, read) {
                return Err(at_key(shown, text, &path, problem, MESH_FILES));
            }
        }
        for (name, table) in &loaded.scene.animated {
            let path = ["animated", name, "file"].map(str::to_owned);
            let animation = LoadedAnimation::new(table, read);
            loaded.animations.push(animation.map_err(|e| at_key(shown, text, &path, e, ANIMATION_FILES))?);
        }
        Ok(loaded)
    }

    fn add(&mut self, mesh: &Mesh, use_as: Use, read: Read<'_>) -> Result<(), String> {
        if use_as == Use::Tets {
            return self.add_tets(mesh, read);
        }
        let index = self.asset(&mesh.file, read)?;
        let options = ImportOptions { scale: mesh.scale, up: mesh.up };
        let mut surface =
            parse_mesh(Path::new(&mesh.file), &self.assets[index].bytes, &options).map_err(|e| e.to_string())?;
        let triangles = surface.triangles().len();
        if use_as == Use::Body && triangles > LARGEST_SURFACE {
            return Err(format!("mesh `{}`: {}", mesh.file, TetError::TooManyTriangles { triangles }));
        }
        let offset = DVec3::from_array(mesh.offset);
        surface.vertices_mut().iter_mut().for_each(|vertex| *vertex += offset);
        // An open surface has no outside; whether it may be open is for its use to say.
        if let Err(open) = surface.orient_outward()
            && use_as != Use::Surface
        {
            return Err(format!("mesh `{}`: {open}", mesh.file));
        }
        if use_as == Use::Body
            && let Some(crossing) = Bvh::new(&surface).self_crossing()
        {
            return Err(format!("mesh `{}`: {crossing}", mesh.file));
        }
        self.meshes.push((mesh.clone(), surface));
        Ok(())
    }

    fn add_tets(&mut self, mesh: &Mesh, read: Read<'_>) -> Result<(), String> {
        let options = ImportOptions { scale: mesh.scale, up: mesh.up };
        let path = Path::new(&mesh.file);
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_owned();
        let bad = |e: &dyn std::fmt::Display| format!("tetrahedra `{}`: {e}", mesh.file);
        let index = self.asset(&mesh.file, read)?;
        let bytes = &self.assets[index].bytes;
        let parsed: Result<TetFile, String> = match extension.to_ascii_lowercase().as_str() {
            "msh" => parse_msh(bytes, &options).map_err(|e| bad(&e)),
            "vtk" => parse_vtk(bytes, &options).map_err(|e| bad(&e)),
            "vtu" => parse_vtu(bytes, &options).map_err(|e| bad(&e)),
            "node" | "ele" => {
                let upper = extension.starts_with(['N', 'E']);
                let [node, ele] = if upper { ["NODE", "ELE"] } else { ["node", "ele"] };
                let other = |ending: &str| path.with_extension(ending).to_string_lossy().into_owned();
                let (node, ele) = (self.asset(&other(node), read)?, self.asset(&other(ele), read)?);
                parse_tetgen(&self.assets[node].bytes, &self.assets[ele].bytes, &options).map_err(|e| bad(&e))
            }
            _ => Err(bad(&"the file must end in .msh, .node, .ele, .vtk or .vtu")),
        };
        let file = parsed?.mesh;
        let offset = DVec3::from_array(mesh.offset);
        let moved = file.vertices().iter().map(|&vertex| vertex + offset).collect();
        self.tets.push((mesh.clone(), TetMesh::new(moved, file.tets().to_vec()).map_err(|e| bad(&e))?));
        Ok(())
    }

    /// The number of a file among the assets, read if it is new.
    fn asset(&mut self, file: &str, read: Read<'_>) -> Result<usize, String> {
        if let Some(index) = self.assets.iter().position(|asset| asset.file == file) {
            return Ok(index);
        }
        let bytes = read(file).map_err(|e| format!("cannot read mesh file `{file}`: {e}"))?;
        self.assets.push(Asset { file: file.to_owned(), bytes });
        Ok(self.assets.len() - 1)
    }

    /// The tetrahedra of a file that the scene names, in the world's coordinates.
    ///
    /// # Panics
    /// If the scene does not name it.
    #[must_use]
    pub fn tets(&self, mesh: &Mesh) -> &TetMesh {
        let found = self.tets.iter().find(|(named, _)| named == mesh);
        &found.unwrap_or_else(|| panic!("the scene does not name the tetrahedra {}", mesh.file)).1
    }

    /// The surface of a mesh that the scene names, in the world's coordinates, facing outwards.
    ///
    /// # Panics
    /// If the scene does not name it.
    #[must_use]
    pub fn mesh(&self, mesh: &Mesh) -> &TriangleMesh {
        let found = self.meshes.iter().find(|(named, _)| named == mesh);
        &found.unwrap_or_else(|| panic!("the scene does not name the mesh {}", mesh.file)).1
    }

    /// The animated meshes, with their names, in the order of the scene.
    pub fn animations(&self) -> impl ExactSizeIterator<Item = (&str, &Animated, &Arc<Animation>)> {
        let tables = self.scene.animated.iter().zip(&self.animations);
        tables.map(|((name, table), loaded)| (name.as_str(), table, &loaded.animation))
    }

    /// The scene with its mesh files renamed to `assets/…`, and those files: a folder that needs nothing else.
    #[must_use]
    pub fn self_contained(&self) -> (Scene, Vec<Asset>) {
        let mut scene = self.scene.clone();
        let rename = |file: &str| {
            // Files that differ in their endings only belong together.
            let stem = |file: &str| Path::new(file).with_extension("");
            let number = self.assets.iter().position(|asset| stem(&asset.file) == stem(file)).unwrap_or(0);
            let plain = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or("mesh");
            let prefix = format!("{number:02}-");
            // A folder that was made so keeps its names.
            format!("{prefix}{}", plain.strip_prefix(&prefix).unwrap_or(plain))
        };
        each_mesh_mut(&mut scene, |mesh| mesh.file = format!("assets/{}", rename(&mesh.file)));
        let mut assets: Vec<Asset> =
            self.assets.iter().map(|a| Asset { file: rename(&a.file), bytes: a.bytes.clone() }).collect();
        for (number, (table, loaded)) in scene.animated.values_mut().zip(&self.animations).enumerate() {
            let (file, files) = loaded.in_folder(number, table);
            table.file = format!("assets/{file}");
            assets.extend(files);
        }
        (scene, assets)
    }
}

/// Scene files larger than this are something else \[bytes\].
const LARGEST_SCENE: usize = 1 << 24;

fn read_asset(path: &Path) -> std::io::Result<Vec<u8>> {
    read_bytes(path).map_err(|error| match error {
        MeshFileError::Read { error, .. } => error,
        other => std::io::Error::other(other.to_string()),
    })
}

fn read_text(path: &Path) -> std::io::Result<String> {
    let bytes = read_asset(path)?;
    if bytes.len() > LARGEST_SCENE {
        return Err(std::io::Error::other(format!("{} bytes are too many for a scene", bytes.len())));
    }
    String::from_utf8(bytes).map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidData, "it is no UTF-8 text"))
}

/// What a mesh is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It must have an inside and not pass through itself.
    Body,
    /// It must have an inside.
    Solid,
    /// It may be open.
    Surface,
    /// It holds tetrahedra.
    Tets,
}

/// Every mesh that a scene names, with the path of its key and its use.
fn named_meshes(scene: &Scene) -> Vec<(Vec<String>, Mesh, Use)> {
    let mut found = Vec::new();
    let mut add = |path: Vec<String>, shape: &Shape| {
        if let Shape::Mesh(mesh) = shape {
            found.push((path, mesh.clone(), Use::Solid));
        }
    };
    let path = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    for (name, liquid) in &scene.liquid {
        for (index, shape) in liquid.fill.iter().enumerate() {
            add(path(&["liquid", name, "fill", &index.to_string(), "mesh", "file"]), shape);
        }
        for (index, shape) in liquid.cutouts.iter().enumerate() {
            add(path(&["liquid", name, "cutouts", &index.to_string(), "mesh", "file"]), shape);
        }
    }
    for (table, name, body) in scene.bodies() {
        for (index, region) in body.regions().into_iter().enumerate() {
            add(path(&[table, name, "fixed", &index.to_string(), "region", "mesh", "file"]), region);
        }
        if let BodyShape::Region(shape) = body.shape() {
            add(path(&[table, name, "shape", "mesh", "file"]), shape);
        }
    }
    for (name, drain) in &scene.drain {
        add(path(&["drain", name, "region", "mesh", "file"]), &drain.region);
    }
    for (table, name, body) in scene.bodies() {
        match body.shape() {
            BodyShape::Solid(SolidShape::Mesh(mesh)) => {
                found.push((path(&[table, name, "shape", "mesh", "file"]), mesh.clone(), Use::Body));
            }
            BodyShape::Solid(SolidShape::Tets(mesh)) => {
                found.push((path(&[table, name, "shape", "tets", "file"]), mesh.clone(), Use::Tets));
            }
            _ => {}
        }
    }
    for (name, wall) in &scene.wall {
        if let WallShape::Mesh(mesh) = &wall.shape {
            let one_sided = matches!(wall.wet, Some(WetSide::Outside | WetSide::Inside));
            // A grid knows no shells without a thickness.
            let one_sided = one_sided || scene.method == Method::Twophase;
            let use_as = if one_sided { Use::Solid } else { Use::Surface };
            found.push((path(&["wall", name, "shape", "mesh", "file"]), mesh.clone(), use_as));
        }
    }
    found
}

fn each_mesh_mut(scene: &mut Scene, mut each: impl FnMut(&mut Mesh)) {
    let fills = scene.liquid.values_mut().flat_map(|liquid| liquid.fill.iter_mut().chain(&mut liquid.cutouts));
    let drains = scene.drain.values_mut().map(|drain| &mut drain.region);
    fills.chain(drains).filter_map(Shape::mesh_mut).for_each(&mut each);
    scene.bodies_mut().flat_map(|body| body.meshes_mut()).for_each(&mut each);
    let walls = scene.wall.values_mut().filter_map(|wall| match &mut wall.shape {
        WallShape::Mesh(mesh) => Some(mesh),
        WallShape::Box(_) | WallShape::Plane(_) => None,
    });
    walls.for_each(each);
}

const MESH_FILES: &str = "a surface in an OBJ, STL or PLY file, closed where it is to be filled, or tetrahedra in a .msh, .ele, .vtk or .vtu file; a relative path starts at the scene file";

const ANIMATION_FILES: &str = "a glTF file (.glb, .gltf) with an animation, or a sequence of meshes such as \"frame_####.obj\" with the same triangles in every frame; a relative path starts at the scene file";

fn at_key(shown: &str, text: &str, path: &[String], message: String, help: &str) -> SceneError {
    let source = Source::new(shown, text);
    let span = Document::parse(text).ok().and_then(|document| span_of(document.as_item(), path));
    source.error_of(path, &message, span.unwrap_or(0..0), Some(help.into()))
}
