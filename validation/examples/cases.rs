//! Runs cases by name: `cargo run --release -p meniscus-validation --example cases -- zalesak [--fine]`.
use meniscus_validation::{CASES, Size};
fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let size = if names.iter().any(|n| n == "--fine") { Size::Fine } else { Size::Quick };
    for case in CASES.iter().filter(|c| names.iter().any(|n| n == c.name)) {
        let start = std::time::Instant::now();
        for row in (case.run)(size) {
            println!(
                "{} {:16} {:60} ref {:<12.6e} got {:<14.6e} err {:<10.3e} tol {:<10.3e}",
                if row.pass { "pass" } else { "FAIL" },
                row.case,
                row.quantity,
                row.reference,
                row.measured,
                row.error,
                row.tolerance
            );
        }
        println!("   {:.1} s", start.elapsed().as_secs_f64());
    }
}
