//! Which method reads which key: one table for the check of scene files, live parameters, JSON schema and book.
//!
//! A row holds for its key and all that is in it, unless a longer row says otherwise; `*` stands for any name or number. What the
//! chosen method does not read is refused, with the line and the methods that can.

use crate::model::Method;
use crate::schema;
use toml_edit::{Item, Table, TableLike, Value};

/// What a key is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// What is simulated: a method that does not read it simulates something else.
    Physics,
    /// How a solver works: other solvers have other settings.
    Solver,
}

/// A key, and the methods that read it.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The key, with `*` for names and numbers.
    pub key: &'static str,
    /// Methods that read it.
    pub methods: &'static [Method],
    /// What it is about.
    pub about: About,
    /// Why other methods do not read it, or what they read instead; empty if all do.
    pub why: &'static str,
}

use Method::{Connections as C, Gauss as G, Twophase as T, Unified as U};

const ALL: &[Method] = &Method::ALL;
const PARTICLES: &[Method] = &[G, U, C];

const fn physics(key: &'static str, methods: &'static [Method], why: &'static str) -> Row {
    Row { key, methods, about: About::Physics, why }
}

const fn solver(key: &'static str, methods: &'static [Method], why: &'static str) -> Row {
    Row { key, methods, about: About::Solver, why }
}

/// The table.
pub const ROWS: &[Row] = &[
    physics("", ALL, ""),
    solver("sph", PARTICLES, "the grid has its own table, `twophase`"),
    solver("sph.position_correction", &[G], "is for liquid among walls alone"),
    solver("coupling", &[G, U], "only these meet surfaces of bodies through integrals"),
    solver("coupling.preset", &[G], "its liquid, that of MCG03, is not for solids of particles"),
    solver("twophase", &[T], "it is the table of the grid; particles have `sph`"),
    solver("time.courant", PARTICLES, "the grid has `twophase.courant`"),
    solver("surface", PARTICLES, "frames of the grid hold its interface; `meniscus export` writes it"),
    physics("periodic", PARTICLES, "on the grid, sides of `twophase.sides` are periodic"),
    physics("liquid.*.contact_angle", PARTICLES, "the grid's surface stands at 90 degrees on walls"),
    physics("solid", PARTICLES, "elasticity beside air and water is missing: the grid knows walls, at rest or moved"),
    solver("solid.*.model", &[G], "it is the energy of tetrahedra; solids of particles have their own"),
    solver("solid.*.fem", &[G], "it is of tetrahedra"),
    physics("solid.*.poisson", &[G, U], "springs on a lattice have 1/4"),
    physics("solid.*.porosity", &[U], "liquid enters solids in no other method"),
    physics("solid.*.permeability", &[U], "liquid enters solids in no other method"),
    physics("solid.*.suction", &[U], "liquid enters solids in no other method"),
    physics("solid.*.mass_damping", &[G], "the others have `stiffness_damping` alone"),
    physics("solid.*.plasticity", &[G, U], "springs do not yield"),
    physics("solid.*.plasticity.keep_volume", &[G], "solids of particles keep their volume as they yield"),
    physics("solid.*.fracture", &[G], "only solids of tetrahedra break"),
    physics("solid.*.fixed.*.axes", &[G, U], "particles of springs are held along all axes"),
    physics("solid.*.fixed.*.motion", &[G, U], "particles of springs are held where they are"),
    physics(
        "rigid",
        PARTICLES,
        "bodies that float in air and water are missing: the grid knows walls, at rest or moved",
    ),
    physics("rigid.*.friction", &[G, U], "bodies of particles have `contact.friction` for all"),
    physics("rigid.*.restitution", &[G, U], "connections have `connections.damping_ratio`"),
    physics("rigid.*.motion", &[G, U], "rigid bodies of particles are free; let a wall move"),
    physics("rigid.*.locked", &[G, U], "rigid bodies of particles are free"),
    physics("body", &[G, C], "bodies of springs are those of the method \"connections\"; write `solid` or `rigid`"),
    solver("connections", &[G, C], "only bodies of particles meet through connections"),
    solver("connections.liquid_modulus", &[C], "with \"gauss\", liquid meets the skins of bodies"),
    physics("contact", &[G], "it is of tetrahedra, but for its friction"),
    physics("contact.friction", PARTICLES, "the grid has no bodies"),
    physics("pull", PARTICLES, "the grid has no bodies"),
    physics("wall.*.friction.viscosity", PARTICLES, "walls of the grid are \"slip\" or \"no-slip\""),
    physics("emitter", PARTICLES, "sides of the grid have inflows, `twophase.sides`"),
    physics("drain", PARTICLES, "sides of the grid can be open, `twophase.sides`"),
    physics("probe.*.solid", PARTICLES, "the grid has no bodies"),
    physics("script.*.command.grab", PARTICLES, "the grid has no bodies"),
    physics("script.*.command.move", PARTICLES, "the grid has no bodies"),
    physics("script.*.command.release", PARTICLES, "the grid has no bodies"),
];

