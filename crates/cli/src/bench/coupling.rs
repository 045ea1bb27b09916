//! Liquid and solids together: gallery scenes frame by frame, and a block in a tank with more and more triangles that stay dry.

use super::{Case, particles};
use meniscus::scene::Loaded;

/// `size` is in thousands of particles.
pub(super) const POOL: Case = Case {
    name: "coupling/pool",
    sizes: &[2],
    measure: |case, at| particles::gallery_scene(case, at, "pool", [15, 60]),
};

pub(super) const POOL_10X: Case = Case {
    name: "coupling/pool-10x",
    sizes: &[20],
    measure: |case, at| particles::gallery_scene(case, at, "pool-10x", [3, 12]),
};

pub(super) const VESSEL: Case = Case {
    name: "coupling/vessel",
    sizes: &[3],
    measure: |case, at| particles::gallery_scene(case, at, "vessel", [10, 30]),
};

/// A wet block, and `size` dry ones of the same mesh above the water: only the wet triangles should cost.
pub(super) const DRY: Case = Case {
    name: "coupling/dry-triangles",
    sizes: &[0, 4, 16, 64],
    measure: |case, at| {
        let text = blocks(at[0]);
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let loaded = Loaded::from_text("blocks", "blocks", &text, &[], &none)?;
        particles::measure(case, at, &loaded, [3, 10])
    },
};

fn blocks(dry: usize) -> String {
    let tank = "[sph]\nspacing = 0.05\n[liquid.water]\nfill = [{ box = { min = [-0.5, 0, -0.5], max = [0.5, 0.5, 0.5] } }]\n\
        [wall.tank]\nshape = { box = { min = [-0.5, 0, -0.5], max = [0.5, 1, 0.5], open = [\"+y\"] } }\n\
        [domain]\nmin = [-100, -1, -1]\nmax = [100, 10, 1]\n";
    let block = |name: String, [x, y]: [f64; 2]| {
        format!(
            "[rigid.{name}]\nshape = {{ sphere = {{ center = [{x:?}, {y:?}, 0], radius = 0.15 }} }}\nmotion = \"still\"\n"
        )
    };
    let wet = block("wet".into(), [0.0, 0.3]);
    let dry: String = (0..dry).map(|k| block(format!("dry{k}"), [k as f64 - 32.0, 3.0])).collect();
    format!("{tank}{wet}{dry}")
}
