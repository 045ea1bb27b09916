//! The same layers as USD's binary files ("crate", version 0.8.0): a quarter of the words' size.
//!
//! ```text
//! "PXR-USDC", version, offset of the table of contents, zeros          88 bytes
//! values that are longer than a word
//! TOKENS     all words, 0-terminated, LZ4
//! STRINGS    (none)
//! FIELDS     pairs of a token and a value: a word of 64 bits that holds the value or its offset
//! FIELDSETS  lists of fields, each ended by −1
//! PATHS      the tree of prims and attributes, depth first
//! SPECS      triples of a path, a field set and a kind
//! table of contents
//! ```
//! Lists of integers are coded as differences in 0, 1, 2 or 4 bytes each (0, 2, 4, 8 where they have 64 bits) after a row of
//! two-bit codes, then by LZ4.

use bytemuck::NoUninit;

use super::layer::{Attribute, Layer, Prim, Value};

const VERSION: [u8; 8] = [0, 8, 0, 0, 0, 0, 0, 0];
/// Bytes before the first value.
const BOOTSTRAP: usize = 88;
/// Arrays of fewer integers are not worth coding; readers expect them plain.
const SHORTEST_CODED: usize = 16;
const END_OF_FIELD_SET: u32 = u32::MAX;

/// Flags of a value.
const ARRAY: u64 = 1 << 63;
const INLINED: u64 = 1 << 62;
const COMPRESSED: u64 = 1 << 61;

/// Numbers of the types that we write.
mod kind {
    pub(super) const INT: u64 = 3;
    pub(super) const INT64: u64 = 5;
    pub(super) const FLOAT: u64 = 8;
    pub(super) const TOKEN: u64 = 11;
    pub(super) const VEC3F: u64 = 24;
    pub(super) const TOKEN_VECTOR: u64 = 41;
    pub(super) const SPECIFIER: u64 = 42;
    pub(super) const TIME_SAMPLES: u64 = 46;
    pub(super) const DOUBLE_VECTOR: u64 = 48;
}

/// Kinds of what stands at a path.
mod spec {
    pub(super) const ATTRIBUTE: i64 = 1;
    pub(super) const PRIM: i64 = 6;
    pub(super) const PSEUDO_ROOT: i64 = 7;
}

/// Specifier of a prim that is defined elsewhere.
const OVER: u64 = 1;

impl Layer {
    /// The layer in USD's binary form.
    pub(super) fn to_usdc(&self) -> Vec<u8> {
        let mut file = CrateFile::new();
        file.pseudo_root();
        file.prim("World", &self.prims.iter().map(|prim| prim.name.as_str()).collect::<Vec<_>>(), &[], false);
        for (k, prim) in self.prims.iter().enumerate() {
            file.overrides(prim, k + 1 < self.prims.len());
        }
        file.finish()
    }
}

/// A file that is being written.
struct CrateFile {
    bytes: Vec<u8>,
    tokens: Vec<String>,
    /// Token and value.
    fields: Vec<(u32, u64)>,
    field_sets: Vec<u32>,
    /// Token of the last element, negative for attributes; and where the tree goes on.
    paths: Vec<(i64, i64)>,
    /// Field set and kind; the n-th is that of the n-th path.
    specs: Vec<(i64, i64)>,
}

/// Where the tree goes on after a path: an only child, a sibling, neither, or both with as many entries up to the sibling.
const CHILD: i64 = -1;
const SIBLING: i64 = 0;
const LEAF: i64 = -2;

impl CrateFile {
    fn new() -> Self {
        // A token of an attribute is written as its negative, so none may have the number 0.
        let tokens = vec![String::new()];
        let bytes = vec![0; BOOTSTRAP];
        Self { bytes, tokens, fields: Vec::new(), field_sets: Vec::new(), paths: Vec::new(), specs: Vec::new() }
    }

    fn pseudo_root(&mut self) {
        let children = self.token_vector(&["World"]);
        let fields = [self.field("primChildren", children)];
        self.spec((0, CHILD), &fields, spec::PSEUDO_ROOT);
    }