impl Row {
    /// Whether a method reads the key.
    #[must_use]
    pub fn is_read_by(&self, method: Method) -> bool {
        self.methods.contains(&method)
    }

    fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.key.split('.').filter(|part| !part.is_empty())
    }

    /// Whether it is about a key or something around it.
    fn covers(&self, path: &[String]) -> bool {
        let depth = self.parts().count();
        depth <= path.len() && self.parts().zip(path).all(|(part, key)| part == "*" || part == key)
    }
}

/// The row that says who reads a key.
#[must_use]
pub fn row(path: &[String]) -> &'static Row {
    let covering = ROWS.iter().filter(|row| row.covers(path));
    covering.max_by_key(|row| row.parts().count()).unwrap_or(&ROWS[0])
}

/// Whether a method reads a key such as `liquid.water.contact_angle`.
#[must_use]
pub fn reads(method: Method, key: &str) -> bool {
    row(&key.split('.').map(str::to_owned).collect::<Vec<_>>()).is_read_by(method)
}

/// A key of a file that its method does not read.
#[derive(Debug, Clone)]
pub(crate) struct Unread {
    pub(crate) path: Vec<String>,
    pub(crate) row: &'static Row,
    /// Whether all of it has its default: then nothing is lost.
    pub(crate) is_default: bool,
}

impl Unread {
    /// Why, and what would be right.
    pub(crate) fn message(&self, method: Method) -> String {
        format!("is not read by the method \"{}\": {}", method.name(), self.row.why)
    }

    pub(crate) fn advice(&self) -> String {
        format!("methods that read `{}`: {}", self.row.key, names(self.row.methods))
    }
}

/// Names of methods in a row.
#[must_use]
pub fn names(methods: &[Method]) -> String {
    methods.iter().map(|method| method.name()).collect::<Vec<_>>().join(", ")
}

/// All keys of a file that a method does not read; settings of solvers may be there for `others`, with which the scene is compared.
pub(crate) fn unread(root: &Item, method: Method, others: &[Method]) -> Vec<Unread> {
    let mut found = Vec::new();
    visit(root, &mut Vec::new(), &mut |path, item| {
        let row = row(path);
        let elsewhere = row.about == About::Solver && others.iter().any(|&other| row.is_read_by(other));
        if row.is_read_by(method) || elsewhere {
            return true;
        }
        // What is in a table of the file is told key by key, for some of it may be read.
        if path.len() == 1 && !is_leaf(item) {
            return true;
        }
        found.push(Unread { path: path.to_vec(), row, is_default: is_default(item, path) });
        false
    });
    found
}

fn is_leaf(item: &Item) -> bool {
    item.as_table_like().is_none() && item.as_array_of_tables().is_none()
}

type Visit<'a> = dyn FnMut(&[String], &Item) -> bool + 'a;

/// Calls `each` for everything in an item, from the outside in, as long as it says so.
fn visit(item: &Item, path: &mut Vec<String>, each: &mut Visit) {
    let mut go = |path: &mut Vec<String>, key: String, item: &Item| {
        path.push(key);
        if each(path, item) {
            visit(item, path, each);
        }
        path.pop();
    };
    if let Some(table) = item.as_table_like() {
        table.iter().for_each(|(key, item)| go(path, key.to_owned(), item));
    } else if let Some(tables) = item.as_array_of_tables() {
        tables.iter().enumerate().for_each(|(k, table)| go(path, k.to_string(), &Item::Table(table.clone())));
    } else if let Some(array) = item.as_array() {
        array.iter().enumerate().for_each(|(k, value)| go(path, k.to_string(), &Item::Value(value.clone())));
    }
}

