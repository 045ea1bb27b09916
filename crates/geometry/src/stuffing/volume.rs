//! Matching a volume: by the level of the surface, and by small moves of its vertices.

use glam::DVec3;

use super::filling::Soup;
use crate::TetMesh;

/// Good enough as a part of the volume.
const TOLERANCE: f64 = 1e-3;
/// Vertices are not moved to where an angle becomes smaller than this \[degrees\].
const SMALLEST_ANGLE: f64 = 10.5;

/// The level \[m\], at most `farthest` \[m\] from the surface, at which what is inside has a volume \[m³\], and what is
/// inside it. Volumes grow with the level, but may jump.
pub(super) fn level_for(
    volume: f64,
    guess: f64,
    farthest: f64,
    tries: usize,
    fill: impl Fn(f64) -> Soup,
) -> (f64, Soup) {
    let error = |soup: &Soup| soup.volume() / volume - 1.0;
    let clamped = |level: f64| level.clamp(-farthest, farthest);
    let mut level = clamped(guess);
    let mut best = (level, fill(level));
    let mut best_error = error(&best.1);
    let mut last_error = best_error;
    let (mut low, mut high) = (-farthest, farthest);
    // The first step takes the area of a ball; then the last two volumes tell.
    let mut slope = libm::cbrt(36.0 * std::f64::consts::PI / volume);
    for _ in 1..tries {
        if best_error.abs() <= TOLERANCE {
            break;
        }
        if last_error < 0.0 {
            low = level;
        } else {
            high = level;
        }
        let guess = level - last_error / slope;
        let next = if guess > low && guess < high { guess } else { 0.5 * (low + high) };
        let soup = fill(next);
        let next_error = error(&soup);
        let measured = (next_error - last_error) / (next - level);
        if measured.is_finite() && measured > 0.0 {
            slope = measured;
        }
        (level, last_error) = (next, next_error);
        if next_error.abs() < best_error.abs() {
            (best, best_error) = ((next, soup), next_error);
        }
    }
    best
}

/// The mesh with its surface moved along the normals so that it has a volume \[m³\], unless angles would get too small.
pub(super) fn swollen(mesh: TetMesh, volume: f64) -> TetMesh {
    if (mesh.volume() / volume - 1.0).abs() <= TOLERANCE {
        return mesh;
    }
    let gradients = volume_gradients(&mesh);
    let mut moved = mesh.clone();
    for _ in 0..3 {
        // Moving every vertex by d along its normal adds d times the sum of their gradients.
        let area: f64 = gradients.iter().map(|g| g.length()).sum();
        let distance = (volume - moved.volume()) / area;
        let vertices = moved.vertices().iter().zip(&gradients).map(|(&v, g)| v + distance * g.normalize_or_zero());
        match TetMesh::new(vertices.collect(), mesh.tets().to_vec()) {
            Ok(next) => moved = next,
            Err(_) => return mesh,
        }
    }
    let kept_its_shape = moved.tets() == mesh.tets() && moved.quality().min_dihedral >= SMALLEST_ANGLE;
    if kept_its_shape { moved } else { mesh }
}

/// How the volume changes with each vertex \[m²\]: a third of the area vectors around it; zero inside.
fn volume_gradients(mesh: &TetMesh) -> Vec<DVec3> {
    let mut gradients = vec![DVec3::ZERO; mesh.vertices().len()];
    let surface = mesh.surface();
    for triangle in &surface {
        let corners = triangle.map(|v| mesh.vertices()[v as usize]);
        let area = crate::triangle::area_vector(corners);
        triangle.iter().for_each(|&v| gradients[v as usize] += area / 3.0);
    }
    gradients
}
