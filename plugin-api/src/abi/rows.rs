//! Result rows in one flat buffer, so that a whole result crosses the ABI as one block.
//!
//! Bytes: `u32 columns`, `u32 rows`, then per column `u32 length` + UTF-8 name, then row by row, cell by cell:
//! tag `0` null · `1` i64 · `2` f64 · `3` text (`u32 length` + UTF-8) · `4` blob (`u32 length` + bytes).
//! All numbers are little-endian. Reading validates everything: a malformed buffer is an error, never a panic.

use super::FfiBytes;
use abi_stable::StableAbi;

const HEADER_BYTES: usize = 8;

/// The rows of one statement; read with [`Rows::columns`] and [`Rows::cells`].
#[repr(C)]
#[derive(StableAbi, Debug, Default)]
pub struct Rows {
    buffer: FfiBytes,
}

/// One value of a row, borrowed from the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

/// The buffer does not follow the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed row buffer")]
pub struct MalformedRows;

impl Rows {
    /// Wraps a buffer without checks; reading validates it.
    pub fn from_buffer(buffer: impl Into<FfiBytes>) -> Self {
        Self { buffer: buffer.into() }
    }

    /// Number of rows according to the header (0 for an empty buffer).
    pub fn row_count(&self) -> usize {
        Reader { rest: &self.buffer, at: 4 }.u32().map_or(0, |count| count as usize)
    }

    pub fn is_empty(&self) -> bool {
        self.row_count() == 0
    }

    /// Size of the whole buffer in bytes.
    pub fn byte_count(&self) -> usize {
        self.buffer.len()
    }

    /// Column names in the order of the cells.
    pub fn columns(&self) -> Result<Vec<&str>, MalformedRows> {
        Ok(self.open()?.0)
    }

    /// The cells, row after row.
    pub fn cells(&self) -> Result<Cells<'_>, MalformedRows> {
        let (columns, reader) = self.open()?;
        let left = columns.len().checked_mul(self.row_count()).ok_or(MalformedRows)?;
        Ok(Cells { reader, left })
    }

    fn open(&self) -> Result<(Vec<&str>, Reader<'_>), MalformedRows> {
        if self.buffer.is_empty() {
            return Ok((Vec::new(), Reader { rest: &[], at: 0 }));
        }
        let mut reader = Reader { rest: &self.buffer, at: 0 };
        let columns = reader.u32()? as usize;
        reader.at = HEADER_BYTES;
        // A name takes at least four bytes, so a false header cannot reserve more memory than the buffer's own size.
        let mut names = Vec::with_capacity(columns.min(self.buffer.len() / 4));
        for _ in 0..columns {
            names.push(reader.text()?);
        }
        Ok((names, reader))
    }
}

/// Sequential reader over cells: no allocation, borrowed text.
pub struct Cells<'a> {
    reader: Reader<'a>,
    left: usize,
}

impl<'a> Iterator for Cells<'a> {
    type Item = Result<Cell<'a>, MalformedRows>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let cell = self.reader.cell();
        self.left = if cell.is_ok() { self.left - 1 } else { 0 };
        Some(cell)
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], MalformedRows> {
        let end = self.at.checked_add(count).ok_or(MalformedRows)?;
        let bytes = self.rest.get(self.at..end).ok_or(MalformedRows)?;
        self.at = end;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MalformedRows> {
        self.take(N)?.try_into().map_err(|_: std::array::TryFromSliceError| MalformedRows)
    }

    fn u32(&mut self) -> Result<u32, MalformedRows> {
        self.array().map(u32::from_le_bytes)
    }

    fn sized(&mut self) -> Result<&'a [u8], MalformedRows> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    fn text(&mut self) -> Result<&'a str, MalformedRows> {
        std::str::from_utf8(self.sized()?).map_err(|_: std::str::Utf8Error| MalformedRows)
    }

    fn cell(&mut self) -> Result<Cell<'a>, MalformedRows> {
        match self.take(1)?[0] {
            0 => Ok(Cell::Null),
            1 => Ok(Cell::Int(i64::from_le_bytes(self.array()?))),
            2 => Ok(Cell::Real(f64::from_le_bytes(self.array()?))),
            3 => Ok(Cell::Text(self.text()?)),
            4 => Ok(Cell::Blob(self.sized()?)),
            _ => Err(MalformedRows),
        }
    }
}

/// Writes the buffer; the gateway's storage uses it.
pub struct RowsBuilder {
    buffer: Vec<u8>,
    rows: u32,
}

impl RowsBuilder {
    pub fn new<'n>(columns: impl ExactSizeIterator<Item = &'n str>) -> Self {
        Self::with_room(columns, 4096)
    }

    /// With an initial capacity in bytes.
    pub fn with_room<'n>(columns: impl ExactSizeIterator<Item = &'n str>, bytes: usize) -> Self {
        let mut builder = Self { buffer: Vec::with_capacity(bytes), rows: 0 };
        builder.length(columns.len());
        builder.length(0);
        for name in columns {
            builder.sized(name.as_bytes());
        }
        builder
    }

    pub fn cell(&mut self, cell: Cell<'_>) {
        match cell {
            Cell::Null => self.buffer.push(0),
            Cell::Int(value) => self.fixed(1, &value.to_le_bytes()),
            Cell::Real(value) => self.fixed(2, &value.to_le_bytes()),
            Cell::Text(text) => {
                self.buffer.push(3);
                self.sized(text.as_bytes());
            }
            Cell::Blob(bytes) => {
                self.buffer.push(4);
                self.sized(bytes);
            }
        }
    }

    pub fn end_row(&mut self) {
        self.rows = self.rows.saturating_add(1);
    }

    pub fn byte_count(&self) -> usize {
        self.buffer.len()
    }

    pub fn finish(mut self) -> Rows {
        self.buffer[4..HEADER_BYTES].copy_from_slice(&self.rows.to_le_bytes());
        Rows { buffer: self.buffer.into() }
    }

    fn fixed(&mut self, tag: u8, bytes: &[u8]) {
        self.buffer.push(tag);
        self.buffer.extend_from_slice(bytes);
    }

    fn sized(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.buffer.extend_from_slice(bytes);
    }

    /// Lengths are far below 4 GiB: SQLite and PostgreSQL limit a value to 1 GiB.
    fn length(&mut self, length: usize) {
        self.buffer.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_are_read_as_they_were_written() {
        let mut builder = RowsBuilder::new(["id", "title"].into_iter());
        for (id, title) in [(1, Cell::Text("ä€😀")), (-2, Cell::Null)] {
            builder.cell(Cell::Int(id));
            builder.cell(title);
            builder.end_row();
        }
        let rows = builder.finish();
        assert_eq!(rows.columns().unwrap(), ["id", "title"]);
        let cells: Vec<_> = rows.cells().unwrap().map(Result::unwrap).collect();
        assert_eq!(cells, [Cell::Int(1), Cell::Text("ä€😀"), Cell::Int(-2), Cell::Null]);
    }

    #[test]
    fn an_empty_buffer_has_no_rows() {
        assert_eq!(Rows::default().cells().unwrap().count(), 0);
    }

    proptest! {
        #[test]
        fn no_buffer_makes_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let rows = Rows::from_buffer(bytes);
            if let Ok(cells) = rows.cells() {
                let _ = cells.take(1000).filter(Result::is_ok).count();
            }
        }
    }
}
