//! Files that grow by a line at a time: probes.csv and commands.jsonl.
//!
//! A row goes to the system in one write, so that a kill cannot tear it. A power cut can: an unfinished last line is
//! cut off when the file is opened again.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::atomic::{sync_folder, write_atomic};
use crate::error::{IoContext, RecordError, Result};
use crate::faults;

/// Appends rows of numbers to a CSV file.
#[derive(Debug)]
pub struct ProbeWriter {
    file: RowFile,
    columns: usize,
    line: String,
}

impl ProbeWriter {
    /// Opens a file to append to, or makes it. A new file begins with the names of the columns.
    ///
    /// # Errors
    /// [`RecordError::OtherColumns`] when the file has other columns, [`RecordError::BadName`] for a name with line
    /// ends in it, [`RecordError::Io`] when the system refuses.
    pub fn open(path: impl AsRef<Path>, columns: &[impl AsRef<str>]) -> Result<Self> {
        let path = path.as_ref();
        let header = header_row(columns)?;
        let mut file = RowFile::open(path)?;
        if file.lines == 0 {
            file.append(&format!("{header}\n"))?;
        }
        let found = first_line(path)?;
        if found != header {
            return Err(RecordError::OtherColumns { path: path.to_path_buf(), found, expected: header });
        }
        Ok(Self { file, columns: columns.len(), line: String::new() })
    }

    /// Appends a row; every number is printed in the shortest form that reads back to the same bits, NaN as `nan`.
    ///
    /// # Errors
    /// [`RecordError::WrongLength`] when the row does not fit the columns, [`RecordError::Io`] when the system refuses.
    pub fn write(&mut self, values: &[f64]) -> Result<()> {
        if values.len() != self.columns {
            let what = "a row of probes".into();
            return Err(RecordError::WrongLength { what, expected: self.columns, found: values.len() });
        }
        self.line.clear();
        for (i, &value) in values.iter().enumerate() {
            self.line.push_str(if i > 0 { "," } else { "" });
            push_number(&mut self.line, value);
        }
        self.line.push('\n');
        self.file.append(&self.line)
    }

    /// Rows in the file, without the header row: what a checkpoint notes.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.file.lines.saturating_sub(1)
    }
}

/// Appends JSON documents to a file, one per line.
#[derive(Debug)]
pub struct CommandWriter {
    file: RowFile,
}

impl CommandWriter {
    /// Opens a file to append to, or makes it.
    ///
    /// # Errors
    /// [`RecordError::Io`] when the system refuses.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self { file: RowFile::open(path.as_ref())? })
    }

    /// Appends a document.
    ///
    /// # Errors
    /// [`RecordError::Io`] when the system refuses.
    pub fn write(&mut self, command: &Value) -> Result<()> {
        self.file.append(&format!("{command}\n"))
    }

    /// Rows in the file: what a checkpoint notes.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.file.lines
    }
}

/// What a file of probes says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProbeTable {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows of as many numbers.
    pub rows: Vec<Vec<f64>>,
}

/// Reads a file of probes. An unfinished last line is passed over.
///
/// # Errors
/// [`RecordError::BadRow`] with the line, [`RecordError::Io`] when the system refuses.
pub fn read_probes(path: impl AsRef<Path>) -> Result<ProbeTable> {
    let path = path.as_ref();
    let text = read_text(path)?;
    let mut lines = whole_lines(&text).enumerate();
    let columns = lines.next().map(|(_, header)| split_header(header)).unwrap_or_default();
    let row = |(i, line): (usize, &str)| {
        let values: std::result::Result<Vec<f64>, _> = line.split(',').map(str::parse).collect();
        match values {
            Ok(values) if values.len() == columns.len() => Ok(values),
            Ok(values) => Err(bad_row(path, i, format!("{} values for {} columns", values.len(), columns.len()))),
            Err(error) => Err(bad_row(path, i, error.to_string())),
        }
    };
    let rows = lines.map(row).collect::<Result<_>>()?;
    Ok(ProbeTable { columns, rows })
}

/// Reads a file of commands. An unfinished last line is passed over.
///
/// # Errors
/// [`RecordError::BadRow`] with the line, [`RecordError::Io`] when the system refuses.
pub fn read_commands(path: impl AsRef<Path>) -> Result<Vec<Value>> {
    let path = path.as_ref();
    let text = read_text(path)?;
    let command = |(i, line)| serde_json::from_str(line).map_err(|e| bad_row(path, i, e.to_string()));
    whole_lines(&text).enumerate().map(command).collect()
}

