//! Numbers in buffers, as accessors describe them.

use super::json::{Accessor, BufferView, Json, SparseIndices, SparseValues};
use crate::animation::GltfError;

/// An opened file.
pub(super) struct Document {
    pub(super) json: Json,
    pub(super) buffers: Vec<Vec<u8>>,
    /// Size of the file and its buffers \[bytes\].
    pub(super) bytes: usize,
}

/// Kinds of numbers.
#[derive(Clone, Copy, PartialEq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// The value of as many bytes as it has.
    fn value(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::I8, &[a, ..]) => f64::from(a as i8),
            (Self::U8, &[a, ..]) => f64::from(a),
            (Self::I16, &[a, b, ..]) => f64::from(i16::from_le_bytes([a, b])),
            (Self::U16, &[a, b, ..]) => f64::from(u16::from_le_bytes([a, b])),
            (Self::U32, &[a, b, c, d, ..]) => f64::from(u32::from_le_bytes([a, b, c, d])),
            (Self::F32, &[a, b, c, d, ..]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            _ => f64::NAN,
        }
    }

    /// What a normalised number is divided by; below −1 it is cut.
    fn whole(self) -> f64 {
        match self {
            Self::I8 => 127.0,
            Self::U8 => 255.0,
            Self::I16 => 32_767.0,
            Self::U16 => 65_535.0,
            Self::U32 | Self::F32 => 1.0,
        }
    }
}

fn components_of(kind: &str) -> Option<usize> {
    Some(match kind {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" | "MAT2" => 4,
        "MAT3" => 9,
        "MAT4" => 16,
        _ => return None,
    })
}

/// Evenly spaced elements in a buffer, known to be there.
struct Elements<'a> {
    bytes: &'a [u8],
    stride: usize,
    component: Component,
    components: usize,
}

impl Elements<'_> {
    fn read(&self, count: usize, normalized: bool, out: &mut Vec<f64>) {
        let size = self.component.size();
        let scale = if normalized { self.component.whole() } else { 1.0 };
        for n in 0..count {
            let element = &self.bytes[n * self.stride..];
            for c in 0..self.components {
                let value = self.component.value(&element[c * size..]) / scale;
                out.push(if normalized { value.max(-1.0) } else { value });
            }
        }
    }
}

impl Document {
    /// The numbers of an accessor, one after the other, and how many of them make an element.
    pub(super) fn numbers(&self, index: usize, owner: &str, kinds: &[&str]) -> Result<(Vec<f64>, usize), GltfError> {
        let count = self.json.accessors.len();
        let missing = || GltfError::Missing { owner: owner.into(), kind: "accessor", index, count };
        let accessor = self.json.accessors.get(index).ok_or_else(missing)?;
        let wrong = |problem: String| GltfError::Accessor { accessor: index, problem };
        if !kinds.contains(&accessor.kind.as_str()) {
            return Err(wrong(format!("{owner} needs {}, but it is `{}`", kinds.join(" or "), shown(&accessor.kind))));
        }
        let components = components_of(&accessor.kind).ok_or_else(|| wrong("its type is unknown".into()))?;
        self.dense(accessor, components)
            .and_then(|mut values| self.sparse(accessor, components, &mut values).map(|()| values))
            .map(|values| (values, components))
            .map_err(wrong)
    }

    /// Number of elements of an accessor, as announced.
    pub(super) fn announced(&self, index: usize) -> usize {
        self.json.accessors.get(index).map_or(0, |accessor| accessor.count)
    }

    fn dense(&self, accessor: &Accessor, components: usize) -> Result<Vec<f64>, String> {
        let count = accessor.count;
        let Some(view) = accessor.buffer_view else {
            // Zeros, to be changed here and there: not more than the file has bytes.
            let fits = count.checked_mul(components).is_some_and(|n| n <= self.bytes);
            return if fits { Ok(vec![0.0; count * components]) } else { Err(format!("{count} elements of nothing")) };
        };
        let component = component(accessor.component_type)?;
        let elements = self.elements(view, accessor.byte_offset, (component, components), count)?;
        let mut values = Vec::with_capacity(count * components);
        elements.read(count, accessor.normalized, &mut values);
        Ok(values)
    }

    fn sparse(&self, accessor: &Accessor, components: usize, values: &mut [f64]) -> Result<(), String> {
        let Some(sparse) = &accessor.sparse else { return Ok(()) };
        let SparseIndices { buffer_view, byte_offset, component_type } = sparse.indices;
        let (mut indices, mut changes) = (Vec::new(), Vec::new());
        let layout = (component(component_type)?, 1);
        self.elements(buffer_view, byte_offset, layout, sparse.count)?.read(sparse.count, false, &mut indices);
        let SparseValues { buffer_view, byte_offset } = sparse.values;
        let numbers = (component(accessor.component_type)?, components);
        self.elements(buffer_view, byte_offset, numbers, sparse.count)?.read(
            sparse.count,
            accessor.normalized,
            &mut changes,
        );
        for (index, change) in indices.iter().zip(changes.chunks_exact(components)) {
            let at = *index as usize;
            let element = values.chunks_exact_mut(components).nth(at);
            element
                .ok_or_else(|| format!("element {at} is changed, but it has {}", accessor.count))?
                .copy_from_slice(change);
        }
        Ok(())
    }

    /// The bytes of so many elements, if they are all there.
    fn elements(
        &self,
        view: usize,
        offset: usize,
        (component, components): (Component, usize),
        count: usize,
    ) -> Result<Elements<'_>, String> {
        let views = self.json.buffer_views.len();
        let about =
            self.json.buffer_views.get(view).ok_or_else(|| format!("buffer view {view} of {views} is missing"))?;
        let bytes = self.view(about).ok_or_else(|| format!("buffer view {view} lies outside of its buffer"))?;
        let size = component.size() * components;
        let stride = about.byte_stride.filter(|&stride| stride > 0).unwrap_or(size);
        let needed = match count {
            0 => Some(0),
            _ => stride.checked_mul(count - 1).and_then(|n| n.checked_add(size)),
        };
        let there = bytes.get(offset..).unwrap_or_default();
        match needed {
            Some(needed) if needed <= there.len() && stride >= size => {
                Ok(Elements { bytes: there, stride, component, components })
            }
            _ => Err(format!("{count} elements of {size} bytes are announced, but {} bytes follow", there.len())),
        }
    }

    fn view(&self, view: &BufferView) -> Option<&[u8]> {
        let end = view.byte_offset.checked_add(view.byte_length)?;
        self.buffers.get(view.buffer)?.get(view.byte_offset..end)
    }
}

fn component(code: u32) -> Result<Component, String> {
    Component::from_code(code).ok_or_else(|| format!("component type {code} is unknown"))
}

fn shown(text: &str) -> String {
    text.chars().take(20).collect::<String>().escape_debug().to_string()
}
