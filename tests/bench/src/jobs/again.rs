//! The list of the job before again, unchanged: with the whole response, and with `If-None-Match`.

use super::{AXUM_SQLX, Comparison, GATEWAY, Goal, forum_servers, list, same_answers};
use crate::{
    bench::{Bench, Synchronous},
    load::{self, Load},
    peers,
    rounds::{Contestant, Sample, in_turn},
    server::Server,
};
use anyhow::{Result, ensure};

const UNCHANGED: &str = "gateway, If-None-Match";
const HYPER: &str = "hyper, bytes from memory";

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let mut servers = forum_servers(bench, Synchronous::Full)?;
    same_answers(&servers, list::PATH)?;
    let (gateway, path) = (&servers[0].1, list::PATH);
    let plain = load::get(gateway.address(), path);
    let (_, etag, body) = load::ask(gateway.address(), &plain)?;
    let bare = bench.with_peers.then(|| peers::plain::start(peers::plain::HYPER, &body)).transpose()?;
    let unchanged = etag.map(|etag| conditional(gateway, &etag)).transpose()?;
    let no_etag = if unchanged.is_some() { "" } else { " The gateway sent no ETag, so there was nothing to ask with." };

    servers.extend(bare.map(|server| (HYPER, server)));
    let mut contestants = Vec::new();
    for (name, server) in &servers {
        let request = load::get(server.address(), path);
        let measure = move || {
            let request = |_| Some(request.clone());
            Sample::of(&bench.reads(server, &request)?, server)
        };
        contestants.push(Contestant::new(*name, measure));
        if let (&GATEWAY, Some(request)) = (name, &unchanged) {
            contestants.push(Contestant::new(UNCHANGED, move || not_modified(bench, server, request)));
        }
    }
    Ok(vec![Comparison {
        title: "The same list again, unchanged",
        how: format!(
            "`GET {path}`, always the very same request, and with `If-None-Match`, which is answered with 304 and no body. \
             {AXUM_SQLX} and Fastify have no cache; hyper answers bytes that it keeps in memory.{no_etag}"
        ),
        operation: "request",
        rows: in_turn(bench.scale.rounds, contestants)?,
        goals: vec![
            Goal::PartOf { row: GATEWAY, other: HYPER, max: 1.15 },
            Goal::AtMostUs { row: GATEWAY, max: 20.0 },
            Goal::AtMostUs { row: UNCHANGED, max: 20.0 },
        ],
    }])
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
