//! A client with one kept-alive connection that checks how the gateway uses it.
//!
//! The rule: every request gets exactly one response with no bytes after it, and the gateway closes the connection when
//! it announced that, and only then.

use super::call::Request;
use plugin_testing::Value;
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// For any response: generous, because the machine may be busy.
const LIMIT: Duration = Duration::from_secs(60);
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// What came back.
#[derive(Debug)]
pub struct RawResponse {
    pub status: u16,
    /// Names are lower case.
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

pub struct Client {
    gateway: SocketAddr,
    stream: Option<TcpStream>,
    /// Connections that were opened.
    pub connections: u64,
}

impl RawResponse {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(one, _)| one == name).map_or("", |(_, value)| value)
    }

    /// `null` where the body is no JSON, or is compressed.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn is_stream(&self) -> bool {
        self.header("content-type").starts_with("text/event-stream")
    }
}

impl Client {
    pub fn new(gateway: SocketAddr) -> Self {
        Self { gateway, stream: None, connections: 0 }
    }

    /// Sends a request and reads its response; `Err` says what is wrong with it. Of a stream only the head is read.
    pub async fn ask(&mut self, request: &Request) -> Result<RawResponse, String> {
        match timeout(LIMIT, self.exchange(request)).await {
            Ok(received) => received,
            Err(_elapsed) => Err(format!("no answer within {LIMIT:?}")),
        }
    }

    async fn exchange(&mut self, request: &Request) -> Result<RawResponse, String> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect().await?,
        };
        // Fails when the gateway has refused the head or the body and does not read the rest. It has responded then.
        let _ = stream.write_all(&request.bytes()).await;
        let mut reader = Reader { stream: &mut stream, read: Vec::new() };
        let mut received = reader.head().await?;
        if received.is_stream() && received.status == 200 && request.method != "HEAD" {
            return Ok(received);
        }
        let is_head = request.method == "HEAD";
        received.body = reader.body(&received, is_head).await?;
        let mut more = std::mem::take(&mut reader.read);
        if received.header("connection").eq_ignore_ascii_case("close") {
            more.extend(reader.rest().await);
            // The gateway refuses some heads before it knows that the method is HEAD, and then sends a body.
            if is_head && received.status >= 400 {
                return Ok(received);
            }
        } else {
            self.stream = Some(stream);
        }
        if more.is_empty() { Ok(received) } else { Err(format!("{} bytes behind the answer", more.len())) }
    }

    async fn connect(&mut self) -> Result<TcpStream, String> {
        self.connections += 1;
        let stream = TcpStream::connect(self.gateway).await.map_err(|error| format!("not connected: {error}"))?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        Ok(stream)
    }
}

impl Request {
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\nhost: a\r\n", self.method, self.target).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        bytes.extend(format!("content-length: {}\r\n\r\n", self.body.len()).into_bytes());
        bytes.extend(&self.body);
        bytes
    }
}

struct Reader<'a> {
    stream: &'a mut TcpStream,
    /// What came and is not yet used.
    read: Vec<u8>,
}

impl Reader<'_> {
    /// Waits for more; `Err` at the end.
    async fn more(&mut self) -> Result<(), String> {
        match self.stream.read_buf(&mut self.read).await {
            Ok(0) => Err(format!("hung up in the middle of an answer, after {:?}", self.sample())),
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{error}, after {:?}", self.sample())),
        }
    }

    fn sample(&self) -> String {
        String::from_utf8_lossy(&self.read[..self.read.len().min(300)]).into_owned()
    }

    async fn until(&mut self, end: &[u8], max: usize) -> Result<Vec<u8>, String> {
        loop {
            if let Some(place) = self.read.windows(end.len()).position(|window| window == end) {
                let part = self.read.drain(..place + end.len()).collect();
                return Ok(part);
            }
            if self.read.len() > max {
                return Err(format!("no end of {:?}", self.sample()));
            }
            self.more().await?;
        }
    }

    async fn exactly(&mut self, count: usize) -> Result<Vec<u8>, String> {
        while self.read.len() < count {
            self.more().await?;
        }
        Ok(self.read.drain(..count).collect())
    }

    async fn head(&mut self) -> Result<RawResponse, String> {
        let head = self.until(b"\r\n\r\n", HEAD_BYTES_MAX).await?;
        let text = String::from_utf8(head).map_err(|_not_utf8| "a head that is no UTF-8".to_owned())?;
        let mut lines = text.trim_end().split("\r\n");
        let first = lines.next().unwrap_or_default();
        let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let status = status.ok_or_else(|| format!("no status line: {first:?}"))?;
        let split = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        let headers =
            lines.map(|line| split(line).ok_or_else(|| format!("no header: {line:?}"))).collect::<Result<_, _>>()?;
        Ok(RawResponse { status, headers, body: Vec::new() })
    }

    async fn body(&mut self, head: &RawResponse, is_head: bool) -> Result<Vec<u8>, String> {
        if is_head || matches!(head.status, 204 | 304) {
            return Ok(Vec::new());
        }
        if head.header("transfer-encoding") == "chunked" {
            return self.chunks().await;
        }
        let length = head.header("content-length");
        let length = length.parse().map_err(|_no_number| format!("no length: {head:?}"))?;
        self.exactly(length).await
    }

    async fn chunks(&mut self) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        loop {
            let line = self.until(b"\r\n", 100).await?;
            let text = String::from_utf8_lossy(&line);
            let size = usize::from_str_radix(text.trim_end(), 16).map_err(|_no_size| format!("no chunk: {text:?}"))?;
            let chunk = self.exactly(size + 2).await?;
            if size == 0 {
                return Ok(body);
            }
            body.extend(&chunk[..size]);
        }
    }

    /// Reads until the gateway closes or resets the connection.
    async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let _ = self.stream.read_to_end(&mut rest).await;
        rest
    }
}
