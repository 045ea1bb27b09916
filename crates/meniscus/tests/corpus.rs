//! The fuzz targets over a bounded corpus: the committed seeds, their truncations, and random mutations of them.

use meniscus::fuzz;
use std::path::Path;

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 11] = [
    ("scene", fuzz::scene),
    ("obj", fuzz::obj),
    ("stl", fuzz::stl),
    ("ply", fuzz::ply),
    ("glb", fuzz::glb),
    ("tets", fuzz::tets),
    ("frame", fuzz::frame),
    ("checkpoint", fuzz::checkpoint),
    ("sealed-frame", fuzz::sealed_frame),
    ("world", fuzz::world),
    ("commands", fuzz::commands),
];

/// Rounds of random mutations for each seed; `.ci/nightly` asks for more, with another start.
fn rounds() -> usize {
    std::env::var("MENISCUS_FUZZ_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1000)
}

fn start() -> u64 {
    std::env::var("PROPTEST_RNG_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Pieces that parsers trip over.
const PIECES: [&[u8]; 12] =
    [b"nan", b"inf", b"-1", b"99999999999999999999", b"[", b"]", b"{", b"\"", b"\n", b"=", b"\xff", b"[[script]]\n"];

fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        match random.below(4) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => {
                bytes.remove(at);
            }
            2 => bytes.truncate(at),
            _ => drop(bytes.splice(at..at, PIECES[random.below(PIECES.len())].iter().copied())),
        }
    }
    bytes
}

/// States that fit are mutated too: they are made anew, so that they fit this build.
#[test]
fn states_of_strangers_are_refused_or_loaded() {
    for number in 0..4 {
        let seed = fuzz::saved_world(number);
        assert!(seed.len() > 100, "a world of its own for {number}");
        let mut random = Random(start() ^ u64::from(number));
        fuzz::world(&seed);
        (0..rounds()).for_each(|_| fuzz::world(&mutate(&seed, &mut random)));
    }
}

#[test]
fn targets_survive_the_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, target) in TARGETS {
        let mut seeds: Vec<_> = std::fs::read_dir(corpus.join(name)).unwrap().map(|e| e.unwrap().path()).collect();
        seeds.sort();
        assert!(!seeds.is_empty(), "no seeds for {name}");
        for path in seeds {
            let seed = std::fs::read(&path).unwrap();
            let mut random = Random(start() ^ seed.len() as u64);
            target(&seed);
            (0..seed.len().min(400)).for_each(|len| target(&seed[..len]));
            (0..rounds()).for_each(|_| target(&mutate(&seed, &mut random)));
        }
    }
}
