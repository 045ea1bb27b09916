//! From text to a scene.

use crate::error::SceneError;
use crate::model::{Method, Scene};
use crate::schema::{self, KeyInfo};
use crate::validate::{self, Problem};
use crate::{spelling, support};
use meniscus_sph::{BodyWall, CouplingPreset, Distribution, KernelFamily, PressureSolver};
use miette::NamedSource;
use std::ops::Range;
use std::sync::Arc;
use toml_edit::{Document, DocumentMut, Item, TableLike, Value};

/// What goes before what a file says.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `key=value` settings.
    pub set: Vec<String>,
    /// The method instead of the file's: settings of solvers that it does not read are left out.
    pub method: Option<Method>,
}

impl Settings {
    /// `key=value` settings alone.
    #[must_use]
    pub fn new(set: &[String]) -> Self {
        Self { set: set.to_vec(), method: None }
    }
}

/// Reads a scene from text. `name` is the file name that errors show; `overrides` are `key=value` settings that go before
/// what the text says.
///
/// # Errors
/// With file, line, the offending text and what would be right.
pub fn parse(name: &str, text: &str, overrides: &[String]) -> Result<Scene, SceneError> {
    parse_with_hints(name, text, &Settings::new(overrides)).map(|(scene, _)| scene)
}

/// The same, and what the file says in an old way, or to no effect.
///
/// # Errors
/// With file, line, the offending text and what would be right.
pub fn parse_with_hints(name: &str, text: &str, settings: &Settings) -> Result<(Scene, Vec<String>), SceneError> {
    let (merged, mut hints) = merge(name, text, settings)?;
    let source = Source { text: &merged, settings: &settings.set, ..Source::new(name, text) };
    let document = Document::parse(merged.as_str())
        .map_err(|e| source.error(e.message(), e.span().unwrap_or(0..0), Some("this is not TOML".into())))?;
    refuse_infinite(&source, &document)?;
    let mut scene: Scene = toml::from_str(&merged).map_err(|e| explain(&source, &document, &e))?;
    hints.extend(refuse_unread(&source, &document, &scene)?);
    settle(&mut scene, document.as_item());
    match validate::check(&scene) {
        None => Ok((scene, hints)),
        Some(problem) => Err(place(&source, &document, &problem)),
    }
}

/// Refuses what the method does not read; what is said to no effect, because it is so anyway, is returned.
fn refuse_unread(source: &Source, document: &Document<&str>, scene: &Scene) -> Result<Vec<String>, SceneError> {
    let unread = support::unread(document.as_item(), scene.method, &scene.compare);
    if let Some(first) = unread.iter().find(|unread| !unread.is_default) {
        let span = span_of(document.as_item(), &first.path);
        let message = format!("`{}` {}", first.path.join("."), first.message(scene.method));
        return Err(source.error_of(&first.path, &message, span.unwrap_or(0..0), Some(first.advice())));
    }
    let mut keys: Vec<&str> = unread.iter().map(|unread| unread.row.key).collect();
    keys.dedup();
    Ok(keys.iter().map(|key| format!("`{key}` is not read by the method \"{}\"", scene.method.name())).collect())
}

/// Surface tension of water in air \[N/m\]: what the grid's liquids have if nothing is said.
const WATER_IN_AIR: f64 = 0.072;

/// Coulomb's friction of bodies of particles if nothing is said, dimensionless.
const FRICTION_OF_PARTICLES: f64 = 0.4;

/// Defaults that follow from others.
fn settle(scene: &mut Scene, file: &Item) {
    let given = |path: &[&str]| path.iter().try_fold(file, |item, key| item.as_table_like()?.get(key)).is_some();
    let on_grid = scene.method == Method::Twophase;
    if let Some(resolution) = scene.resolution {
        if on_grid && !given(&["twophase", "spacing"]) {
            scene.twophase.spacing = resolution;
        }
        if !on_grid && !given(&["sph", "spacing"]) {
            scene.sph.spacing = resolution;
        }
    }
    for (name, liquid) in scene.liquid.iter_mut().filter(|_| on_grid) {
        if !given(&["liquid", name, "surface_tension"]) {
            liquid.surface_tension = WATER_IN_AIR;
        }
    }
    if scene.coupling.preset == CouplingPreset::Paper {
        settle_as_printed(scene, &given);
    }
    let springs = scene.method == Method::Connections || !scene.body.is_empty();
    if springs && !given(&["contact", "friction"]) {
        scene.contact.friction = FRICTION_OF_PARTICLES;
    }
}

