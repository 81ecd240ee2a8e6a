//! New payloads, into a new store in every round: earlier rounds slow no server down, and their disk space is free
//! again.

use super::{Size, contents, fastify, files, files_of_nginx, post, settings};
use crate::{
    bench::{Bench, FORUM, Synchronous},
    jobs::{Comparison, FASTIFY, GATEWAY, Goal, new_view},
    load::{self, Load},
    peers::nginx,
    rounds::{Contestant, Sample, in_turn},
    server::Server,
};
use anyhow::{Context as _, Result, ensure};
use rusqlite::{Connection, OpenFlags};
use std::{fs, net::SocketAddr, path::Path};

const NORMAL: &str = "gateway, synchronous = normal";
const NGINX: &str = "nginx, files by PUT";
/// Bytes that are stored in a round at most, so that a fast server does not fill the disk.
const ROUND_BYTES_MAX: usize = 1 << 30;

/// How one kind of server stores.
#[derive(Clone, Copy)]
struct PayloadStore {
    request: fn(SocketAddr, u64, &[u8]) -> Vec<u8>,
    status: u16,
    /// How many it has.
    count: fn(&Server) -> Result<u64>,
}

const IN_DATABASE: PayloadStore =
    PayloadStore { request: |address, _, body| post(address, body), status: 200, count: rows };
const IN_FILES: PayloadStore = PayloadStore {
    request: |address, number, body| load::send(address, &format!("PUT {}/{number}", super::PATH), super::BYTES, body),
    status: 201,
    count: |nginx| Ok(fs::read_dir(files(nginx.folder()))?.count() as u64),
};

pub fn outcome(bench: &Bench, empty: &Path, size: &Size) -> Result<Comparison> {
    let bytes = size.bytes;
    let own = move |synchronous: Synchronous| {
        move || measure(bench, bytes, IN_DATABASE, bench.gateway_on_copy(empty, &settings(synchronous))?)
    };
    let mut contestants =
        vec![Contestant::new(GATEWAY, own(Synchronous::Full)), Contestant::new(NORMAL, own(Synchronous::Normal))];
    if bench.with_peers && nginx::is_installed() {
        contestants.push(Contestant::new(NGINX, move || measure(bench, bytes, IN_FILES, files_of_nginx(|_| Ok(()))?)));
    } else if bench.with_peers {
        bench.lacks("nginx: apt-get install nginx");
    }
    if bench.with_peers && bench.fastify("payloads.mjs").is_some() {
        contestants.push(Contestant::new(FASTIFY, move || {
            measure(bench, bytes, IN_DATABASE, fastify(bench, empty)?.context("it was there before")?)
        }));
    }
    Ok(Comparison {
        title: size.stored,
        how: format!(
            "`POST {}`: {bytes} bytes that are new, into a store that is new in each round. The gateway and Fastify hash them \
             (Keccak-256), look whether they are known, count them against the client's day and the whole store, and keep them in \
             SQLite; they are on the disk when acknowledged (`synchronous=FULL`; in the second row, after commit only). nginx \
             writes a file and renames it: it hashes and counts nothing, and **does not sync**.",
            super::PATH
        ),
        operation: "payload",
        rows: in_turn(bench.scale.rounds, contestants)?,
        goals: vec![
            Goal::AtMostUs { row: GATEWAY, max: size.store_max_us },
            Goal::PartOf { row: GATEWAY, other: FASTIFY, max: size.store_part_of_fastify },
        ],
    })
}

fn measure(bench: &Bench, bytes: usize, store: PayloadStore, server: Server) -> Result<Sample> {
    let address = server.address();
    let requests = |number: u64| {
        let is_room = usize::try_from(number).is_ok_and(|number| number < ROUND_BYTES_MAX / bytes);
        let number = new_view();
        is_room.then(|| (store.request)(address, number, &contents(bytes, number)))
    };
    let load = Load {
        addresses: &[address],
        connections: bench.scale.writers,
        pace: None,
        warm_up: bench.scale.warm_up,
        duration: bench.scale.duration,
        requests: &requests,
        status: store.status,
        body_bytes_min: 0,
    };
    let counted = load.run(&|| server.cpu_time())?;
    let stored = (store.count)(&server)?;
    ensure!(stored >= counted.operations, "{} payloads were acknowledged and {stored} stored", counted.operations);
    Sample::of(&counted, &server)
}

fn rows(server: &Server) -> Result<u64> {
    let database = Connection::open_with_flags(server.folder().join(FORUM), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let count: i64 = database.query_row("SELECT count(*) FROM payloads_payloads", [], |row| row.get(0))?;
    Ok(u64::try_from(count)?)
}
