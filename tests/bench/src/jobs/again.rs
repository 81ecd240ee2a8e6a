//! The list of the job before again, unchanged: with the whole response, compressed, and with `If-None-Match`.

use super::{AXUM_SQLX, Comparison, GATEWAY, Goal, HYPER, forum_servers, list, same_answers};
use crate::{
    bench::{Bench, Synchronous},
    load::{self, Load},
    peers,
    rounds::{Contestant, Row, Sample, in_turn},
    server::Server,
};
use anyhow::{Result, ensure};
use std::net::SocketAddr;

const UNCHANGED: &str = "gateway, If-None-Match";

/// Makes the request for a path of a server.
type RequestBuilder = fn(SocketAddr, &str) -> Vec<u8>;

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let servers = forum_servers(bench, Synchronous::Full)?;
    same_answers(&servers, list::PATH)?;
    let (gateway, path) = (&servers[0].1, list::PATH);
    let (_, etag, _) = load::ask(gateway.address(), &load::get(gateway.address(), path))?;
    let unchanged = etag.map(|etag| conditional(gateway, &etag)).transpose()?;
    let no_etag = if unchanged.is_some() { "" } else { " The gateway sent no ETag, so there was nothing to ask with." };
    let as_static_bytes = || Goal::PartOf { row: GATEWAY, other: HYPER, max: 1.15 };
    Ok(vec![
        Comparison {
            title: "The same list again, unchanged",
            how: format!(
                "`GET {path}`, always the very same request, and with `If-None-Match`, which is answered with 304 and no body. \
                 {AXUM_SQLX} and Fastify have no cache; hyper answers bytes that it keeps in memory.{no_etag}"
            ),
            operation: "request",
            rows: again(bench, &servers, load::get, unchanged.as_deref())?,
            goals: vec![
                as_static_bytes(),
                Goal::AtMostUs { row: GATEWAY, max: 20.0 },
                Goal::AtMostUs { row: UNCHANGED, max: 20.0 },
            ],
        },
        Comparison {
            title: "The same list again, unchanged and compressed",
            how: "The same, and the client accepts gzip. The gateway keeps the compressed response, hyper has it in memory; the others \
                  compress each response."
                .to_owned(),
            operation: "request",
            rows: again(bench, &servers, load::get_gzip, None)?,
            goals: vec![as_static_bytes()],
        },
    ])
}

/// The same request again and again, of each server, and of one that keeps the gateway's bytes in memory.
fn again(
    bench: &Bench,
    servers: &[(&'static str, Server)],
    request: RequestBuilder,
    unchanged: Option<&[u8]>,
) -> Result<Vec<Row>> {
    let gateway = servers[0].1.address();
    let (_, _, body) = load::ask(gateway, &request(gateway, list::PATH))?;
    let bare = bench.with_peers.then(|| peers::plain::start(peers::plain::HYPER, &body)).transpose()?;
    let bare = bare.iter().map(|server| (HYPER, server));
    let mut contestants = Vec::new();
    for (name, server) in servers.iter().map(|(name, server)| (*name, server)).chain(bare) {
        let request = request(server.address(), list::PATH);
        let measure = move || {
            let request = |_| Some(request.clone());
            Sample::of(&bench.reads(server, &request)?, server)
        };
        contestants.push(Contestant::new(name, measure));
        if let (GATEWAY, Some(request)) = (name, unchanged) {
            contestants.push(Contestant::new(UNCHANGED, move || not_modified(bench, server, request)));
        }
    }
    in_turn(bench.scale.rounds, contestants)
}

fn conditional(gateway: &Server, etag: &str) -> Result<Vec<u8>> {
    let address = gateway.address();
    let request =
        format!("GET {} HTTP/1.1\r\nhost: {address}\r\nif-none-match: {etag}\r\n\r\n", list::PATH).into_bytes();
    let (status, ..) = load::ask(address, &request)?;
    ensure!(status == 304, "the gateway answers {status} to its own ETag {etag}");
    Ok(request)
}

fn not_modified(bench: &Bench, server: &Server, request: &[u8]) -> Result<Sample> {
    let load = Load {
        addresses: &[server.address()],
        connections: bench.scale.readers,
        pace: None,
        warm_up: bench.scale.warm_up,
        duration: bench.scale.duration,
        requests: &|_| Some(request.to_vec()),
        status: 304,
        body_bytes_min: 0,
    };
    Sample::of(&load.run(&|| server.cpu_time())?, server)
}
