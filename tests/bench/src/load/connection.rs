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
    pub body: &'a [u8],
}

struct Head {
    status: u16,
    bytes: usize,
    body_bytes: usize,
    etag: Option<(usize, usize)>,
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
        while self.buffer.len() < head.bytes + head.body_bytes {
            self.receive().await?;
        }
        ensure!(self.buffer.len() == head.bytes + head.body_bytes, "the server sent more than one answer");
        let etag = head.etag.and_then(|(from, to)| std::str::from_utf8(&self.buffer[from..to]).ok());
        Ok(Answer { status: head.status, etag, body: &self.buffer[head.bytes..] })
    }

    async fn receive(&mut self) -> Result<()> {
        self.buffer.reserve(READ_BYTES);
        ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the server closed the connection");
        Ok(())
    }
}

fn read_head(bytes: &[u8]) -> Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(end) = response.parse(bytes)? else { return Ok(None) };
    let status = response.code.context("the answer has no status")?;
    let find = |name: &str| response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
    let body_bytes = match find("content-length") {
        Some(header) => std::str::from_utf8(header.value)?.parse()?,
        None if matches!(status, 204 | 304) => 0,
        None => bail!("an answer without content-length, which this client does not understand"),
    };
    let etag = find("etag").map(|header| {
        let from = header.value.as_ptr() as usize - bytes.as_ptr() as usize;
        (from, from + header.value.len())
    });
    // A 304 may tell the length of what it does not send.
    Ok(Some(Head { status, bytes: end, body_bytes: if status == 304 { 0 } else { body_bytes }, etag }))
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
        assert_eq!((head.status, &text[head.bytes..], head.body_bytes), (200, &b"abc"[..], 3));
        assert_eq!(head.etag.map(|(from, to)| &text[from..to]), Some(&b"\"x\""[..]));
        Ok(())
    }

    #[test]
    fn what_it_does_not_understand_is_an_error() {
        for text in ["nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"] {
            assert!(read_head(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
