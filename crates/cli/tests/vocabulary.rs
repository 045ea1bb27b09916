//! Names are the field's own words, and equations that the code cites are in the book.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Words that are no names any more in `crates/*/src`; `docs/src/notation.md` says what stands for them. Who renames a word adds it
/// in both places.
const GONE: &[&str] = &[
    "pos",
    "vel",
    "acc",
    "dens",
    "idx",
    "cnt",
    "tmp",
    "smoothing_length",
    "smoothing_radius",
    "kernel_radius",
    "particle_radius",
    "num_particles",
    "timestep",
    "time_step",
    "delta_t",
    "youngs_modulus",
    "poisson_ratio",
    "levelset",
    "vof",
    "utils",
    "helpers",
    "misc",
    "Manager",
    "Answer",
    "StepAnswer",
    "Yields",
    "yielding",
    "mobility",
    "Thick",
    "eddies",
    "Sight",
    "Pushing",
    "deficit",
    "Around",
    "Drops",
    "Pitch",
    "Lane",
    "is_led",
    "MOST",
    "NEAR",
    "SEEN",
    "LOOSE",
    "ENOUGH",
    "KEPT",
];

/// Chapters that state their problem as numbered equations.
const CHAPTERS: [&str; 5] = ["air-and-water", "solids", "liquid", "unified", "particle-bodies"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All Rust files of our crates with their text, tests aside.
fn sources() -> Vec<(PathBuf, String)> {
    fn visit(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                visit(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    for room in fs::read_dir(root().join("crates")).unwrap() {
        visit(&room.unwrap().path().join("src"), &mut found);
    }
    assert!(found.len() > 100, "only {} files", found.len());
    found
}

/// Identifiers of a line, without comments and texts between quotes.
fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    let outside = code.split('"').step_by(2);
    outside.flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_')).filter(|word| !word.is_empty())
}

#[test]
fn words_that_are_gone_do_not_come_back() {
    let gone: BTreeSet<&str> = GONE.iter().copied().collect();
    for (path, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = identifiers(line).find(|word| gone.contains(word)) {
                panic!("{}:{}: `{word}`; docs/src/notation.md has the word for it", path.display(), number + 1);
            }
        }
    }
}

#[test]
fn the_test_of_words_can_fail() {
    let words: Vec<&str> = identifiers("let pos = idx.max(2); // vel \"dens\"").collect();
    assert_eq!(words, ["let", "pos", "idx", "max", "2"]);
    assert_eq!(identifiers("let s = \"vel\" + acc;").collect::<Vec<_>>(), ["let", "s", "acc"]);
}

/// The table of words that are gone says the same as the list here.
#[test]
fn the_vocabulary_lists_what_is_gone() {
    let page = fs::read_to_string(root().join("docs/src/notation.md")).unwrap();
    let table = page.split("| gone | the word is |").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    let first = table.lines().filter_map(|line| line.split('|').nth(1));
    let listed: BTreeSet<&str> = first.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert_eq!(listed, GONE.iter().copied().collect());
}

/// Numbers of the equations of a chapter.
fn equations(chapter: &str) -> Vec<usize> {
    let path = root().join("docs/src").join(format!("{chapter}.md"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let tags = text.split("\\tag{").skip(1).filter_map(|rest| rest.split('}').next());
    tags.map(|number| number.parse().unwrap()).collect()
}

#[test]
fn equations_are_numbered_and_the_code_cites_them() {
    let sources = sources();
    for chapter in CHAPTERS {
        let numbers = equations(chapter);
        assert!(numbers.len() >= 5 && numbers.iter().copied().eq(1..=numbers.len()), "{chapter}: {numbers:?}");
        let mark = format!(" of docs/src/{chapter}.md");
        let cited = sources.iter().any(|(_, text)| text.contains(&mark));
        assert!(cited, "no code cites an equation of {chapter}");
    }
    for (path, text) in &sources {
        for (before, after) in text.split(") of docs/src/").zip(text.split(") of docs/src/").skip(1)) {
            let number = before.rsplit('(').next().and_then(|n| n.parse::<usize>().ok());
            let chapter = after.split(".md").next().unwrap();
            let known = number.is_some_and(|number| equations(chapter).contains(&number));
            assert!(known, "{} cites ({number:?}) of {chapter}", path.display());
        }
    }
}
