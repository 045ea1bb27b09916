//! The gallery: one scene file per figure or phenomenon, embedded, so that an installed program has them all.
//!
//! The first line of each file is a comment that says what to look at.

/// A scene of the gallery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GalleryScene {
    /// Its name: the file name without `.toml`.
    pub name: &'static str,
    /// The text of the scene file.
    pub text: &'static str,
    /// Files that the scene names, with their contents.
    pub assets: &'static [(&'static str, &'static [u8])],
}

/// The vessel and what it holds.
const VESSEL: &[(&str, &[u8])] = &[
    ("assets/vessel.vtk", include_bytes!("../assets/vessel.vtk")),
    ("assets/vessel-blood.obj", include_bytes!("../assets/vessel-blood.obj")),
];

/// All scenes, in the order in which `meniscus list` shows them.
pub const GALLERY: &[GalleryScene] = &[
    GalleryScene { name: "dam-break", text: include_str!("../dam-break.toml"), assets: &[] },
    GalleryScene { name: "slosh", text: include_str!("../slosh.toml"), assets: &[] },
    GalleryScene { name: "float", text: include_str!("../float.toml"), assets: &[] },
    GalleryScene { name: "cube-drop", text: include_str!("../cube-drop.toml"), assets: &[] },
    GalleryScene { name: "stream", text: include_str!("../stream.toml"), assets: &[] },
    GalleryScene { name: "honey", text: include_str!("../honey.toml"), assets: &[] },
    GalleryScene { name: "two-liquids", text: include_str!("../two-liquids.toml"), assets: &[] },
    GalleryScene { name: "pool", text: include_str!("../pool.toml"), assets: &[] },
    GalleryScene { name: "floating-boxes", text: include_str!("../floating-boxes.toml"), assets: &[] },
    GalleryScene { name: "pool-fracture", text: include_str!("../pool-fracture.toml"), assets: &[] },
    GalleryScene { name: "vessel", text: include_str!("../vessel.toml"), assets: VESSEL },
    GalleryScene { name: "vessel-fine", text: include_str!("../vessel-fine.toml"), assets: VESSEL },
    GalleryScene { name: "vessel-injury", text: include_str!("../vessel-injury.toml"), assets: VESSEL },
    GalleryScene { name: "pool-10x", text: include_str!("../pool-10x.toml"), assets: &[] },
    GalleryScene { name: "beam", text: include_str!("../beam.toml"), assets: &[] },
    GalleryScene { name: "jelly-drop", text: include_str!("../jelly-drop.toml"), assets: &[] },
    GalleryScene {
        name: "bar-snap",
        text: include_str!("../bar-snap.toml"),
        assets: &[("assets/test-bar.obj", include_bytes!("../assets/test-bar.obj"))],
    },
    GalleryScene { name: "anvil", text: include_str!("../anvil.toml"), assets: &[] },
    GalleryScene { name: "clay", text: include_str!("../clay.toml"), assets: &[] },
    GalleryScene {
        name: "duck-drop",
        text: include_str!("../duck-drop.toml"),
        assets: &[("assets/duck.ply", include_bytes!("../assets/duck.ply"))],
    },
    GalleryScene {
        name: "duck-stream",
        text: include_str!("../duck-stream.toml"),
        assets: &[("assets/duck.ply", include_bytes!("../assets/duck.ply"))],
    },
    GalleryScene {
        name: "duck-sinks",
        text: include_str!("../duck-sinks.toml"),
        assets: &[("assets/duck.ply", include_bytes!("../assets/duck.ply"))],
    },
    GalleryScene {
        name: "duck-floats",
        text: include_str!("../duck-floats.toml"),
        assets: &[("assets/duck.ply", include_bytes!("../assets/duck.ply"))],
    },
    GalleryScene { name: "square-drop", text: include_str!("../square-drop.toml"), assets: &[] },
    GalleryScene { name: "droplets", text: include_str!("../droplets.toml"), assets: &[] },
    GalleryScene { name: "sponge", text: include_str!("../sponge.toml"), assets: &[] },
    GalleryScene { name: "dam-break-grid", text: include_str!("../dam-break-grid.toml"), assets: &[] },
    GalleryScene { name: "rising-bubbles", text: include_str!("../rising-bubbles.toml"), assets: &[] },
    GalleryScene { name: "drop-splash", text: include_str!("../drop-splash.toml"), assets: &[] },
    GalleryScene {
        name: "glug",
        text: include_str!("../glug.toml"),
        assets: &[
            ("assets/bottle.obj", include_bytes!("../assets/bottle.obj")),
            ("assets/bottle-water.obj", include_bytes!("../assets/bottle-water.obj")),
        ],
    },
    GalleryScene {
        name: "hand",
        text: include_str!("../hand.toml"),
        assets: &[("assets/hand.glb", include_bytes!("../assets/hand.glb"))],
    },
    GalleryScene {
        name: "swimmer",
        text: include_str!("../swimmer.toml"),
        assets: &[("assets/swimmer.glb", include_bytes!("../assets/swimmer.glb"))],
    },
    GalleryScene {
        name: "heart-bubbles",
        text: include_str!("../heart-bubbles.toml"),
        assets: &[("assets/heart.glb", include_bytes!("../assets/heart.glb"))],
    },
    GalleryScene {
        name: "heart-spurt",
        text: include_str!("../heart-spurt.toml"),
        assets: &[("assets/heart.glb", include_bytes!("../assets/heart.glb"))],
    },
    GalleryScene {
        name: "paddle",
        text: include_str!("../paddle.toml"),
        assets: &[("assets/wheel.obj", include_bytes!("../assets/wheel.obj"))],
    },
    GalleryScene {
        name: "plunge",
        text: include_str!("../plunge.toml"),
        assets: &[("assets/bell.obj", include_bytes!("../assets/bell.obj"))],
    },
    GalleryScene { name: "vat", text: include_str!("../vat.toml"), assets: &[] },
    GalleryScene { name: "vat-liquid", text: include_str!("../vat-liquid.toml"), assets: &[] },
    GalleryScene { name: "vat-100", text: include_str!("../vat-100.toml"), assets: &[] },
];

