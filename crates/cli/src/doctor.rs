//! `doctor`: whether all is well with this program on this machine.

use crate::arguments::Doctor;
use crate::failure::Failure;
use crate::{machine, output};
use meniscus::gallery;
use meniscus::sim::World;
use serde::Serialize;
use std::process::ExitCode;

/// Digest of the gallery's dam break at spacing 0.05 after ten steps. A change of the physics changes it: `doctor` prints the new
/// one.
const AFTER_TEN_STEPS: &str = "2afad120286ab848c0c43397a31d146d";

/// One finding.
#[derive(Serialize)]
struct Finding {
    what: &'static str,
    found: String,
    well: bool,
}

impl Finding {
    fn fact(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, found: found.into(), well: true }
    }
}

pub(crate) fn doctor(arguments: &Doctor) -> Result<ExitCode, Failure> {
    let threads = machine::threads(None)?;
    let mut findings = vec![
        Finding::fact(
            "version",
            format!("{} for {}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS),
        ),
        Finding::fact("build", if cfg!(debug_assertions) { "debug: slow" } else { "release" }),
        Finding::fact("instructions", instructions()),
        Finding::fact("threads", threads.to_string()),
        Finding::fact(
            "memory",
            machine::free_memory().map_or("unknown".into(), |b| format!("{:.1} GB free", b as f64 / 1e9)),
        ),
        Finding::fact(
            "browser",
            if crate::play::browser().is_some() { "opened by itself" } else { "no screen: the link is printed" },
        ),
        may_write(),
    ];
    findings.extend(self_test(threads)?);
    let well = findings.iter().all(|finding| finding.well);
    if arguments.json {
        output::print_json(&findings)?;
    } else {
        for Finding { what, found, well } in &findings {
            say!("  {what:12} {found}{}", if *well { "" } else { "   <- not as it should be" });
        }
        say!("  {}", if well { "all is well" } else { "something is wrong" });
    }
    Ok(ExitCode::from(u8::from(!well)))
}

/// The widest instructions that the hot loops can use here.
fn instructions() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    return if std::is_x86_feature_detected!("avx2") { "AVX2" } else { "SSE2" };
    #[cfg(target_arch = "aarch64")]
    return "NEON";
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return "scalar";
}

/// Whether a run could make its folder here.
fn may_write() -> Finding {
    let path = std::path::Path::new(".").join(format!(".meniscus-doctor-{}", std::process::id()));
    let result = std::fs::create_dir(&path).and_then(|()| std::fs::remove_dir(&path));
    let found =
        result.as_ref().map_or_else(|error| format!("not in this folder: {error}"), |()| "in this folder".into());
    Finding { what: "may write", found, well: result.is_ok() }
}

/// Ten steps on one thread and on all: the same bits, and those that are known.
fn self_test(threads: usize) -> Result<[Finding; 2], Failure> {
    let loaded = gallery::load("dam-break", &["sph.spacing=0.05".into()])?;
    let digest = |threads: usize| -> Result<String, Failure> {
        machine::in_pool(threads, || {
            let mut world = World::new(&loaded)?;
            for _ in 0..10 {
                world.step(f64::INFINITY).map_err(meniscus::RunError::from)?;
            }
            Ok::<_, Failure>(world.digest())
        })?
    };
    let (one, all) = (digest(1)?, digest(threads.max(2))?);
    let same = if one == all {
        "one thread and several: the same bits".into()
    } else {
        format!("{one} on one, {all} on several")
    };
    Ok([
        Finding { what: "threads agree", found: same, well: one == all },
        Finding { what: "self-test", found: format!("digest {one}"), well: one == AFTER_TEN_STEPS },
    ])
}
