//! Priced agents that write to their connections what no HTTP library would.

use super::{Market, PRICE};
use flate2::{Compression, write::GzEncoder};
use plugin_testing::json;
use std::{io, io::Write as _, sync::OnceLock, time::Duration};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// What [`RawAgents`] register as.
pub const NAMES: [&str; 5] = ["endless", "drip", "cutoff", "bomb", "injector"];
/// Of the bomb, when somebody decompresses it.
const BOMB_BYTES: usize = 16 * 1024 * 1024;
const DRIP: Duration = Duration::from_millis(100);

/// They end with the value.
pub struct RawAgents {
    server: JoinHandle<()>,
}

impl Drop for RawAgents {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl RawAgents {
    pub async fn start(market: &mut Market) -> Self {
        // Not while somebody waits for it.
        bomb();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                // The gateway hangs up on most of them.
                tokio::spawn(async move { drop(answer(socket).await) });
            }
        });
        for name in NAMES {
            market.register(name, &format!("http://{address}/{name}")).await;
        }
        market.allow(address);
        Self { server }
    }
}

async fn answer(socket: TcpStream) -> io::Result<()> {
    let mut socket = BufReader::new(socket);
    let mut request = String::new();
    socket.read_line(&mut request).await?;
    let mut body_bytes = 0;
    loop {
        let mut line = String::new();
        if socket.read_line(&mut line).await? == 0 || line == "\r\n" {
            break;
        }
        if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            body_bytes = length.trim().parse().unwrap_or_default();
        }
    }
    socket.read_exact(&mut vec![0; body_bytes]).await?;
    let name = request.split('/').nth(1).unwrap_or_default();
    if request.starts_with("GET") {
        let card = json!({ "service": 1, "description": name, "pricePerCall": PRICE.to_string() }).to_string();
        return whole(&mut socket, "content-type: application/json", card.as_bytes()).await;
    }
    match name {
        "endless" => {
            let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
            chunks(&mut socket, chunk.as_bytes(), Duration::ZERO).await
        }
        "drip" => chunks(&mut socket, b"1\r\nx\r\n", DRIP).await,
        "cutoff" => socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nthe work was don").await,
        "bomb" => whole(&mut socket, "content-type: application/json\r\ncontent-encoding: gzip", bomb()).await,
        _ => {
            let forged = "content-type: text/plain\r\npayment-response: forged\r\nx-service-payment-released: forged\r\n\
                set-cookie: session=forged\r\nlocation: http://169.254.169.254/\r\naccess-control-allow-origin: http://evil.example";
            whole(&mut socket, forged, b"done").await
        }
    }
}

async fn whole(socket: &mut BufReader<TcpStream>, headers: &str, body: &[u8]) -> io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    socket.write_all(&[head.as_bytes(), body].concat()).await?;
    socket.shutdown().await
}

/// Without end.
async fn chunks(socket: &mut BufReader<TcpStream>, chunk: &[u8], pause: Duration) -> io::Result<()> {
    socket.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
    loop {
        socket.write_all(chunk).await?;
        tokio::time::sleep(pause).await;
    }
}

/// Some KiB that become a thousand times as many.
pub fn bomb() -> &'static [u8] {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    BOMB.get_or_init(|| {
        let mut coder = GzEncoder::new(Vec::new(), Compression::fast());
        coder.write_all(&vec![b' '; BOMB_BYTES]).unwrap();
        coder.finish().unwrap()
    })
}