/// What the preset "paper" decides.
const AS_PRINTED: [(&str, &str); 6] = [
    ("coupling", "wall"),
    ("coupling", "adhesion"),
    ("coupling", "distribution"),
    ("coupling", "point_viscosity"),
    ("sph", "pressure"),
    ("sph", "kernel"),
];

/// The coupling of MSTHG04 as it is printed, where the file says nothing else.
fn settle_as_printed(scene: &mut Scene, given: &impl Fn(&[&str]) -> bool) {
    let most_viscous = scene.liquid.values().map(|liquid| liquid.viscosity).fold(0.0, f64::max);
    let (coupling, sph) = (&mut scene.coupling, &mut scene.sph);
    if !given(&["coupling", "wall"]) {
        coupling.wall = BodyWall::Traction;
    }
    if !given(&["coupling", "adhesion"]) {
        coupling.adhesion = 1.0;
    }
    if !given(&["coupling", "distribution"]) {
        coupling.distribution = Distribution::Bridson;
    }
    coupling.point_viscosity = coupling.point_viscosity.or(Some(most_viscous));
    if !given(&["sph", "pressure"]) {
        sph.pressure = PressureSolver::StateEquation;
    }
    if !given(&["sph", "kernel"]) {
        sph.kernel = KernelFamily::Papers;
    }
}

/// Writes a scene as text that parses to the same scene.
///
/// # Errors
/// When a value has no TOML form.
pub fn to_text(scene: &Scene) -> Result<String, toml::ser::Error> {
    let text = toml::to_string(scene)?;
    let Ok(mut document) = text.parse::<DocumentMut>() else { return Ok(text) };
    let whole = document.clone();
    support::strip_defaults(document.as_table_mut(), scene.method);
    if scene.coupling.preset == CouplingPreset::Paper {
        // What is a default without the preset is none with it.
        for (table, key) in AS_PRINTED {
            if let Some(item) = whole.get(table).and_then(|own| own.get(key)) {
                document[table][key] = item.clone();
            }
        }
    }
    for (table, spacing) in [("sph", scene.sph.spacing), ("twophase", scene.twophase.spacing)] {
        let own = document.get_mut(table).and_then(Item::as_table_like_mut);
        if let (true, Some(own)) = (scene.resolution == Some(spacing), own) {
            own.remove("spacing");
        }
    }
    Ok(document.to_string())
}

/// What is read, and what its user has written.
pub(crate) struct Source<'a> {
    /// The file.
    name: &'a str,
    /// With settings worked in.
    text: &'a str,
    /// As it stands in the file.
    written: &'a str,
    settings: &'a [String],
}

impl<'a> Source<'a> {
    /// A file alone.
    pub(crate) fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text, written: text, settings: &[] }
    }

    fn error(&self, message: &str, span: Range<usize>, help: Option<String>) -> SceneError {
        let path = Document::parse(self.text).map_or(Vec::new(), |document| path_at(document.as_item(), &span));
        self.error_of(&path, message, span, help)
    }

    /// An error at a key. It is shown where its user has written what is wrong: in the file, or in a setting.
    pub(crate) fn error_of(
        &self,
        path: &[String],
        message: &str,
        span: Range<usize>,
        help: Option<String>,
    ) -> SceneError {
        let message = message.to_owned();
        let (text, span) = match self.as_written(&span) {
            Some(span) => (self.written, span),
            None => match self.setting_of(path) {
                Some(setting) => return SceneError::Set { text: setting.to_owned(), message, help },
                None => (self.text, span),
            },
        };
        let source_code = Arc::new(NamedSource::new(self.name, text.to_owned()));
        let key = (!path.is_empty()).then(|| path.join("."));
        SceneError::Invalid { message, source_code, span: span.into(), key, help }
    }

    /// Where the file itself has the same at the same key.
    fn as_written(&self, span: &Range<usize>) -> Option<Range<usize>> {
        if self.written == self.text {
            return Some(span.clone());
        }
        let (text, written) = (Document::parse(self.text).ok()?, Document::parse(self.written).ok()?);
        let (wanted, found) = (path_at(text.as_item(), span), self.text.get(span.clone()).filter(|it| !it.is_empty())?);
        let mut places = self.written.match_indices(found).map(|(start, it)| start..start + it.len());
        places.find(|place| path_at(written.as_item(), place) == wanted)
    }

    /// The last setting of a key, of a part of it, or of what it is a part of.
    fn setting_of(&self, path: &[String]) -> Option<&str> {
        let concerns = |setting: &&String| {
            let key = setting.split_once('=').map_or("", |(key, _)| key).trim();
            !path.is_empty() && key.split('.').zip(path).all(|(a, b)| a == b)
        };
        self.settings.iter().rev().find(concerns).map(String::as_str)
    }
}