    fn overrides(&mut self, prim: &Prim, more: bool) {
        let names: Vec<&str> = prim.attributes.iter().map(|attribute| attribute.name).collect();
        self.prim(&prim.name, &[], &names, more);
        for (k, attribute) in prim.attributes.iter().enumerate() {
            self.attribute(attribute, k + 1 < prim.attributes.len());
        }
    }

    /// A prim with children or attributes, which must follow; `more` if a sibling follows them.
    fn prim(&mut self, name: &str, children: &[&str], attributes: &[&str], more: bool) {
        let mut fields = vec![self.field("specifier", INLINED | kind::SPECIFIER << 48 | OVER)];
        for (key, names) in [("primChildren", children), ("properties", attributes)] {
            if !names.is_empty() {
                let names = self.token_vector(names);
                fields.push(self.field(key, names));
            }
        }
        let below = attributes.len() as i64;
        let jump = match (more, below > 0 || !children.is_empty()) {
            (true, true) => below + 1,
            (true, false) => SIBLING,
            (false, true) => CHILD,
            (false, false) => LEAF,
        };
        let token = i64::from(self.token(name));
        self.spec((token, jump), &fields, spec::PRIM);
    }

    fn attribute(&mut self, attribute: &Attribute, more: bool) {
        let kind = u64::from(self.token(attribute.kind));
        let value = self.value(&attribute.value);
        let (key, value) = match attribute.frame {
            Some(frame) => ("timeSamples", self.time_sample(f64::from(frame), value)),
            None => ("default", value),
        };
        let fields = [self.field("typeName", INLINED | kind::TOKEN << 48 | kind), self.field(key, value)];
        let token = -i64::from(self.token(attribute.name));
        self.spec((token, if more { SIBLING } else { LEAF }), &fields, spec::ATTRIBUTE);
    }

    fn spec(&mut self, path: (i64, i64), fields: &[u32], kind: i64) {
        self.paths.push(path);
        self.specs.push((self.field_sets.len() as i64, kind));
        self.field_sets.extend_from_slice(fields);
        self.field_sets.push(END_OF_FIELD_SET);
    }

    fn field(&mut self, key: &str, value: u64) -> u32 {
        let token = self.token(key);
        self.fields.push((token, value));
        self.fields.len() as u32 - 1
    }

    fn token(&mut self, word: &str) -> u32 {
        let known = self.tokens.iter().position(|token| token == word);
        known.unwrap_or_else(|| {
            self.tokens.push(word.to_owned());
            self.tokens.len() - 1
        }) as u32
    }

    fn value(&mut self, value: &Value) -> u64 {
        match value {
            Value::Vectors(vectors) => self.array(kind::VEC3F, vectors),
            Value::Floats(floats) => self.array(kind::FLOAT, floats),
            Value::Indices(indices) if indices.len() < SHORTEST_CODED => self.array(kind::INT, indices),
            Value::Indices(indices) => self.coded(kind::INT, indices, Width::Four),
            Value::Ids(ids) if ids.len() < SHORTEST_CODED => {
                self.array(kind::INT64, &ids.iter().map(|&id| i64::from(id)).collect::<Vec<_>>())
            }
            Value::Ids(ids) => self.coded(kind::INT64, ids, Width::Eight),
        }
    }

    /// A plain array; an empty one has no place.
    fn array<T: NoUninit>(&mut self, kind: u64, values: &[T]) -> u64 {
        if values.is_empty() {
            return ARRAY | kind << 48;
        }
        let at = self.place();
        self.word(values.len() as u64);
        self.bytes.extend_from_slice(bytemuck::cast_slice(values));
        ARRAY | kind << 48 | at
    }

    /// An array of coded integers.
    fn coded(&mut self, kind: u64, values: &[u32], width: Width) -> u64 {
        let at = self.place();
        self.word(values.len() as u64);
        self.integers(values.iter().map(|&value| i64::from(value)), width);
        ARRAY | COMPRESSED | kind << 48 | at
    }