/// Whether everything in an item has the value that it has if it is left out.
fn is_default(item: &Item, path: &[String]) -> bool {
    if let Some(table) = item.as_table_like() {
        // What is not there by default means something by being there.
        let optional = schema::default_of(path).is_some_and(|default| default.is_null());
        return !optional && table.iter().all(|(key, item)| is_default(item, &[path, &[key.to_owned()]].concat()));
    }
    match (schema::default_of(path), item.as_value().map(to_json)) {
        (Some(default), Some(given)) => same(&default, &given),
        _ => false,
    }
}

fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::String(text) => text.value().clone().into(),
        Value::Integer(number) => (*number.value() as f64).into(),
        Value::Float(number) => (*number.value()).into(),
        Value::Boolean(flag) => (*flag.value()).into(),
        Value::Array(array) => array.iter().map(to_json).collect::<Vec<_>>().into(),
        Value::InlineTable(table) => {
            table.iter().map(|(key, value)| (key.to_owned(), to_json(value))).collect::<serde_json::Map<_, _>>().into()
        }
        Value::Datetime(_) => serde_json::Value::Null,
    }
}

/// Equal, be numbers written with a point or without.
fn same(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    match (a.as_array(), b.as_array()) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        _ => a == b || (a.is_number() && a.as_f64() == b.as_f64()),
    }
}

/// Takes out of a file the settings of solvers that a method does not read.
pub(crate) fn strip_settings(table: &mut Table, method: Method) {
    strip(table, method, |unread| unread.row.about == About::Solver);
}

/// Takes out of a file what a method does not read and what has its default anyway.
pub(crate) fn strip_defaults(table: &mut Table, method: Method) {
    strip(table, method, |unread| unread.is_default);
}

fn strip(table: &mut Table, method: Method, which: impl Fn(&Unread) -> bool) {
    for lost in unread(&Item::Table(table.clone()), method, &[]).iter().filter(|lost| which(lost)) {
        remove(table, &lost.path);
    }
}

fn remove(table: &mut dyn TableLike, path: &[String]) {
    match path {
        [] => {}
        [key] => drop(table.remove(key)),
        [key, rest @ ..] => {
            if let Some(inner) = table.get_mut(key).and_then(Item::as_table_like_mut) {
                remove(inner, rest);
            }
        }
    }
}

/// The page of the book: a table of keys and methods.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "# Keys and methods\n\nMade from the table in `crates/scene/src/support.rs`, which the check of scene files, live parameters and \
         `meniscus schema` read too. A row holds for its key and all that is in it, unless a longer row says otherwise. What the chosen method does \
         not read is refused, with its line; a setting of a solver (*) may stay for the methods that `compare` names.\n\n\
         | key | gauss | unified | connections | twophase | else |\n|---|---|---|---|---|---|\n",
    );
    for row in ROWS {
        let key = if row.key.is_empty() { "all others".to_owned() } else { format!("`{}`", row.key) };
        let star = if row.about == About::Solver { "*" } else { "" };
        let marks: Vec<&str> = ALL.iter().map(|&m| if row.is_read_by(m) { "yes" } else { "–" }).collect();
        page += &format!("| {key}{star} | {} | {} |\n", marks.join(" | "), row.why);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_key_of_the_scene_file() {
        for row in ROWS.iter().skip(1) {
            let path: Vec<String> = row.parts().map(|part| if part == "*" { "0" } else { part }.to_owned()).collect();
            assert!(schema::describe(&path).is_some(), "{}", row.key);
            assert!(!row.why.is_empty() && row.methods.len() < ALL.len(), "{}", row.key);
        }
    }

    #[test]
    fn the_longest_row_speaks() {
        assert!(reads(T, "wall.tank.motion") && !reads(T, "wall.tank.friction.viscosity"));
        assert!(reads(U, "contact.friction") && !reads(U, "contact.passes"));
        assert!(reads(C, "solid.a.young") && !reads(C, "solid.a.fixed.0.axes"));
        assert!(reads(T, "seconds"));
    }
}