/// The text in present spelling with the settings worked in, and hints on what was old.
fn merge(name: &str, text: &str, settings: &Settings) -> Result<(String, Vec<String>), SceneError> {
    let source = Source::new(name, text);
    let mut document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| {
        source.error(e.message(), e.span().unwrap_or(0..0), Some("this is not TOML".into()))
    })?;
    let mut hints = spelling::modernise(&mut document).map_err(|(path, message)| {
        let span = Document::parse(text).ok().and_then(|document| span_of(document.as_item(), &path));
        source.error_of(&path, &format!("`{}` {message}", path.join(".")), span.unwrap_or(0..0), None)
    })?;
    for setting in &settings.set {
        let help = || Some("write --set key=value, for example --set liquid.water.viscosity=0.1".to_owned());
        let fail = |message| SceneError::Set { text: setting.clone(), message, help: help() };
        hints.extend(override_with(&mut document, setting).map_err(fail)?);
    }
    if let Some(method) = settings.method {
        document.insert("method", toml_edit::value(method.name()));
        support::strip_settings(document.as_table_mut(), method);
    }
    let changed = !hints.is_empty() || !settings.set.is_empty() || settings.method.is_some();
    Ok((if changed { document.to_string() } else { text.to_owned() }, hints))
}

/// Works one `key=value` in; returns a hint if the key is an old spelling.
fn override_with(document: &mut DocumentMut, setting: &str) -> Result<Option<String>, String> {
    let (key, value) = setting.split_once('=').ok_or("there is no `=`")?;
    let key = key.trim();
    // A bare word is meant as a string: --set sph.kernel=cubic-spline.
    let value: Value = value.trim().parse().unwrap_or_else(|_| Value::from(value.trim()));
    let path: Vec<&str> = key.split('.').collect();
    let liquids = spelling::liquids(document);
    let Some(new) = spelling::modern(&path, liquids.first().map(String::as_str)) else {
        is_there(document, &path)?;
        set(document.as_item_mut(), &path, value)?;
        return Ok(None);
    };
    let path: Vec<&str> = new.iter().map(String::as_str).collect();
    is_there(document, &path)?;
    let value = spelling::modern_value(path[path.len() - 1], value);
    set(document.as_item_mut(), &path, value)?;
    Ok(Some(format!("`{key}` is an old spelling: write `{}`", new.join("."))))
}

/// A setting is of something that is there; probes and drains may be new.
fn is_there(document: &DocumentMut, path: &[&str]) -> Result<(), String> {
    let &[table, name, _, ..] = path else { return Ok(()) };
    if !schema::holds_names(table) || ["probe", "drain"].contains(&table) {
        return Ok(());
    }
    let there = document.get(table).and_then(Item::as_table_like);
    let known: Vec<String> = there.map_or(Vec::new(), |table| table.iter().map(|(name, _)| name.to_owned()).collect());
    if known.iter().any(|known| known == name) {
        return Ok(());
    }
    let advice = nearest(name, &known, "name").unwrap_or_else(|| "the scene has none".to_owned());
    Err(format!("there is no {table} `{name}`: {advice}"))
}

