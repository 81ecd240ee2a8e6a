//! Abusive clients. They have an address of their own; `shared_address` tests the effect on clients with the same
//! address.

use super::{floods, slow, torture};
use futures_util::future::BoxFuture;
use gateway_tests::process::GatewayProcess;
use sqlx::{Connection as _, SqliteConnection};
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
};

/// The address of well-behaved clients.
pub const BEHAVED: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 1));
/// The address of abusive clients.
pub const ABUSIVE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// The most that is read of a response.
const RECEIVED_BYTES_MAX: u64 = 1024 * 1024;

pub struct Abuse {
    pub name: &'static str,
    /// So many at a time.
    pub connections: usize,
    /// One connection, until the gateway or the client ends it; returns the bytes of the gateway.
    pub round: fn(SocketAddr) -> BoxFuture<'static, Vec<u8>>,
    /// Whether these bytes are the expected response.
    pub is_expected: fn(&[u8]) -> bool,
}

pub const ABUSES: [Abuse; 16] = [
    Abuse { name: "slow heads", connections: 100, round: slow::head, is_expected: |received| says(received, "408") },
    Abuse { name: "slow bodies", connections: 100, round: slow::body, is_expected: |received| says(received, "408") },
    Abuse { name: "slow readers", connections: 10, round: slow::reader, is_expected: slow::is_cut_off },
    Abuse { name: "silent connections", connections: 200, round: slow::silent, is_expected: <[u8]>::is_empty },
    Abuse {
        name: "idle connections",
        connections: 200,
        round: slow::idle,
        is_expected: |received| says(received, "200"),
    },
    Abuse {
        name: "malformed heads",
        connections: 4,
        round: malformed_head,
        is_expected: |received| says(received, "400"),
    },
    Abuse { name: "giant heads", connections: 4, round: giant_head, is_expected: |received| says(received, "431") },
    Abuse {
        name: "torture bodies",
        connections: 4,
        round: torture::bodies,
        is_expected: |received| says(received, "4"),
    },
    Abuse { name: SEARCHES, connections: 8, round: searches, is_expected: is_search_answered },
    Abuse { name: "HTTP/2 rapid reset", connections: 2, round: floods::rapid_reset, is_expected: floods::says_goodbye },
    Abuse { name: "HTTP/2 PING", connections: 2, round: floods::pings, is_expected: floods::answers_every_ping },
    Abuse {
        name: "HTTP/2 SETTINGS",
        connections: 2,
        round: floods::settings,
        is_expected: floods::acknowledges_every_setting,
    },
    Abuse { name: "HTTP/2 empty DATA", connections: 2, round: floods::empty_data, is_expected: floods::says_goodbye },
    Abuse {
        name: "HTTP/2 CONTINUATION",
        connections: 2,
        round: floods::continuations,
        is_expected: floods::says_goodbye,
    },
    Abuse {
        name: "HTTP/2 many streams",
        connections: 2,
        round: floods::many_streams,
        is_expected: floods::refuses_streams,
    },
    Abuse {
        name: "HTTP/2 header bomb",
        connections: 2,
        round: floods::header_bomb,
        is_expected: floods::refuses_headers,
    },
];

/// The abuse that needs stored rows.
const SEARCHES: &str = "searches";

/// `status`: or its first digit.
pub fn says(received: &[u8], status: &str) -> bool {
    received.starts_with(format!("HTTP/1.1 {status}").as_bytes())
}

impl Abuse {
    /// Stores what the abuse needs.
    pub async fn prepare(&self, gateway: &GatewayProcess, threads: u32) {
        if self.name == SEARCHES {
            store_threads(gateway, threads).await;
        }
    }

    /// Repeats the rounds in all connections until it is dropped; passes the gateway's bytes to `after_round`.
    pub fn begin(
        &'static self,
        gateway: SocketAddr,
        after_round: impl FnMut(&[u8]) + Clone + Send + 'static,
    ) -> JoinSet<()> {
        let mut connections = JoinSet::new();
        for _ in 0..self.connections {
            let mut after_round = after_round.clone();
            connections.spawn(async move {
                loop {
                    after_round(&(self.round)(gateway).await);
                }
            });
        }
        connections
    }
}

/// A socket with the address of abusive clients.
fn socket() -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((ABUSIVE, 0).into()).unwrap();
    socket
}

pub async fn connect(gateway: SocketAddr) -> TcpStream {
    socket().connect(gateway).await.unwrap()
}

/// With a receive buffer so small that the kernel takes almost nothing that the client does not read.
pub async fn connect_with_small_buffer(gateway: SocketAddr) -> TcpStream {
    let socket = socket();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(gateway).await.unwrap()
}

/// Reads until the gateway closes or resets the connection.
pub async fn receive(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> Vec<u8> {
    let mut received = Vec::new();
    // A reset is an end too.
    let _ = stream.take(RECEIVED_BYTES_MAX).read_to_end(&mut received).await;
    received
}

/// Sends a request, of which the gateway may not read everything, and returns the response.
pub async fn ask(gateway: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = connect(gateway).await;
    let _ = stream.write_all(request).await;
    receive(&mut stream).await
}

fn malformed_head(gateway: SocketAddr) -> BoxFuture<'static, Vec<u8>> {
    Box::pin(ask(gateway, b"GET /api/health HTTP/1.1\r\nhost: a\r\nno colon\r\n\r\n"))
}

fn giant_head(gateway: SocketAddr) -> BoxFuture<'static, Vec<u8>> {
    let request = format!("GET /api/health HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n", "x".repeat(300_000));
    Box::pin(async move { ask(gateway, request.as_bytes()).await })
}

/// Threads that every search finds, by the hand of an operator: to post them would take minutes.
async fn store_threads(gateway: &GatewayProcess, count: u32) {
    let file = gateway.setup().folder().join("data/gateway.db");
    let mut database = SqliteConnection::connect(&format!("sqlite:{}", file.display())).await.unwrap();
    let insert = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $1)
        INSERT INTO forum_threads (title, tags, author, created_at, last_post_at, post_count, upvotes, excerpt)
        SELECT 'About question ' || n, '[]', '0x0000000000000000000000000000000000000001', n, n, 1, 0, 'It was asked' FROM numbers";
    sqlx::query(insert).bind(count).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
}

/// Searches that find every row, none of which was asked before.
fn searches(gateway: SocketAddr) -> BoxFuture<'static, Vec<u8>> {
    static OFFSET: AtomicU32 = AtomicU32::new(0);
    let path = format!("/api/forum/threads?q=question&offset={}", OFFSET.fetch_add(1, Relaxed) % 10_000);
    let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    Box::pin(async move { ask(gateway, request.as_bytes()).await })
}

/// It was done, or refused.
fn is_search_answered(received: &[u8]) -> bool {
    ["200", "429", "503"].iter().any(|status| says(received, status))
}