/// Cuts a row file back to `rows` rows behind `headers` header rows. Writers must be opened again afterwards.
pub(crate) fn cut_rows(path: &Path, headers: u64, rows: u64) -> Result<()> {
    require_rows(path, headers, rows)?;
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        result => result.while_trying("read", path)?,
    };
    let ends = bytes.iter().enumerate().filter(|&(_, &b)| b == b'\n').map(|(i, _)| i + 1);
    let keep = ends.zip(0..headers.saturating_add(rows)).last().map_or(0, |(end, _)| end);
    match bytes.get(..keep) {
        Some(kept) if keep < bytes.len() => write_atomic(path, kept),
        _ => Ok(()),
    }
}

/// A row file must have at least `rows` rows behind its header rows; a file that is not there has none.
pub(crate) fn require_rows(path: &Path, headers: u64, rows: u64) -> Result<()> {
    let lines = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        file => file.and_then(|f| count_lines(&f)).while_trying("read", path)?.0,
    };
    match lines.saturating_sub(headers) {
        found if found < rows => Err(RecordError::RowsMissing { path: path.to_path_buf(), found, needed: rows }),
        _ => Ok(()),
    }
}

/// Forces the rows of a file to the disk, if there is one.
pub(crate) fn sync_rows(path: &Path) -> Result<()> {
    match OpenOptions::new().append(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        file => file.and_then(|f| f.sync_data()).while_trying("sync", path),
    }
}

/// A file of whole lines.
#[derive(Debug)]
struct RowFile {
    path: PathBuf,
    file: File,
    lines: u64,
    length: u64,
}

impl RowFile {
    fn open(path: &Path) -> Result<Self> {
        let new = !path.exists();
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).while_trying("open", path)?;
        let (lines, length) = count_lines(&file).while_trying("read", path)?;
        file.set_len(length).while_trying("cut the unfinished last line off", path)?;
        if new {
            sync_folder(path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
        }
        Ok(Self { path: path.to_path_buf(), file, lines, length })
    }

    fn append(&mut self, line: &str) -> Result<()> {
        // Rows written into a file without a name would be lost in silence.
        if fs::metadata(&self.path).map_or(true, |about| about.len() != self.length) {
            return Err(RecordError::Meddled { path: self.path.clone() });
        }
        if let Err(error) = faults::write_all(&self.file, line.as_bytes()) {
            // Half a line on a full disk: the next row must not be glued to it.
            let _ = faults::before().and_then(|()| self.file.set_len(self.length));
            return Err(error).while_trying("append to", &self.path);
        }
        self.lines += 1;
        self.length += line.len() as u64;
        Ok(())
    }
}

/// Number of whole lines and their length in bytes.
fn count_lines(mut file: &File) -> io::Result<(u64, u64)> {
    let (mut lines, mut length, mut read) = (0, 0, 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let chunk = match file.read(&mut buffer) {
            Ok(0) => return Ok((lines, length)),
            Ok(n) => buffer.get(..n).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        lines += chunk.iter().filter(|&&b| b == b'\n').count() as u64;
        if let Some(last) = chunk.iter().rposition(|&b| b == b'\n') {
            length = read + last as u64 + 1;
        }
        read += chunk.len() as u64;
    }
}

fn first_line(path: &Path) -> Result<String> {
    let mut line = String::new();
    let file = File::open(path).while_trying("read", path)?;
    io::BufRead::read_line(&mut io::BufReader::new(file), &mut line).while_trying("read", path)?;
    Ok(line.trim_end_matches('\n').into())
}

fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).while_trying("read", path)
}

fn whole_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'))
}

fn bad_row(path: &Path, index: usize, reason: String) -> RecordError {
    RecordError::BadRow { path: path.to_path_buf(), line: index + 1, reason }
}

fn push_number(line: &mut String, value: f64) {
    // Writing to a string does not fail. `{:?}` is the shortest form that parses back, with an exponent where it helps.
    let _ = if value.is_nan() { write!(line, "nan") } else { write!(line, "{value:?}") };
}

fn header_row(columns: &[impl AsRef<str>]) -> Result<String> {
    if columns.is_empty() {
        return Err(RecordError::WrongLength { what: "the header of probes".into(), expected: 1, found: 0 });
    }
    let quoted: Result<Vec<String>> = columns.iter().map(|c| quote(c.as_ref())).collect();
    Ok(quoted?.join(","))
}

/// A name as RFC 4180 wants it: in quotation marks when it holds commas or quotation marks.
fn quote(name: &str) -> Result<String> {
    if name.is_empty() || name.contains(char::is_control) {
        let reason = "it is empty or holds control characters";
        return Err(RecordError::BadName { what: "a column of probes", name: name.into(), reason });
    }
    Ok(if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into() })
}