pub(crate) fn set(item: &mut Item, path: &[&str], value: Value) -> Result<(), String> {
    let [key, rest @ ..] = path else { return Err("there is no key".into()) };
    if key.is_empty() {
        return Err("a part of the key is empty".into());
    }
    if let (Ok(index), Some(array)) = (key.parse::<usize>(), item.as_array_mut()) {
        let entry = array.get_mut(index).ok_or_else(|| format!("there is no element {index}"))?;
        let mut inner = Item::Value(entry.clone());
        if rest.is_empty() {
            inner = Item::Value(value);
        } else {
            set(&mut inner, rest, value)?;
        }
        *entry = inner.into_value().map_err(|_| "an array holds values".to_owned())?;
        return Ok(());
    }
    if let (Ok(index), Some(tables)) = (key.parse::<usize>(), item.as_array_of_tables_mut()) {
        let table = tables.get_mut(index).ok_or_else(|| format!("there is no element {index}"))?;
        return set_in(table, rest, value);
    }
    let table = item.as_table_like_mut().ok_or_else(|| format!("`{key}` is inside something that has no keys"))?;
    set_in(table, path, value)
}

fn set_in(table: &mut dyn TableLike, path: &[&str], value: Value) -> Result<(), String> {
    let [key, rest @ ..] = path else { return Err("there is no key".into()) };
    if rest.is_empty() {
        table.insert(key, Item::Value(value));
        return Ok(());
    }
    let entry = table.entry(key).or_insert_with(toml_edit::table);
    set(entry, rest, value)
}

/// TOML has words for infinity and not-a-number; a scene has no use for them.
fn refuse_infinite(source: &Source, document: &Document<&str>) -> Result<(), SceneError> {
    let Some(span) = infinite_in(document.as_table()) else { return Ok(()) };
    let mut path = path_at(document.as_item(), &span);
    while path.last().is_some_and(|key| key.parse::<usize>().is_ok()) {
        path.pop();
    }
    let message = format!("`{}` must be a finite number", path.join("."));
    Err(source.error_of(&path, &message, span, help_for(&path)))
}

fn infinite_in(table: &dyn TableLike) -> Option<Range<usize>> {
    fn in_value(value: &Value) -> Option<Range<usize>> {
        match value {
            Value::Float(float) if !float.value().is_finite() => value.span(),
            Value::Array(array) => array.iter().find_map(in_value),
            Value::InlineTable(table) => infinite_in(table),
            _ => None,
        }
    }
    table.iter().find_map(|(_, item)| match item {
        Item::Value(value) => in_value(value),
        Item::Table(table) => infinite_in(table),
        Item::ArrayOfTables(tables) => tables.iter().find_map(|table| infinite_in(table)),
        Item::None => None,
    })
}

/// Turns what serde says into what a person needs: the key, where it is, and what would be right.
fn explain(source: &Source, document: &Document<&str>, error: &toml::de::Error) -> SceneError {
    let span = error.span().unwrap_or(0..0);
    let path = path_at(document.as_item(), &span);
    let message = error.message();
    if let Some(unknown) = quoted_after(message, "unknown field ") {
        let parent: Vec<String> = match path.split_last() {
            Some((last, parent)) if *last == unknown => parent.to_vec(),
            _ => path.clone(),
        };
        let known = schema::describe(&parent).unwrap_or_default().keys;
        let place = if parent.is_empty() { "a scene".to_owned() } else { format!("`{}`", parent.join(".")) };
        let (message, help) = (format!("{place} has no key `{unknown}`"), nearest(&unknown, &known, "key"));
        return source.error_of(&[parent, vec![unknown]].concat(), &message, span, help);
    }
    if let Some(unknown) = quoted_after(message, "unknown variant ") {
        let info = schema::describe(&path).unwrap_or_default();
        let known = if info.keys.is_empty() { quoted_words(message) } else { info.keys };
        let message = format!("`{}` cannot be `{unknown}`", path.join("."));
        return source.error_of(&path, &message, span, nearest(&unknown, &known, "word"));
    }
    let place = if path.is_empty() { String::new() } else { format!("`{}`: ", path.join(".")) };
    source.error_of(&path, &format!("{place}{message}"), span, help_for(&path))
}

fn help_for(path: &[String]) -> Option<String> {
    let KeyInfo { description, keys } = schema::describe(path)?;
    let key = path.last().map_or("the scene", String::as_str);
    let keys = if keys.is_empty() { String::new() } else { format!(" Known: {}.", keys.join(", ")) };
    Some(format!("`{key}`: {description}{keys}"))
}

