//! One thread by its id.

use super::{AXUM_SQLX, Comparison, GATEWAY, Goal, new_view, readable_forums, same_answers};
use crate::{
    bench::Bench,
    load,
    rounds::{Contestant, Sample, in_turn},
};
use anyhow::Result;

/// Far from the number before, so that neighbours in a page of the database are not asked for one after the other.
pub const STRIDE: u64 = 7919;

pub fn path(threads: u64) -> String {
    let view = new_view();
    format!("/api/forum/threads/{}?view={view}", 1 + (view * STRIDE) % threads)
}

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let servers = readable_forums(bench)?;
    let bytes = same_answers(&servers, "/api/forum/threads/7")?;
    let threads = bench.scale.threads;
    let contestants = servers.iter().map(|(name, server)| {
        let address = server.address();
        let request = move |_| Some(load::get(address, &path(threads)));
        Contestant::new(*name, move || Sample::of(&bench.reads(server, &request)?, server))
    });
    Ok(vec![Comparison {
        title: "One record by id",
        how: format!(
            "`GET /api/forum/threads/{{id}}`: one of {threads} threads with its opening post, {bytes} bytes of JSON, another one \
             with each request."
        ),
        operation: "request",
        rows: in_turn(bench.scale.rounds, contestants.collect())?,
        goals: vec![Goal::PartOf { row: GATEWAY, other: AXUM_SQLX, max: 0.5 }],
    }])
}