    fn token_vector(&mut self, words: &[&str]) -> u64 {
        let tokens: Vec<u32> = words.iter().map(|word| self.token(word)).collect();
        let at = self.place();
        self.word(tokens.len() as u64);
        self.bytes.extend_from_slice(bytemuck::cast_slice(&tokens));
        kind::TOKEN_VECTOR << 48 | at
    }

    /// A value at one time. Times and values each follow a jump over what is nested in them, here nothing.
    fn time_sample(&mut self, time: f64, value: u64) -> u64 {
        let times = self.place();
        self.word(1);
        self.word(time.to_bits());
        let at = self.place();
        let nothing_nested = size_of::<u64>() as u64;
        for word in [nothing_nested, kind::DOUBLE_VECTOR << 48 | times, nothing_nested, 1, value] {
            self.word(word);
        }
        kind::TIME_SAMPLES << 48 | at
    }

    /// The offset of what is written next, a multiple of 8: readers may map arrays where they are.
    fn place(&mut self) -> u64 {
        self.bytes.resize(self.bytes.len().next_multiple_of(size_of::<u64>()), 0);
        self.bytes.len() as u64
    }

    fn word(&mut self, word: u64) {
        self.bytes.extend(word.to_le_bytes());
    }

    /// A length and that many bytes.
    fn block(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    fn integers(&mut self, values: impl Iterator<Item = i64>, width: Width) {
        self.block(&lz4(&coded(values, width)));
    }

    fn finish(mut self) -> Vec<u8> {
        type Write = fn(&mut CrateFile);
        let sections: [(&str, Write); 6] = [
            ("TOKENS", Self::tokens),
            ("STRINGS", |file| file.word(0)),
            ("FIELDS", Self::fields),
            ("FIELDSETS", Self::field_sets),
            ("PATHS", Self::paths),
            ("SPECS", Self::specs),
        ];
        let mut contents = Vec::new();
        for (name, write) in sections {
            let start = self.place();
            write(&mut self);
            contents.push((name, start, self.bytes.len() as u64 - start));
        }
        let table = self.place();
        self.word(contents.len() as u64);
        for (name, start, size) in contents {
            let mut padded = [0; 16];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            self.bytes.extend(padded);
            self.word(start);
            self.word(size);
        }
        let head = [*b"PXR-USDC", VERSION, table.to_le_bytes()].concat();
        self.bytes[..head.len()].copy_from_slice(&head);
        self.bytes
    }

    fn tokens(&mut self) {
        let words: Vec<u8> = self.tokens.iter().flat_map(|token| token.bytes().chain([0])).collect();
        self.word(self.tokens.len() as u64);
        self.word(words.len() as u64);
        self.block(&lz4(&words));
    }

    fn fields(&mut self) {
        let fields = std::mem::take(&mut self.fields);
        self.word(fields.len() as u64);
        self.integers(fields.iter().map(|field| i64::from(field.0)), Width::Four);
        let values: Vec<u8> = fields.iter().flat_map(|field| field.1.to_le_bytes()).collect();
        self.block(&lz4(&values));
    }

    fn field_sets(&mut self) {
        let sets = std::mem::take(&mut self.field_sets);
        self.word(sets.len() as u64);
        self.integers(sets.iter().map(|&field| i64::from(field)), Width::Four);
    }

    fn paths(&mut self) {
        let paths = std::mem::take(&mut self.paths);
        // As many are in the file as are coded here.
        self.word(paths.len() as u64);
        self.word(paths.len() as u64);
        self.integers(0..paths.len() as i64, Width::Four);
        self.integers(paths.iter().map(|path| path.0), Width::Four);
        self.integers(paths.iter().map(|path| path.1), Width::Four);
    }

    fn specs(&mut self) {
        let specs = std::mem::take(&mut self.specs);
        self.word(specs.len() as u64);
        self.integers(0..specs.len() as i64, Width::Four);
        self.integers(specs.iter().map(|spec| spec.0), Width::Four);
        self.integers(specs.iter().map(|spec| spec.1), Width::Four);
    }
}

/// Bytes of an integer.
#[derive(Clone, Copy)]
enum Width {
    Four,
    Eight,
}

impl Width {
    /// Bytes of differences with the codes 1, 2 and 3; the last is the full width.
    fn bytes(self) -> [usize; 3] {
        match self {
            Self::Four => [1, 2, 4],
            Self::Eight => [2, 4, 8],
        }
    }