macro_rules! thumbnails {
    ($($name:literal),* $(,)?) => { &[$(($name, include_bytes!(concat!("../thumbnails/", $name, ".png")) as &[u8])),*] };
}

/// Small pictures (PNG, 256 × 144) of scenes, by name.
const THUMBNAILS: &[(&str, &[u8])] = thumbnails![
    "dam-break",
    "cube-drop",
    "slosh",
    "float",
    "stream",
    "honey",
    "two-liquids",
    "pool",
    "pool-fracture",
    "vessel",
    "vessel-fine",
    "vessel-injury",
    "pool-10x",
    "floating-boxes",
    "beam",
    "jelly-drop",
    "bar-snap",
    "anvil",
    "clay",
    "duck-drop",
    "duck-stream",
    "duck-sinks",
    "duck-floats",
    "square-drop",
    "droplets",
    "sponge",
    "dam-break-grid",
    "rising-bubbles",
    "drop-splash",
    "glug",
    "hand",
    "swimmer",
    "heart-bubbles",
    "heart-spurt",
    "paddle",
    "plunge",
    "vat",
    "vat-liquid",
    "vat-100",
];

/// The scene that runs when none is named.
pub const DEFAULT: &str = "pool";

/// Finds a scene by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static GalleryScene> {
    GALLERY.iter().find(|scene| scene.name == name)
}

impl GalleryScene {
    /// What to look at: the first line of the file.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim()
    }

    /// A small picture of it (PNG).
    #[must_use]
    pub fn thumbnail(&self) -> Option<&'static [u8]> {
        THUMBNAILS.iter().find(|(name, _)| *name == self.name).map(|(_, bytes)| *bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scene without one can be chosen all the same; the page leaves its place empty.
    #[test]
    fn every_scene_has_a_small_picture() {
        for scene in GALLERY {
            let name = scene.name;
            let png = scene.thumbnail().unwrap_or_else(|| {
                panic!(
                    "{name} has no picture. Make one: `meniscus run {name} --no-pictures`, `meniscus render out/{name} --set picture.width=256 \
                     --set picture.height=144 --set picture.legend=false --set picture.supersample=4`; copy the best of \
                     out/{name}/frame_*.png to scenes/thumbnails/{name}.png, and add the name to THUMBNAILS"
                )
            });
            let [width, height] = [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()));
            assert!(png.starts_with(b"\x89PNG") && (width, height) == (256, 144), "{name}: {width} x {height}");
            assert!(png.len() < 60_000, "{name}: {} bytes", png.len());
        }
    }

    #[test]
    fn every_file_is_in_the_gallery_and_says_what_to_look_at() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| {
                entry.unwrap().file_name().into_string().unwrap().strip_suffix(".toml").map(str::to_owned)
            })
            .filter(|name| name != "Cargo")
            .collect();
        files.sort();
        let mut names: Vec<&str> = GALLERY.iter().map(|scene| scene.name).collect();
        names.sort_unstable();
        assert_eq!(files, names);
        for scene in GALLERY {
            assert!(scene.text.starts_with("# ") && scene.summary().len() > 20, "{}", scene.name);
        }
        assert!(find(DEFAULT).is_some() && find("no such scene").is_none());
    }
}
