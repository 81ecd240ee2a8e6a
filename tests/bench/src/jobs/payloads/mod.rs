//! Payloads, bytes by their hash: new ones are stored, known ones are read.

mod read;
mod store;

use super::{Comparison, WITHOUT_LIMITS};
use crate::{
    bench::{Bench, Synchronous, keep, peer_on_copy},
    load,
    peers::nginx,
    server::{Server, Site},
};
use alloy_primitives::keccak256;
use anyhow::Result;
use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::LazyLock,
};

const PATH: &str = "/api/payloads";
const BYTES: &str = "application/octet-stream";

struct Size {
    bytes: usize,
    stored: &'static str,
    read: &'static str,
    /// What storing one may take, and as a part of what Fastify takes.
    store_max_us: f64,
    store_part_of_fastify: f64,
}

const SIZES: [Size; 2] = [
    Size {
        bytes: 4 * 1024,
        stored: "Storing a payload of 4 KiB",
        read: "Reading a payload of 4 KiB",
        store_max_us: 40.0,
        store_part_of_fastify: 1.0 / 12.0,
    },
    Size {
        bytes: 256 * 1024,
        stored: "Storing a payload of 256 KiB",
        read: "Reading a payload of 256 KiB",
        store_max_us: 750.0,
        store_part_of_fastify: 1.0 / 26.0,
    },
];

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    // The peers' tables are those that a gateway made.
    let empty = bench.folder().join("payloads.db");
    keep(bench.gateway(&[])?, &empty)?;
    let mut outcomes = Vec::new();
    for (size, count) in SIZES.iter().zip(bench.scale.payloads) {
        outcomes.push(store::outcome(bench, &empty, size)?);
        outcomes.push(read::outcome(bench, size, count)?);
    }
    Ok(outcomes)
}

/// Incompressible bytes that are unique for the number.
fn contents(bytes: usize, number: u64) -> Vec<u8> {
    static NOISE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let blocks = (0_u64..).flat_map(|block| keccak256(block.to_be_bytes()).0);
        blocks.take(256 * 1024).collect()
    });
    let mut contents = NOISE[..bytes].to_vec();
    contents[..8].copy_from_slice(&number.to_be_bytes());
    contents
}

fn post(address: SocketAddr, body: &[u8]) -> Vec<u8> {
    load::send(address, &format!("POST {PATH}"), BYTES, body)
}

/// Room for everything that is stored here, and how it is written.
fn settings(synchronous: Synchronous) -> [(&'static str, &'static str); 4] {
    [
        WITHOUT_LIMITS,
        ("plugins.payloads.total_bytes_max", "1000000000000"),
        ("plugins.payloads.client_bytes_per_day_max", "1000000000000"),
        synchronous.setting(),
    ]
}

fn fastify(bench: &Bench, database: &Path) -> Result<Option<Server>> {
    let command = bench.fastify("payloads.mjs");
    command.map(|node| peer_on_copy(node, database, Synchronous::Full, "/ready")).transpose()
}

/// Where nginx keeps files, below its folder.
fn files(folder: &Path) -> PathBuf {
    folder.join("www").join(PATH.trim_start_matches('/'))
}

/// nginx on a folder of files, which takes others by PUT.
fn files_of_nginx(fill: impl FnOnce(&Path) -> Result<()>) -> Result<Server> {
    let site = Site::new()?;
    let folder = files(site.folder.path());
    fs::create_dir_all(&folder)?;
    fill(&folder)?;
    let root = site.folder.path().join("www");
    let locations = format!(
        "    location {PATH}/ {{
      root {}; default_type {BYTES}; dav_methods PUT; client_max_body_size 1m;
      sendfile on; tcp_nopush on; open_file_cache max=10000;
      add_header X-Content-Type-Options nosniff; add_header Content-Security-Policy \"default-src 'none'; sandbox\";
    }}",
        root.display()
    );
    nginx::start(site, "", &locations)
}
