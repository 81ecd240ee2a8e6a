//! Bytes of a stream as HTTP/1.1 frames them (RFC 9112 §7.1), for readers that are written to past hyper.

use super::{Filter, Topic, ring::Read};
use bytes::{BufMut as _, Bytes, BytesMut};

/// Readers are at few positions: most have all there was before.
const MADE_MAX: usize = 16;

pub fn chunk(bytes: &[u8]) -> Bytes {
    let size = format!("{:x}\r\n", bytes.len());
    let mut chunk = BytesMut::with_capacity(size.len() + bytes.len() + 2);
    chunk.put_slice(size.as_bytes());
    chunk.put_slice(bytes);
    chunk.put_slice(b"\r\n");
    chunk.freeze()
}

/// What one delivery sends: for readers that take everything, each chunk is made once.
#[derive(Default)]
pub struct Chunks {
    made: Vec<Made>,
}

struct Made {
    from: i64,
    bytes: Option<Bytes>,
    to: i64,
}

impl Chunks {
    /// The chunk for a reader at that position (nothing, when none of what is there is wanted) and the position behind it.
    /// `None` when the ring does not reach back.
    pub fn after(&mut self, topic: &Topic, position: i64, filter: &Filter) -> Option<(Option<Bytes>, i64)> {
        if filter.takes_all()
            && let Some(made) = self.made.iter().find(|made| made.from == position)
        {
            return Some((made.bytes.clone(), made.to));
        }
        let Read::Ready { bytes, position: to } = topic.read(position, filter) else { return None };
        let bytes = bytes.map(|bytes| chunk(&bytes));
        if filter.takes_all() && self.made.len() < MADE_MAX {
            self.made.push(Made { from: position, bytes: bytes.clone(), to });
        }
        Some((bytes, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_tells_its_length_in_hexadecimal() {
        assert_eq!(chunk(b"id: 7\n\n"), "7\r\nid: 7\n\n\r\n");
        assert_eq!(&chunk(&[b'x'; 300])[..5], b"12c\r\n");
    }
}
