//! Bytes of a stream as HTTP/1.1 frames them (RFC 9112 §7.1), for direct writes that bypass hyper.

use bytes::{BufMut as _, Bytes, BytesMut};

pub fn chunk(bytes: &[u8]) -> Bytes {
    let size = format!("{:x}\r\n", bytes.len());
    let mut chunk = BytesMut::with_capacity(size.len() + bytes.len() + 2);
    chunk.put_slice(size.as_bytes());
    chunk.put_slice(bytes);
    chunk.put_slice(b"\r\n");
    chunk.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_starts_with_its_length_in_hexadecimal() {
        assert_eq!(chunk(b"id: 7\n\n"), "7\r\nid: 7\n\n\r\n");
        assert_eq!(&chunk(&[b'x'; 300])[..5], b"12c\r\n");
    }
}
