//! Says what is in files of tetrahedra: `cargo run --release -p meniscus-geometry --example inspect -- FILE...`.

use meniscus_geometry::{ImportOptions, read_tets};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let file = match read_tets(&path, &ImportOptions::default()) {
            Ok(file) => file,
            Err(error) => {
                println!("{error}");
                continue;
            }
        };
        let (mesh, report, quality) = (&file.mesh, file.report, file.report.quality);
        println!(
            "{path}: {} tetrahedra, {} vertices, {:.6e} m³",
            mesh.tets().len(),
            mesh.vertices().len(),
            mesh.volume()
        );
        println!("  turned {}, reduced {}, pieces {}", report.turned, report.reduced, report.pieces);
        println!("  left out: {} other elements, {} nodes", report.other_elements, report.unused_nodes);
        println!(
            "  angles {:.1}° to {:.1}°, aspect {:.1}",
            quality.min_dihedral, quality.max_dihedral, quality.max_aspect
        );
        println!("  {} slivers, the worst is tetrahedron {}", quality.slivers, quality.worst);
        let mut regions = file.regions.clone();
        regions.sort_unstable();
        regions.dedup();
        println!("  regions {regions:?}, names {:?}", file.region_names);
    }
    Ok(())
}
