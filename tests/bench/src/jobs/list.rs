//! A page of 50 threads, each request for the first time: as it is, and with gzip accepted.

use super::{AXUM_SQLX, Comparison, GATEWAY, Goal, new_view, readable_forums, same_answers};
use crate::{
    bench::Bench,
    load,
    rounds::{Contestant, Row, Sample, in_turn},
    server::Server,
};
use anyhow::Result;
use std::net::SocketAddr;

pub const PATH: &str = "/api/forum/threads?limit=50";

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let servers = readable_forums(bench)?;
    let bytes = same_answers(&servers, PATH)?;
    let outcome = |title, how, rows| Comparison {
        title,
        how,
        operation: "request",
        rows,
        goals: vec![Goal::PartOf { row: GATEWAY, other: AXUM_SQLX, max: 0.25 }],
    };
    let plain = format!(
        "`GET {PATH}`: the 50 latest of {} threads, {bytes} bytes of JSON, the same from every server. Each request has a \
         number of its own in the query, so no cached response can answer it.",
        bench.scale.threads
    );
    let gzip = "The same list, and the client accepts gzip, as real clients do; every server compresses.".to_owned();
    Ok(vec![
        outcome("A list of 50 rows", plain, pages(bench, &servers, load::get)?),
        outcome("A list of 50 rows, compressed", gzip, pages(bench, &servers, load::get_gzip)?),
    ])
}

fn pages(
    bench: &Bench,
    servers: &[(&'static str, Server)],
    request: fn(SocketAddr, &str) -> Vec<u8>,
) -> Result<Vec<Row>> {
    let contestants = servers.iter().map(|(name, server)| {
        let address = server.address();
        let request = move |_| Some(request(address, &format!("{PATH}&view={}", new_view())));
        Contestant::new(*name, move || Sample::of(&bench.reads(server, &request)?, server))
    });
    in_turn(bench.scale.rounds, contestants.collect())
}
