//! Values over time: samplers of glTF, and the motion that a script adds.

use glam::{DQuat, DVec3};

use super::accessor::Document;
use super::json::Sampler;
use super::rig::Rig;
use crate::animation::{AnimationOptions, GltfError, JointKeys};

/// How values between keys are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Step,
    Linear,
    /// Each key has three values: tangent before, value, tangent after.
    Cubic,
}

/// What moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moves {
    Translation,
    Rotation,
    Scale,
    Weights,
}

/// A value of a node over time.
#[derive(Debug, Clone)]
pub(super) struct Track {
    pub(super) node: usize,
    pub(super) moves: Moves,
    between: Between,
    times: Vec<f64>,
    /// Numbers of one value.
    width: usize,
    values: Vec<f64>,
}

impl Track {
    /// The value at a time \[s\], held before the first key and after the last.
    pub(super) fn at(&self, time: f64, out: &mut [f64]) {
        let next = self.times.partition_point(|&key| key <= time);
        let last = self.times.len() - 1;
        if next == 0 || next > last {
            return out.copy_from_slice(self.value(if next == 0 { 0 } else { last }));
        }
        let [from, to] = [self.times[next - 1], self.times[next]];
        let s = (time - from) / (to - from);
        let (a, b) = (self.value(next - 1), self.value(next));
        match self.between {
            Between::Step => out.copy_from_slice(a),
            Between::Linear if self.moves == Moves::Rotation => {
                out.copy_from_slice(&slerp(DQuat::from_slice(a), DQuat::from_slice(b), s).to_array());
            }
            Between::Linear => (0..out.len()).for_each(|c| out[c] = a[c] + s * (b[c] - a[c])),
            Between::Cubic => self.hermite(next, (to - from, s), out),
        }
    }

    /// Numbers of one value.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Numbers per key.
    fn stride(&self) -> usize {
        if self.between == Between::Cubic { 3 * self.width } else { self.width }
    }

    fn value(&self, key: usize) -> &[f64] {
        let skip = if self.between == Between::Cubic { self.width } else { 0 };
        &self.values[key * self.stride() + skip..][..self.width]
    }

    /// glTF 2.0, appendix C: t_d is the time between keys, s the part of it that has passed.
    fn hermite(&self, next: usize, (t_d, s): (f64, f64), out: &mut [f64]) {
        let leaving = &self.values[(next - 1) * self.stride() + 2 * self.width..][..self.width];
        let arriving = &self.values[next * self.stride()..][..self.width];
        let (a, b) = (self.value(next - 1), self.value(next));
        let (s2, s3) = (s * s, s * s * s);
        for (c, value) in out.iter_mut().enumerate() {
            *value = (2.0 * s3 - 3.0 * s2 + 1.0) * a[c]
                + t_d * (s3 - 2.0 * s2 + s) * leaving[c]
                + (3.0 * s2 - 2.0 * s3) * b[c]
                + t_d * (s3 - s2) * arriving[c];
        }
    }
}

/// The shorter way round from a to b.
fn slerp(a: DQuat, b: DQuat, s: f64) -> DQuat {
    let (a, b) = (unit(a), unit(b));
    let dot = a.dot(b);
    let (b, dot) = if dot < 0.0 { (-b, -dot) } else { (b, dot) };
    if dot > 0.9995 {
        return unit(a * (1.0 - s) + b * s);
    }
    let angle = libm::acos(dot.min(1.0));
    let sine = libm::sin(angle);
    a * (libm::sin((1.0 - s) * angle) / sine) + b * (libm::sin(s * angle) / sine)
}

/// The rotation that a file means: none when it is nothing.
pub(super) fn unit(q: DQuat) -> DQuat {
    let length = q.length();
    if length > 1e-12 && length.is_finite() { q * (1.0 / length) } else { DQuat::IDENTITY }
}

/// Gives the rig its tracks. Returns the first and last time of a key \[s\].
pub(super) fn animate(
    document: &Document,
    rig: &mut Rig,
    options: &AnimationOptions,
    warnings: &mut Vec<String>,
) -> Result<[f64; 2], GltfError> {
    if let Some(index) = chosen(document, options, warnings)? {
        add_tracks(document, rig, index)?;
    }
    let scripted = options.joints.iter().map(|keys| scripted(document, rig, keys)).collect::<Result<Vec<_>, _>>()?;
    rig.tracks.extend(scripted.into_iter().flatten());
    let first = rig.tracks.iter().map(|track| track.times[0]).fold(f64::INFINITY, f64::min);
    let last = rig.tracks.iter().map(|track| track.times[track.times.len() - 1]).fold(f64::NEG_INFINITY, f64::max);
    match (rig.tracks.is_empty(), first < last) {
        (true, _) => Err(GltfError::NoMotion("its animation moves nothing that is in the scene".into())),
        (_, false) => Err(GltfError::NoMotion(format!("its animation has no length: all its keys are at {first} s"))),
        _ => Ok([first, last]),
    }
}

