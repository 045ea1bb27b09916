//! A layer of USD as clips are made of: overs below `/World` with arrays, in words.

use std::fmt::Write;

use glam::Vec3;

/// Prims below `/World`, which say more about prims of the root.
pub(super) struct Layer {
    pub(super) prims: Vec<Prim>,
}

/// A prim that is defined elsewhere, and attributes of it.
pub(super) struct Prim {
    pub(super) name: String,
    pub(super) attributes: Vec<Attribute>,
}

/// An attribute with one value: at a frame, or for good.
pub(super) struct Attribute {
    pub(super) name: &'static str,
    /// Its type as USD writes it.
    pub(super) kind: &'static str,
    /// The frame at which it has this value; otherwise always.
    pub(super) frame: Option<u32>,
    pub(super) value: Value,
}

/// An array.
pub(super) enum Value {
    /// Of three floats each.
    Vectors(Vec<Vec3>),
    /// Of 32 bits.
    Floats(Vec<f32>),
    /// Of 32 bits, signed in USD.
    Indices(Vec<u32>),
    /// Of 64 bits.
    Ids(Vec<u32>),
}

impl Layer {
    /// The layer in words.
    pub(super) fn to_usda(&self) -> String {
        let mut text = "#usda 1.0\n\nover \"World\"\n{\n".to_owned();
        for prim in &self.prims {
            let _ = writeln!(text, "    over \"{}\"\n    {{", prim.name);
            prim.attributes.iter().for_each(|attribute| attribute.write(&mut text));
            text.push_str("    }\n");
        }
        text.push_str("}\n");
        text
    }
}

impl Attribute {
    fn write(&self, text: &mut String) {
        let Self { name, kind, value, .. } = self;
        let value = value.to_usda();
        let _ = match self.frame {
            Some(frame) => writeln!(text, "        {kind} {name}.timeSamples = {{ {frame}: {value} }}"),
            None => writeln!(text, "        {kind} {name} = {value}"),
        };
    }
}

impl Value {
    fn to_usda(&self) -> String {
        match self {
            Self::Vectors(vectors) => list(vectors, |v| format!("({:?}, {:?}, {:?})", v.x, v.y, v.z)),
            Self::Floats(floats) => list(floats, |v| format!("{v:?}")),
            Self::Indices(indices) | Self::Ids(indices) => list(indices, u32::to_string),
        }
    }
}

fn list<T>(values: &[T], one: impl Fn(&T) -> String) -> String {
    let mut text = String::with_capacity(12 * values.len() + 2);
    text.push('[');
    for (k, value) in values.iter().enumerate() {
        if k > 0 {
            text.push_str(", ");
        }
        text.push_str(&one(value));
    }
    text.push(']');
    text
}
