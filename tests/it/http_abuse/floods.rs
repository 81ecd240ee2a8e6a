//! Floods of HTTP/2 frames.

use super::{
    abuse::{connect, receive},
    frames::{
        CONTINUATION, DATA, END_HEADERS, END_STREAM, GET, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS, begin, frame,
        post, read,
    },
};
use futures_util::future::BoxFuture;
use std::net::SocketAddr;
use tokio::io::AsyncWriteExt as _;

type Round = BoxFuture<'static, Vec<u8>>;

const FRAMES: u32 = 20_000;
const CANCEL: [u8; 4] = [0, 0, 0, 8];

/// Requests taken back in the same breath (CVE-2023-44487).
pub fn rapid_reset(gateway: SocketAddr) -> Round {
    let frames = ids()
        .flat_map(|id| [frame(HEADERS, END_HEADERS | END_STREAM, id, GET), frame(RST_STREAM, 0, id, &CANCEL)].concat());
    flood(gateway, frames.collect())
}

pub fn pings(gateway: SocketAddr) -> Round {
    flood(gateway, frame(PING, 0, 0, &[7; 8]).repeat(FRAMES as usize))
}

pub fn settings(gateway: SocketAddr) -> Round {
    // SETTINGS_INITIAL_WINDOW_SIZE, which has to be applied to every stream.
    flood(gateway, frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 255, 255]).repeat(FRAMES as usize))
}

pub fn empty_data(gateway: SocketAddr) -> Round {
    let head = frame(HEADERS, END_HEADERS, 1, &post("/api/forum/threads"));
    flood(gateway, [head, frame(DATA, 0, 1, &[]).repeat(FRAMES as usize)].concat())
}

/// A head that never ends (CVE-2024-27316).
pub fn continuations(gateway: SocketAddr) -> Round {
    let head = frame(HEADERS, END_STREAM, 1, GET);
    // A literal header, not indexed: x: y.
    let more = frame(CONTINUATION, 0, 1, &[0, 1, b'x', 1, b'y'].repeat(100));
    flood(gateway, [head, more.repeat(FRAMES as usize / 20)].concat())
}

/// More requests at a time than are allowed, none of which ends.
pub fn many_streams(gateway: SocketAddr) -> Round {
    let head = post("/api/forum/threads");
    flood(gateway, ids().take(5000).flat_map(|id| frame(HEADERS, END_HEADERS, id, &head)).collect())
}

/// A kilobyte that is kept in the table of headers, and then named ten thousand times with one byte each.
pub fn header_bomb(gateway: SocketAddr) -> Round {
    let kept = [&[0x40, 1, b'x', 0x7f, 0x81, 0x07][..], &[b'y'; 1024]].concat();
    let block = [GET, &kept, &[0xbe; 10_000]].concat();
    flood(gateway, frame(HEADERS, END_HEADERS | END_STREAM, 1, &block))
}

/// Each is acknowledged, and the connection stays: as long as the client reads the answers, they cost little.
pub fn answers_every_ping(received: &[u8]) -> bool {
    count(received, PING) == FRAMES as usize && !says_goodbye(received)
}

/// The same, beside the gateway's own settings and its answer to those that every client begins with.
pub fn acknowledges_every_setting(received: &[u8]) -> bool {
    count(received, SETTINGS) == FRAMES as usize + 2 && !says_goodbye(received)
}

fn count(received: &[u8], kind: u8) -> usize {
    read(received).iter().filter(|(found, ..)| *found == kind).count()
}

pub fn says_goodbye(received: &[u8]) -> bool {
    read(received).iter().any(|(kind, ..)| *kind == GOAWAY)
}

pub fn refuses_streams(received: &[u8]) -> bool {
    read(received).iter().any(|(kind, ..)| matches!(*kind, RST_STREAM | GOAWAY))
}

/// By an answer (431), or by ending stream or connection; never by a success.
pub fn refuses_headers(received: &[u8]) -> bool {
    // `:status: 200` is one byte of the static table.
    let is_success = |(kind, _, payload): &(u8, u32, &[u8])| *kind == HEADERS && payload.first() == Some(&0x88);
    let frames = read(received);
    frames.iter().any(|(kind, ..)| matches!(*kind, HEADERS | RST_STREAM | GOAWAY)) && !frames.iter().any(is_success)
}

/// Ids of a client's streams.
fn ids() -> impl Iterator<Item = u32> {
    (0..FRAMES).map(|number| 2 * number + 1)
}

/// Writes everything at once while it reads, and then closes its side.
fn flood(gateway: SocketAddr, frames: Vec<u8>) -> Round {
    Box::pin(async move {
        let (mut reading, mut writing) = connect(gateway).await.into_split();
        let written = async move {
            // The gateway may close the connection in the middle.
            let _ = writing.write_all(&begin()).await;
            let _ = writing.write_all(&frames).await;
            let _ = writing.shutdown().await;
        };
        tokio::join!(receive(&mut reading), written).0
    })
}