/// Number of the animation that is played, none when a script moves the joints.
fn chosen(
    document: &Document,
    options: &AnimationOptions,
    warnings: &mut Vec<String>,
) -> Result<Option<usize>, GltfError> {
    let animations = &document.json.animations;
    let named = |n: usize| animations[n].name.clone().unwrap_or_else(|| format!("animation {n}"));
    let names = || (0..animations.len()).take(20).map(|n| format!("`{}`", named(n))).collect::<Vec<_>>().join(", ");
    if let Some(wanted) = &options.animation {
        let found = (0..animations.len()).find(|&n| named(n) == *wanted);
        let message = || format!("it has no animation `{wanted}`; it has {}", names());
        return found.map(Some).ok_or_else(|| GltfError::NoMotion(message()));
    }
    match animations.len() {
        0 if options.joints.is_empty() => {
            Err(GltfError::NoMotion("it has no animation: give its joints a motion, or use it as a still mesh".into()))
        }
        0 => Ok(None),
        1 => Ok(Some(0)),
        _ => {
            warnings.push(format!("the first of its animations is played: {}", names()));
            Ok(Some(0))
        }
    }
}

fn add_tracks(document: &Document, rig: &mut Rig, animation: usize) -> Result<(), GltfError> {
    let about = &document.json.animations[animation];
    for channel in &about.channels {
        let Some(node) = channel.target.node else { continue };
        let moves = match channel.target.path.as_str() {
            "translation" => Moves::Translation,
            "rotation" => Moves::Rotation,
            "scale" => Moves::Scale,
            "weights" => Moves::Weights,
            _ => continue,
        };
        let owner = || format!("animation {animation}");
        let count = document.json.nodes.len();
        if node >= count {
            return Err(GltfError::Missing { owner: owner(), kind: "node", index: node, count });
        }
        let count = about.samplers.len();
        let missing = || GltfError::Missing { owner: owner(), kind: "sampler", index: channel.sampler, count };
        let sampler = about.samplers.get(channel.sampler).ok_or_else(missing)?;
        let width = match moves {
            Moves::Rotation => 4,
            Moves::Translation | Moves::Scale => 3,
            Moves::Weights => rig.weights_of(node),
        };
        let wrong = |problem| GltfError::Keys { animation, sampler: channel.sampler, problem };
        if width == 0 {
            return Err(wrong(format!("it moves morph targets of node {node}, which has none")));
        }
        rig.tracks.push(track(document, sampler, (node, moves), width, wrong)?);
    }
    Ok(())
}

fn track(
    document: &Document,
    sampler: &Sampler,
    (node, moves): (usize, Moves),
    width: usize,
    wrong: impl Fn(String) -> GltfError,
) -> Result<Track, GltfError> {
    let between = match sampler.interpolation.as_deref().unwrap_or("LINEAR") {
        "LINEAR" => Between::Linear,
        "STEP" => Between::Step,
        "CUBICSPLINE" => Between::Cubic,
        _ => return Err(wrong("its interpolation is none of LINEAR, STEP and CUBICSPLINE".into())),
    };
    let (times, _) = document.numbers(sampler.input, "a sampler's input", &["SCALAR"])?;
    let (values, _) = document.numbers(sampler.output, "a sampler's output", &["SCALAR", "VEC3", "VEC4"])?;
    let track = Track { node, moves, between, times, width, values };
    if track.times.is_empty() {
        return Err(wrong("it has no keys".into()));
    }
    if let Some(key) = (0..track.times.len()).find(|&n| !in_order(&track.times, n)) {
        return Err(wrong(format!("key {key} is at {} s: times must be finite and rise", track.times[key])));
    }
    let needed = track.times.len() * track.stride();
    if track.values.len() != needed {
        return Err(wrong(format!("{} keys need {needed} numbers, not {}", track.times.len(), track.values.len())));
    }
    match track.values.iter().position(|value| !value.is_finite()) {
        Some(bad) => Err(wrong(format!("key {} is {}", bad / track.stride(), track.values[bad]))),
        None => Ok(track),
    }
}

fn in_order(times: &[f64], n: usize) -> bool {
    times[n].is_finite() && (n == 0 || times[n - 1] < times[n])
}

/// The tracks of one joint of a script: its turn and its shift, on top of where the file has it.
fn scripted(document: &Document, rig: &Rig, keys: &JointKeys) -> Result<[Track; 2], GltfError> {
    let named = |name: &str| document.json.nodes.iter().position(|node| node.name.as_deref() == Some(name));
    let wrong = |problem: &str| GltfError::NoMotion(format!("joint `{}`: {problem}", keys.joint));
    let node = named(&keys.joint).ok_or_else(|| wrong("no node of the file has this name"))?;
    let times: Vec<f64> = keys.keys.iter().map(|key| key.time).collect();
    if times.is_empty() || !(0..times.len()).all(|n| in_order(&times, n)) {
        return Err(wrong("its keys must have finite times that rise"));
    }
    if !keys.keys.iter().all(|key| key.turn.is_finite() && key.shift.is_finite()) {
        return Err(wrong("turns and shifts must be finite"));
    }
    let rest = rig.rest(node);
    let turned = |turn: DVec3| (rest.rotation * rotation_of(turn)).to_array();
    let turns = keys.keys.iter().flat_map(|key| turned(key.turn)).collect();
    let shifts = keys.keys.iter().flat_map(|key| (rest.translation + key.shift).to_array()).collect();
    let track =
        |moves, width, values| Track { node, moves, between: Between::Linear, times: times.clone(), width, values };
    Ok([track(Moves::Rotation, 4, turns), track(Moves::Translation, 3, shifts)])
}

/// A rotation by axis times angle \[rad\].
fn rotation_of(turn: DVec3) -> DQuat {
    let half = 0.5 * turn.length();
    let axis = turn.normalize_or_zero() * libm::sin(half);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, libm::cos(half))
}