/// The word of a list that is most like one that is not in it, as advice.
#[must_use]
pub fn nearest(unknown: &str, known: &[String], what: &str) -> Option<String> {
    let best = known.iter().max_by(|a, b| {
        let likeness = |word: &str| strsim::jaro_winkler(unknown, word);
        likeness(a).total_cmp(&likeness(b)).then_with(|| b.cmp(a))
    })?;
    let all = known.join(", ");
    let close = strsim::jaro_winkler(unknown, best) > 0.7;
    Some(if close { format!("did you mean `{best}`? Known: {all}") } else { format!("the {what}s are: {all}") })
}

fn quoted_after(message: &str, start: &str) -> Option<String> {
    message.strip_prefix(start)?.split('`').nth(1).map(str::to_owned)
}

fn quoted_words(message: &str) -> Vec<String> {
    message.split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

/// Points a problem of the checked scene at the line of its key.
fn place(source: &Source, document: &Document<&str>, problem: &Problem) -> SceneError {
    // A key that is left out has no line: its nearest parent has.
    let span = (0..=problem.path.len()).rev().find_map(|n| span_of(document.as_item(), &problem.path[..n]));
    let message = format!("`{}` {}", problem.path.join("."), problem.message);
    source.error_of(&problem.path, &message, span.unwrap_or(0..0), help_for(&problem.path))
}

/// The span of the value at a key path.
pub(crate) fn span_of(item: &Item, path: &[String]) -> Option<Range<usize>> {
    let Some((key, rest)) = path.split_first() else { return item.span() };
    if let Ok(index) = key.parse::<usize>() {
        if let Some(tables) = item.as_array_of_tables() {
            return span_of_key(tables.get(index)?, rest);
        }
        if let Some(value) = item.as_array().and_then(|array| array.get(index)) {
            return if rest.is_empty() { value.span() } else { span_of(&Item::Value(value.clone()), rest) };
        }
    }
    span_of_key(item.as_table_like()?, path)
}

fn span_of_key(table: &dyn TableLike, path: &[String]) -> Option<Range<usize>> {
    let (key, rest) = path.split_first()?;
    let item = table.get(key)?;
    let own = item.span().or_else(|| table.key(key).and_then(toml_edit::Key::span));
    if rest.is_empty() { own } else { span_of(item, rest) }
}

/// The path of the innermost key whose text or value contains a span.
fn path_at(item: &Item, span: &Range<usize>) -> Vec<String> {
    fn contains(outer: Option<Range<usize>>, inner: &Range<usize>) -> bool {
        outer.is_some_and(|outer| outer.start <= inner.start && inner.end <= outer.end)
    }
    fn in_table(table: &dyn TableLike, span: &Range<usize>) -> Option<Vec<String>> {
        for (key, item) in table.iter() {
            let on_key = table.key(key).is_some_and(|k| contains(k.span(), span));
            let inside = in_item(item, span);
            if on_key || inside.is_some() || contains(item.span(), span) {
                let mut path = vec![key.to_owned()];
                path.extend(inside.unwrap_or_default());
                return Some(path);
            }
        }
        None
    }
    fn in_value(value: &Value, span: &Range<usize>) -> Option<Vec<String>> {
        match value {
            Value::Array(array) => array.iter().enumerate().find_map(|(index, value)| {
                let inside = in_value(value, span);
                (inside.is_some() || contains(value.span(), span)).then(|| {
                    let mut path = vec![index.to_string()];
                    path.extend(inside.unwrap_or_default());
                    path
                })
            }),
            Value::InlineTable(table) => in_table(table, span),
            _ => None,
        }
    }
    fn in_item(item: &Item, span: &Range<usize>) -> Option<Vec<String>> {
        match item {
            Item::Table(table) => in_table(table, span),
            Item::Value(value) => in_value(value, span),
            Item::ArrayOfTables(tables) => tables.iter().enumerate().find_map(|(index, table)| {
                let inside = in_table(table, span)?;
                let mut path = vec![index.to_string()];
                path.extend(inside);
                Some(path)
            }),
            Item::None => None,
        }
    }
    in_item(item, span).unwrap_or_default()
}