    fn difference(self, a: i64, b: i64) -> i64 {
        match self {
            Self::Four => i64::from((a as i32).wrapping_sub(b as i32)),
            Self::Eight => a.wrapping_sub(b),
        }
    }
}

/// The most frequent difference, a two-bit code per integer (0 for that difference), and the other differences.
fn coded(values: impl Iterator<Item = i64>, width: Width) -> Vec<u8> {
    let mut before = 0;
    let differences: Vec<i64> =
        values.map(|value| width.difference(value, std::mem::replace(&mut before, value))).collect();
    let common = most_frequent(&differences);
    let sizes = width.bytes();
    let mut bytes = common.to_le_bytes()[..sizes[2]].to_vec();
    let codes = bytes.len();
    bytes.resize(codes + differences.len().div_ceil(4), 0);
    for (k, &difference) in differences.iter().enumerate() {
        if difference == common {
            continue;
        }
        let fits = |size: &usize| *size == 8 || difference >> (8 * size - 1) == difference >> 63;
        let size = sizes.iter().position(fits).unwrap_or(2);
        bytes[codes + k / 4] |= (size as u8 + 1) << (2 * (k % 4));
        bytes.extend_from_slice(&difference.to_le_bytes()[..sizes[size]]);
    }
    bytes
}

/// The value that occurs most often; of several the least.
fn most_frequent(values: &[i64]) -> i64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.rev().max_by_key(|run| run.len()).map_or(0, |run| run[0])
}

/// LZ4 behind a zero: one piece.
fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0];
    packed.extend(lz4_flex::block::compress(bytes));
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What readers do with coded integers.
    fn decoded(bytes: &[u8], count: usize, width: Width) -> Vec<i64> {
        let sizes = width.bytes();
        let read = |at: usize, size: usize| {
            let mut word = if bytes[at + size - 1] > 127 { [255; 8] } else { [0; 8] };
            word[..size].copy_from_slice(&bytes[at..at + size]);
            i64::from_le_bytes(word)
        };
        let common = read(0, sizes[2]);
        let (codes, mut at) = (sizes[2], sizes[2] + count.div_ceil(4));
        let mut value = 0i64;
        let mut values = Vec::new();
        for k in 0..count {
            let code = usize::from(bytes[codes + k / 4] >> (2 * (k % 4)) & 3);
            let difference = if code == 0 { common } else { read(at, sizes[code - 1]) };
            at += if code == 0 { 0 } else { sizes[code - 1] };
            value = match width {
                Width::Four => i64::from((value as i32).wrapping_add(difference as i32)),
                Width::Eight => value.wrapping_add(difference),
            };
            values.push(value);
        }
        assert_eq!(at, bytes.len());
        values
    }

    #[test]
    fn integers_come_back() {
        let edges = [0, 127, 128, -128, -129, 32767, 32768, -32768, -32769, i32::MAX.into(), i32::MIN.into(), 3, 3, 3];
        let longs = [0, 32767, -40000, i64::from(i32::MAX) + 1, i64::MAX, i64::MIN, 1, 2, 3];
        for count in 0..=edges.len() {
            let bytes = coded(edges[..count].iter().copied(), Width::Four);
            assert_eq!(decoded(&bytes, count, Width::Four), edges[..count]);
        }
        assert_eq!(decoded(&coded(longs.into_iter(), Width::Eight), longs.len(), Width::Eight), longs);
    }

    /// Counts of triangles are one difference of 3 and zeros: a quarter of a byte each before LZ4.
    #[test]
    fn what_repeats_costs_a_quarter_byte() {
        assert_eq!(coded([3; 4000].into_iter(), Width::Four).len(), 4 + 1000 + 1);
        assert_eq!(most_frequent(&[5, 2, 2, 9, 5]), 2);
        assert_eq!(most_frequent(&[]), 0);
    }
}
