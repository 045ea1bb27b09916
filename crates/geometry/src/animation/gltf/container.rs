//! From bytes to JSON and buffers.

use std::path::{Component, Path, PathBuf};

use super::accessor::Document;
use super::json::Json;
use crate::animation::{GltfError, ReadFile};
use crate::files::{LARGEST_FILE, from_base64, read_bytes};

/// Where buffers may come from.
pub(super) enum Buffers<'a> {
    /// The file itself.
    Within,
    /// The file itself, or files beside it or in folders below.
    Folder(&'a Path),
    /// The same, found by their names.
    Named(&'a Path, &'a ReadFile<'a>),
}

const MAGIC: &[u8] = b"glTF";
const JSON_CHUNK: u32 = u32::from_le_bytes(*b"JSON");
const BINARY_CHUNK: u32 = u32::from_le_bytes(*b"BIN\0");

/// Extensions that say how a surface looks or how its numbers are packed, which we read.
fn harmless(extension: &str) -> bool {
    let starts = ["KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_", "EXT_lights_"];
    extension == "KHR_mesh_quantization" || starts.iter().any(|start| extension.starts_with(start))
}

/// Opens a `.glb` file, known by its first bytes, or a `.gltf` file.
pub(super) fn open(bytes: &[u8], buffers: &Buffers<'_>) -> Result<Document, GltfError> {
    let (text, binary) = if bytes.starts_with(MAGIC) { chunks(bytes)? } else { (bytes, None) };
    let json: Json = serde_json::from_slice(text).map_err(|error| GltfError::Json(error.to_string()))?;
    if !json.asset.version.starts_with("2.") {
        let version: String = json.asset.version.chars().take(20).collect();
        return Err(GltfError::Container(format!("its version is `{}`", version.escape_debug())));
    }
    if let Some(extension) = json.extensions_required.iter().find(|name| !harmless(name)) {
        return Err(GltfError::Extension(extension.chars().take(60).collect()));
    }
    let mut loaded = Vec::new();
    let mut sum = bytes.len() as u64;
    for (buffer, about) in json.buffers.iter().enumerate() {
        let wrong = |problem| GltfError::Buffer { buffer, problem };
        let contents = match &about.uri {
            None => {
                binary.filter(|_| buffer == 0).map(<[u8]>::to_vec).ok_or_else(|| wrong("it has no bytes".into()))?
            }
            Some(uri) => external(uri, buffers).map_err(wrong)?,
        };
        if contents.len() < about.byte_length {
            let problem = format!("{} bytes are announced, but there are {}", about.byte_length, contents.len());
            return Err(wrong(problem));
        }
        sum += contents.len() as u64;
        if sum > LARGEST_FILE {
            return Err(wrong(format!("the buffers have more than {LARGEST_FILE} bytes")));
        }
        loaded.push(contents);
    }
    Ok(Document { json, buffers: loaded, bytes: sum as usize })
}

/// The JSON and the binary chunk of a `.glb` file.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), GltfError> {
    let wrong = |what: &str| GltfError::Container(what.into());
    let number = |at: usize| -> Option<u32> { Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)) };
    if number(4) != Some(2) {
        return Err(wrong("the version in its header is not 2"));
    }
    if number(8).is_none_or(|length| length as usize > bytes.len()) {
        return Err(wrong("it breaks off: it is shorter than its header says"));
    }
    let (mut json, mut binary, mut at) = (None, None, 12);
    while let (Some(length), Some(kind)) = (number(at), number(at + 4)) {
        let chunk = bytes.get(at + 8..).and_then(|rest| rest.get(..length as usize));
        let chunk = chunk.ok_or_else(|| wrong("a chunk is longer than the file"))?;
        match kind {
            JSON_CHUNK if json.is_none() => json = Some(chunk),
            BINARY_CHUNK if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at += 8 + length as usize;
    }
    Ok((json.ok_or_else(|| wrong("it has no JSON"))?, binary))
}

/// The bytes behind a URI.
fn external(uri: &str, buffers: &Buffers<'_>) -> Result<Vec<u8>, String> {
    if let Some(data) = uri.strip_prefix("data:") {
        let (_, text) = data.split_once(";base64,").ok_or("its data URI is not base64")?;
        return Ok(from_base64(text.as_bytes(), text.len(), text.len()).0);
    }
    let shown: String = uri.chars().take(80).collect();
    let leaves = || format!("`{}` is not a file beside this one or below its folder", shown.escape_debug());
    match buffers {
        Buffers::Within => Err(format!("it lies in another file, `{}`", shown.escape_debug())),
        Buffers::Folder(folder) => {
            read_bytes(&within(folder, uri).ok_or_else(leaves)?).map_err(|error| error.to_string())
        }
        Buffers::Named(folder, read) => {
            let path = folder.join(below(uri).ok_or_else(leaves)?);
            let name = path.to_str().ok_or_else(leaves)?;
            read(name).map_err(|error| format!("cannot read `{}`: {error}", shown.escape_debug()))
        }
    }
}

/// The path of a URI that goes down only.
fn below(uri: &str) -> Option<PathBuf> {
    let relative = PathBuf::from(percent_decoded(uri)?);
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    (inside && !uri.contains(':')).then_some(relative)
}

/// The path of a relative URI, unless it leaves the folder, by dots or by links.
fn within(folder: &Path, uri: &str) -> Option<PathBuf> {
    let path = folder.join(below(uri)?);
    let home = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (home.canonicalize(), path.canonicalize()) {
        (Ok(home), Ok(real)) => real.starts_with(home).then_some(path),
        // What does not exist leads nowhere; reading it says so.
        _ => Some(path),
    }
}

fn percent_decoded(uri: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = uri.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}
