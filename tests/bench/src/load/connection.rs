//! One kept-alive HTTP/1.1 connection, one request at a time. It reads just enough of an answer to know where it ends.

use anyhow::{Context as _, Result, bail, ensure};
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

const SILENCE_MAX: Duration = Duration::from_secs(30);
const HEADERS_MAX: usize = 64;
const READ_BYTES: usize = 64 * 1024;

pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer in the connection's buffer.
pub struct Answer<'a> {
    pub status: u16,
    pub etag: Option<&'a str>,
    /// As it came: in its content coding, and with the sizes of chunks in between if it is chunked.
    pub body: &'a [u8],
}

struct Head {
    status: u16,
    bytes: usize,
    body: BodyLength,
    etag: Option<(usize, usize)>,
}

enum BodyLength {
    Bytes(usize),
    /// Told chunk by chunk.
    Chunked,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("connecting to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(READ_BYTES) })
    }

    pub async fn ask(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        timeout(SILENCE_MAX, self.exchange(request)).await.context("no answer within 30 s")?
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.buffer.clear();
        self.stream.write_all(request).await?;
        let head = loop {
            self.receive().await?;
            if let Some(head) = read_head(&self.buffer)? {
                break head;
            }
        };
        let end = loop {
            match head.end(&self.buffer)? {
                Some(end) if end <= self.buffer.len() => break end,
                _ => self.receive().await?,
            }
        };
        ensure!(self.buffer.len() == end, "the server sent more than one answer");
        let etag = head.etag.and_then(|(from, to)| std::str::from_utf8(&self.buffer[from..to]).ok());
        Ok(Answer { status: head.status, etag, body: &self.buffer[head.bytes..] })
    }

    async fn receive(&mut self) -> Result<()> {
        self.buffer.reserve(READ_BYTES);
        ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the server closed the connection");
        Ok(())
    }
}

impl Head {
    /// Where the answer ends, as soon as that is known.
    fn end(&self, received: &[u8]) -> Result<Option<usize>> {
        let mut at = self.bytes;
        if let BodyLength::Bytes(length) = self.body {
            return Ok(Some(at + length));
        }
        loop {
            let Some(rest) = received.get(at..) else { return Ok(None) };
            let chunk = httparse::parse_chunk_size(rest).map_err(|_| anyhow::anyhow!("the size of a chunk is none"))?;
            let httparse::Status::Complete((size_line, size)) = chunk else { return Ok(None) };
            // Each chunk, the empty last one too, ends with CR LF; no server here sends trailers.
            at += size_line + usize::try_from(size)? + 2;
            if size == 0 {
                return Ok(Some(at));
            }
        }
    }
}

fn read_head(bytes: &[u8]) -> Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(end) = response.parse(bytes)? else { return Ok(None) };
    let status = response.code.context("the answer has no status")?;
    let find = |name: &str| response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
    let is_chunked = find("transfer-encoding").is_some_and(|header| header.value.eq_ignore_ascii_case(b"chunked"));
    let body = match find("content-length") {
        // A 304 may tell the length of what it does not send.
        _ if matches!(status, 204 | 304) => BodyLength::Bytes(0),
        Some(header) => BodyLength::Bytes(std::str::from_utf8(header.value)?.parse()?),
        None if is_chunked => BodyLength::Chunked,
        None => bail!("an answer of unknown length, which this client does not understand"),
    };
    let etag = find("etag").map(|header| {
        let from = header.value.as_ptr() as usize - bytes.as_ptr() as usize;
        (from, from + header.value.len())
    });
    Ok(Some(Head { status, bytes: end, body, etag }))
}

/// Whether a head with this status has arrived; another status is an error.
pub fn is_complete_head(bytes: &[u8], status: u16) -> Result<bool> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let is_complete = response.parse(bytes)?.is_complete();
    ensure!(response.code.is_none_or(|code| code == status), "answered with {:?}", response.code);
    Ok(is_complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_to_their_end() -> Result<()> {
        let text = b"HTTP/1.1 200 OK\r\nETag: \"x\"\r\nContent-Length: 3\r\n\r\nabc";
        assert!(read_head(&text[..20])?.is_none());
        let head = read_head(text)?.context("it is complete")?;
        assert_eq!((head.status, &text[head.bytes..], head.end(text)?), (200, &b"abc"[..], Some(text.len())));
        assert_eq!(head.etag.map(|(from, to)| &text[from..to]), Some(&b"\"x\""[..]));
        Ok(())
    }

    #[test]
    fn chunks_are_read_to_the_last_one() -> Result<()> {
        let text =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n";
        let head = read_head(text)?.context("it is complete")?;
        let end = |length: usize| head.end(&text[..length]);
        assert_eq!(end(text.len())?, Some(text.len()));
        // Without its last CR LF it is known where it ends, and that this has not come yet.
        assert_eq!(end(text.len() - 2)?, Some(text.len()));
        assert!((head.bytes..text.len() - 4).all(|length| end(length).is_ok_and(|end| end.is_none())));
        Ok(())
    }

    #[test]
    fn what_it_does_not_understand_is_an_error() {
        for text in ["nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"] {
            assert!(read_head(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