fn split_header(header: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut quoted = false;
    let mut chars = header.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, names.last_mut()) {
            ('"', Some(name)) if quoted && chars.peek() == Some(&'"') => name.extend(chars.next()),
            ('"', _) => quoted = !quoted,
            (',', _) if !quoted => names.push(String::new()),
            (c, Some(name)) => name.push(c),
            (_, None) => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn with_file<T>(test: impl FnOnce(&Path) -> T) -> T {
        let folder = tempfile::tempdir().unwrap();
        test(&folder.path().join("rows"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn numbers_parse_back_to_the_same_bits(rows in prop::collection::vec(any::<[f64; 3]>(), 0..8)) {
            with_file(|path| {
                let mut writer = ProbeWriter::open(path, &["time", "a, \"b\"", "c"]).unwrap();
                rows.iter().for_each(|row| writer.write(row).unwrap());
                assert_eq!(writer.rows(), rows.len() as u64);
                let table = read_probes(path).unwrap();
                assert_eq!(table.columns, ["time", "a, \"b\"", "c"]);
                let bits = |v: f64| if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() };
                let flat = |v: &f64| bits(*v);
                assert_eq!(
                    table.rows.iter().flatten().map(flat).collect::<Vec<_>>(),
                    rows.iter().flatten().map(flat).collect::<Vec<_>>()
                );
            });
        }

        #[test]
        fn commands_parse_back_to_the_same_bits(x in -1e300f64..1e300, text in ".*") {
            with_file(|path| {
                let command = json!({"pull": {"body": text, "force": [x, 1.0 / x, 0.1]}});
                CommandWriter::open(path).unwrap().write(&command).unwrap();
                let back = read_commands(path).unwrap();
                assert_eq!(back, [command]);
                assert_eq!(back[0]["pull"]["force"][0].as_f64().unwrap().to_bits(), x.to_bits());
            });
        }
    }

    #[test]
    fn numbers_are_short() {
        let mut line = String::new();
        for value in [0.1, -0.0, 1e300, 5e-324, f64::NAN, f64::NEG_INFINITY, 1.0 / 3.0] {
            push_number(&mut line, value);
            line.push(' ');
        }
        assert_eq!(line, "0.1 -0.0 1e300 5e-324 nan -inf 0.3333333333333333 ");
    }

    #[test]
    fn an_unfinished_last_line_is_cut_off() {
        with_file(|path| {
            fs::write(path, "time,x\n0.0,1.0\n0.5,2").unwrap();
            assert_eq!(read_probes(path).unwrap().rows, [[0.0, 1.0]]);
            let mut writer = ProbeWriter::open(path, &["time", "x"]).unwrap();
            assert_eq!(writer.rows(), 1);
            writer.write(&[0.5, 2.5]).unwrap();
            assert_eq!(fs::read_to_string(path).unwrap(), "time,x\n0.0,1.0\n0.5,2.5\n");

            fs::write(path, "time").unwrap();
            assert_eq!(ProbeWriter::open(path, &["time", "x"]).unwrap().rows(), 0);
            assert_eq!(fs::read_to_string(path).unwrap(), "time,x\n");
        });
    }

    #[test]
    fn long_files_are_counted_across_chunks() {
        with_file(|path| {
            fs::write(path, format!("{}torn", "0123456789\n".repeat(20_000))).unwrap();
            let writer = CommandWriter::open(path).unwrap();
            assert_eq!(writer.rows(), 20_000);
            assert_eq!(fs::metadata(path).unwrap().len(), 220_000);
        });
    }

    #[test]
    fn rows_are_cut_back_and_never_invented() {
        with_file(|path| {
            fs::write(path, "time\n0.0\n1.0\n2.").unwrap();
            assert!(matches!(cut_rows(path, 1, 3), Err(RecordError::RowsMissing { found: 2, needed: 3, .. })));
            cut_rows(path, 1, 2).unwrap();
            assert_eq!(fs::read_to_string(path).unwrap(), "time\n0.0\n1.0\n");
            cut_rows(path, 1, 0).unwrap();
            assert_eq!(fs::read_to_string(path).unwrap(), "time\n");
            fs::remove_file(path).unwrap();
            cut_rows(path, 1, 0).unwrap();
            assert!(!path.exists());
        });
    }

    #[test]
    fn wrong_rows_and_columns_are_told() {
        with_file(|path| {
            let mut writer = ProbeWriter::open(path, &["time", "x"]).unwrap();
            assert!(matches!(writer.write(&[1.0]), Err(RecordError::WrongLength { expected: 2, found: 1, .. })));
            assert!(matches!(ProbeWriter::open(path, &["time", "y"]), Err(RecordError::OtherColumns { .. })));
            assert!(matches!(ProbeWriter::open(path, &["time\n"]), Err(RecordError::BadName { .. })));
            assert!(ProbeWriter::open(path, &[] as &[&str]).is_err());
            fs::write(path, "time,x\n0.0,1.0\n0.5\n").unwrap();
            assert!(matches!(read_probes(path), Err(RecordError::BadRow { line: 3, .. })));
            fs::write(path, "{}\n{\n").unwrap();
            assert!(matches!(read_commands(path), Err(RecordError::BadRow { line: 2, .. })));
        });
    }
}
