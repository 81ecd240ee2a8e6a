//! Messages of PostgreSQL's protocol, cut out of a stream of bytes.
//!
//! The rule: a message is passed on byte for byte; the proxy reads its type, its length and the texts at its beginning only.

use anyhow::{Result, ensure};
use bytes::{Bytes, BytesMut};

/// Far more than a test sends: a greater length means that a message was cut off at the wrong place.
const LENGTH_MAX: usize = 64 * 1024 * 1024;
/// Of the length field, which counts itself.
const LENGTH_BYTES: usize = 4;
/// Room for what a client sends at once, so that one read gets it.
const READ_BYTES: usize = 64 * 1024;

/// Types of messages. The same letter may mean another message in the other direction.
pub const QUERY: u8 = b'Q';
pub const PARSE: u8 = b'P';
pub const BIND: u8 = b'B';
pub const EXECUTE: u8 = b'E';
pub const SYNC: u8 = b'S';
pub const TERMINATE: u8 = b'X';
pub const PARSE_COMPLETE: u8 = b'1';
pub const BIND_COMPLETE: u8 = b'2';
pub const COMMAND_COMPLETE: u8 = b'C';
pub const ERROR_RESPONSE: u8 = b'E';
/// The answer to each [`QUERY`] and [`SYNC`] ends with it.
pub const READY_FOR_QUERY: u8 = b'Z';

/// A whole message with type and length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame(Bytes);

impl Frame {
    pub fn new(kind: u8, body: &[u8]) -> Result<Self> {
        let length = u32::try_from(body.len() + LENGTH_BYTES)?;
        Ok(Self([&[kind][..], &length.to_be_bytes(), body].concat().into()))
    }

    /// A simple query.
    pub fn query(sql: &str) -> Result<Self> {
        Self::new(QUERY, format!("{sql}\0").as_bytes())
    }

    /// Parse, bind and execute a statement without a name, parameters or rows. The server answers with
    /// [`PARSE_COMPLETE`], [`BIND_COMPLETE`] and the result.
    pub fn unnamed_statement(sql: &str) -> Result<[Self; 3]> {
        let (no_name, no_types, no_formats, no_limit) = ("\0", [0; 2], [0; 6], [0; 4]);
        Ok([
            Self::new(PARSE, &[no_name.as_bytes(), sql.as_bytes(), b"\0", &no_types].concat())?,
            Self::new(BIND, &[no_name.as_bytes(), no_name.as_bytes(), &no_formats].concat())?,
            Self::new(EXECUTE, &[no_name.as_bytes(), &no_limit].concat())?,
        ])
    }

    pub fn kind(&self) -> u8 {
        self.0.first().copied().unwrap_or_default()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// One of the zero-terminated texts that the body begins with: of a query its SQL, of [`PARSE`] the name and the SQL, of
    /// [`BIND`] portal and statement, of [`COMMAND_COMPLETE`] the tag.
    pub fn text(&self, index: usize) -> String {
        let body = self.0.get(1 + LENGTH_BYTES..).unwrap_or_default();
        let text = body.split(|byte| *byte == 0).nth(index).unwrap_or_default();
        String::from_utf8_lossy(text).into_owned()
    }

    /// Whether these bytes are somewhere in it, in a statement or in a parameter.
    pub fn contains(&self, text: &str) -> bool {
        !text.is_empty() && self.0.windows(text.len()).any(|window| window == text.as_bytes())
    }
}

/// What arrived and is not yet a whole message.
#[derive(Default)]
pub struct FrameSplitter {
    buffer: BytesMut,
}

impl FrameSplitter {
    /// Where the next bytes go.
    pub fn buffer(&mut self) -> &mut BytesMut {
        self.buffer.reserve(READ_BYTES);
        &mut self.buffer
    }

    /// The first message of a client, which has no type.
    pub fn startup(&mut self) -> Result<Option<Bytes>> {
        self.take(0)
    }

    /// All messages that are complete.
    pub fn frames(&mut self) -> Result<Vec<Frame>> {
        std::iter::from_fn(|| self.take(1).transpose()).map(|bytes| bytes.map(Frame)).collect()
    }

    fn take(&mut self, type_bytes: usize) -> Result<Option<Bytes>> {
        let Some(length) = self.buffer.get(type_bytes..type_bytes + LENGTH_BYTES) else { return Ok(None) };
        let length = usize::try_from(u32::from_be_bytes(length.try_into()?))?;
        ensure!((LENGTH_BYTES..=LENGTH_MAX).contains(&length), "{length} is no length of a message");
        let whole = type_bytes + length;
        Ok((self.buffer.len() >= whole).then(|| self.buffer.split_to(whole).freeze()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_whole_wherever_the_stream_is_cut() {
        let sent =
            [Frame::query("SELECT 'ä'").unwrap(), Frame::new(b'S', &[]).unwrap(), Frame::new(b'D', &[0; 300]).unwrap()];
        let bytes: Vec<u8> = sent.iter().flat_map(|frame| frame.bytes().to_vec()).collect();
        for size in 1..=bytes.len() {
            let (mut splitter, mut received) = (FrameSplitter::default(), Vec::new());
            for chunk in bytes.chunks(size) {
                splitter.buffer().extend_from_slice(chunk);
                received.extend(splitter.frames().unwrap());
            }
            assert_eq!(received, sent, "in chunks of {size} bytes");
            assert!(splitter.buffer().is_empty());
        }
    }

    #[test]
    fn the_first_message_has_no_type() {
        let mut splitter = FrameSplitter::default();
        splitter.buffer().extend_from_slice(&[0, 0, 0, 8, 4, 210]);
        assert_eq!(splitter.startup().unwrap(), None);
        splitter.buffer().extend_from_slice(&[22, 47, b'Q']);
        assert_eq!(splitter.startup().unwrap().unwrap(), [0, 0, 0, 8, 4, 210, 22, 47][..]);
        assert_eq!(splitter.buffer()[..], *b"Q");
    }

    #[test]
    fn a_length_that_cannot_be_is_an_error() {
        for length in [0, 3, u32::MAX] {
            let mut splitter = FrameSplitter::default();
            splitter.buffer().extend_from_slice(b"Q");
            splitter.buffer().extend_from_slice(&length.to_be_bytes());
            assert!(splitter.frames().is_err(), "{length}");
        }
    }

    #[test]
    fn the_texts_of_a_message_are_read() {
        let [parse, bind, execute] = Frame::unnamed_statement("COMMIT").unwrap();
        assert_eq!((parse.kind(), parse.text(0).as_str(), parse.text(1).as_str()), (PARSE, "", "COMMIT"));
        assert_eq!((bind.kind(), bind.text(1).as_str()), (BIND, ""));
        assert_eq!(execute.bytes(), [b'E', 0, 0, 0, 9, 0, 0, 0, 0, 0]);
        assert!(parse.contains("MIT") && !parse.contains("ROLL") && !parse.contains(""));
        assert_eq!(Frame::new(COMMAND_COMPLETE, b"INSERT 0 1\0").unwrap().text(0), "INSERT 0 1");
    }
}
