//! A page of 50 threads, each request for the first time.

use super::{AXUM_SQLX, GATEWAY, Goal, Outcome, new_view, readable_forums, same_answers};
use crate::{
    bench::Bench,
    load,
    rounds::{Contestant, Sample, in_turn},
};
use anyhow::Result;

pub const PATH: &str = "/api/forum/threads?limit=50";

pub fn run(bench: &Bench) -> Result<Vec<Outcome>> {
    let servers = readable_forums(bench)?;
    let bytes = same_answers(&servers, PATH)?;
    let contestants = servers.iter().map(|(name, server)| {
        let address = server.address();
        let request = move |_| Some(load::get(address, &format!("{PATH}&view={}", new_view())));
        Contestant::new(*name, move || Sample::of(&bench.reads(server, &request)?, server))
    });
    Ok(vec![Outcome {
        title: "A list of 50 rows",
        how: format!(
            "`GET {PATH}`: the 50 latest of {} threads, {bytes} bytes of JSON, the same from every server. Each request has a \
             number of its own in the query, so that no kept answer can answer it; the gateway keeps each nevertheless.",
            bench.scale.threads
        ),
        operation: "request",
        rows: in_turn(bench.scale.rounds, contestants.collect())?,
        goals: vec![Goal::PartOf { row: GATEWAY, other: AXUM_SQLX, max: 0.2 }],
    }])
}
