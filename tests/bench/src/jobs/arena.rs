//! The ranking of a challenge: read after each vote, and read again unchanged.

use super::{AXUM_SQLX, BESIDE, Comparison, GATEWAY, Goal, same_answers, write::Writer};
use crate::{
    bench::{Bench, FORUM, Synchronous, keep, peer, peer_on_copy},
    load, peers,
    prose::Prose,
    rounds::{Contestant, Row, Sample, in_turn},
    server::Server,
    signing,
};
use anyhow::{Result, ensure};
use gateway_clock::Clock;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use std::{net::SocketAddr, path::Path};

const CHALLENGE: &str = "/api/arena/challenges/1";
const MONTH_S: i64 = 30 * 24 * 60 * 60;
/// Submissions that are voted for while it is measured: in every run there are as many.
const VOTED: u64 = 10;

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let file = bench.folder().join("arena.db");
    make(bench, &file)?;
    let mut servers = vec![(GATEWAY, bench.gateway_on_copy(&file, &[])?)];
    if let Some(other) = bench.beside() {
        servers.push((BESIDE, other.gateway_on_copy(&file, &[])?));
    }
    if bench.with_peers {
        let peer = peer_on_copy(peer(peers::arena::NAME)?, &file, Synchronous::Full, CHALLENGE)?;
        servers.push((AXUM_SQLX, peer));
    }
    let bytes = same_answers(&servers, CHALLENGE)?;
    let (submissions, votes) = (bench.scale.submissions, bench.scale.votes);
    let ranking =
        format!("`GET {CHALLENGE}`: {submissions} submissions, ranked by {votes} votes, {bytes} bytes of JSON");
    let unchanged = unchanged(bench, &servers)?;
    Ok(vec![
        Comparison {
            title: "A ranking after each vote",
            how: format!(
                "Every other request is `POST /api/arena/submissions/{{id}}/vote`, signed by a wallet of its own and on the disk \
                 when acknowledged, and every other one {ranking}, more with each vote. The peer makes the same checks and uses the \
                 same tables and statements."
            ),
            operation: "request",
            rows: after_each_vote(bench, &servers)?,
            goals: vec![Goal::PartOf { row: GATEWAY, other: AXUM_SQLX, max: 0.5 }],
        },
        Comparison {
            title: "The same ranking again, unchanged",
            how: format!("{ranking}, always the very same request, and nobody votes."),
            operation: "request",
            rows: unchanged,
            goals: vec![Goal::PartOf { row: GATEWAY, other: AXUM_SQLX, max: 0.5 }],
        },
    ])
}

fn unchanged(bench: &Bench, servers: &[(&'static str, Server)]) -> Result<Vec<Row>> {
    let contestants = servers.iter().map(|(name, server)| {
        let request = load::get(server.address(), CHALLENGE);
        let measure = move || {
            let request = |_| Some(request.clone());
            Sample::of(&bench.reads(server, &request)?, server)
        };
        Contestant::new(*name, measure)
    });
    in_turn(bench.scale.rounds, contestants.collect())
}

fn after_each_vote(bench: &Bench, servers: &[(&'static str, Server)]) -> Result<Vec<Row>> {
    let writers: Vec<Writer> =
        servers.iter().map(|(_, server)| Writer::of(bench, server, 200, votes_and_readings)).collect();
    let contestants =
        servers.iter().zip(&writers).map(|((name, _), writer)| Contestant::new(*name, || writer.measure()));
    let rows = in_turn(bench.scale.rounds, contestants.collect())?;
    for ((name, server), writer) in servers.iter().zip(&writers) {
        let database = Connection::open_with_flags(server.folder().join(FORUM), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let counted = votes(&database)?.saturating_sub(bench.scale.votes);
        // At the end of a round every connection may just have read.
        let readings_more = (bench.scale.writers * bench.scale.rounds) as u64;
        let acknowledged = (writer.acknowledged.get() / 2).saturating_sub(readings_more);
        ensure!(counted >= acknowledged, "{name} acknowledged {acknowledged} votes and counted {counted}");
    }
    Ok(rows)
}

fn votes_and_readings(server: &Server, count: u64) -> Result<Vec<Vec<u8>>> {
    let address = server.address();
    let wallets = signing::new_wallets(count.div_ceil(2));
    let first = wallets.start;
    let votes = signing::bodies("arena.vote", wallets, |wallet| score(wallet - first))?;
    let requests = votes
        .iter()
        .zip(0..)
        .flat_map(|(body, number)| [vote(address, 1 + number % VOTED, body), load::get(address, CHALLENGE)]);
    Ok(requests.collect())
}

fn vote(address: SocketAddr, submission: u64, body: &[u8]) -> Vec<u8> {
    load::post(address, &format!("/api/arena/submissions/{submission}/vote"), body)
}

fn score(number: u64) -> Value {
    json!({ "score": 1 + Prose::new(number).number() % 10 })
}

/// A database with the challenge, as a gateway stored it.
fn make(bench: &Bench, file: &Path) -> Result<()> {
    let (submissions, voters) = (bench.scale.submissions, bench.scale.votes);
    println!("  {voters} votes for {submissions} submissions are given");
    let gateway = bench.gateway(&[Synchronous::Normal.setting()])?;
    let ends_at = Clock::System.now_s() + MONTH_S;
    let challenge =
        |_| json!({ "title": "A summary", "brief": Prose::new(0).words(150), "endsAt": ends_at, "tags": ["text"] });
    bench.write_signed(&gateway, "arena.create", (1, 201), challenge, |address, _, body| {
        load::post(address, "/api/arena/challenges", body)
    })?;
    let entry =
        |number| json!({ "note": Prose::new(number).words(30), "url": format!("https://entries.example/{number}") });
    bench.write_signed(&gateway, "arena.submit", (submissions, 201), entry, |address, _, body| {
        load::post(address, &format!("{CHALLENGE}/submissions"), body)
    })?;
    bench.write_signed(&gateway, "arena.vote", (voters, 200), score, |address, number, body| {
        vote(address, 1 + number % submissions, body)
    })?;
    let counted = votes(&keep(gateway, file)?)?;
    ensure!(counted == voters, "{counted} votes were counted");
    Ok(())
}

fn votes(database: &Connection) -> Result<u64> {
    let votes: i64 = database.query_row("SELECT votes FROM arena_challenges WHERE id = 1", [], |row| row.get(0))?;
    Ok(u64::try_from(votes)?)
}
