//! Private memory: a value is stored beside a post of the forum, and read beside a thread; batches of records, and proofs.

mod anchor;

use super::{Comparison, Goal, WITHOUT_LIMITS, new_view, record, write::Writer};
use crate::{
    bench::{Bench, Synchronous},
    load,
    rounds::{Contestant, Sample, in_turn},
    server::Server,
    signing,
};
use anyhow::Result;
use gateway_clock::Clock;
use plugin_testing::Wallet;
use serde_json::{Value, json};
use std::net::SocketAddr;

const PUT: &str = "a value of memory, stored";
const POST: &str = "a post of the forum";
const GET: &str = "a value of memory, read";
const RECORD: &str = "a thread of the forum";
const KEY: &str = "/api/memory/plan";
/// Threads that get posts: there are at least so many.
const THREADS: u64 = 100;
/// Owners whose values are read, each by a signature that is a round old at most.
const OWNERS: u64 = 1000;
/// More than a test wallet of another job has.
const FIRST_OWNER: u64 = 1 << 40;

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let mut outcomes = vec![put(bench)?, get(bench)?];
    outcomes.extend(anchor::outcomes(bench)?);
    Ok(outcomes)
}

fn gateway(bench: &Bench) -> Result<Server> {
    bench.gateway_with_forum(&settings())
}

/// One without the forum.
fn gateway_on(bench: &Bench, more: &[(&str, &str)]) -> Result<Server> {
    bench.gateway(&[settings().as_slice(), more].concat())
}

fn settings() -> [(&'static str, &'static str); 4] {
    let day = ("plugins.memory.client_bytes_per_day", "1000000000000");
    let all = ("plugins.memory.total_bytes", "1000000000000");
    [WITHOUT_LIMITS, Synchronous::Full.setting(), day, all]
}

/// As long as a post.
fn text(number: u64) -> Value {
    signing::report(number)["body"].clone()
}

fn put(bench: &Bench) -> Result<Comparison> {
    let (memory, forum) = (gateway(bench)?, gateway(bench)?);
    let (values, posts) = (Writer::of(bench, &memory, 201, puts), Writer::of(bench, &forum, 201, posts));
    let contestants = vec![Contestant::new(PUT, || values.measure()), Contestant::new(POST, || posts.measure())];
    Ok(Comparison {
        title: "Storing a value of private memory beside a post of the forum",
        how: "`PUT /api/memory/{key}` and `POST /api/forum/threads/{id}/posts`: the same text, signed by EIP-191 by a wallet of its own, \
              on the disk when acknowledged. The value is sealed, counted against the owner, the client's day and the whole store, \
              and its record appended to the owner's log."
            .to_owned(),
        operation: "write",
        rows: in_turn(bench.scale.rounds, contestants)?,
        goals: vec![Goal::PartOf { row: PUT, other: POST, max: 1.3 }],
    })
}

fn puts(server: &Server, count: u64) -> Result<Vec<Vec<u8>>> {
    let payload = |number| json!({ "key": "plan", "value": text(number) });
    let bodies = signing::bodies("memory.put", signing::new_wallets(count), payload)?;
    let what = format!("PUT {KEY}");
    Ok(bodies.iter().map(|body| load::send(server.address(), &what, "application/json", body)).collect())
}

fn posts(server: &Server, count: u64) -> Result<Vec<Vec<u8>>> {
    let payload = |number| json!({ "body": text(number) });
    let bodies = signing::bodies("post.create", signing::new_wallets(count), payload)?;
    let path = |number: u64| format!("/api/forum/threads/{}/posts", 1 + number % THREADS);
    Ok((0..).zip(&bodies).map(|(number, body)| load::post(server.address(), &path(number), body)).collect())
}

fn get(bench: &Bench) -> Result<Comparison> {
    let server = gateway(bench)?;
    let owners: Vec<Wallet> = (FIRST_OWNER..FIRST_OWNER + OWNERS).map(Wallet::new).collect();
    let stored = |number: usize, owner: &Wallet| {
        let payload = json!({ "key": "plan", "value": text(number as u64) });
        serde_json::to_vec(&owner.signed_body("memory.put", Clock::System.now_s(), &payload))
    };
    let bodies =
        owners.iter().enumerate().map(|(number, owner)| stored(number, owner)).collect::<Result<Vec<_>, _>>()?;
    let what = format!("PUT {KEY}");
    let request = |address, _: usize, body: &[u8]| load::send(address, &what, "application/json", body);
    bench.write_all(&server, &bodies, 201, request)?;
    let threads = bench.scale.threads;
    let read = || {
        let requests: Vec<Vec<u8>> = owners.iter().map(|owner| read_by(server.address(), owner)).collect();
        let place = |number: u64| usize::try_from(number).unwrap_or_default() % requests.len();
        let request = |_| requests.get(place(new_view())).cloned();
        Sample::of(&bench.reads(&server, &request)?, &server)
    };
    let record = || {
        let request = |_| Some(load::get(server.address(), &record::path(threads)));
        Sample::of(&bench.reads(&server, &request)?, &server)
    };
    Ok(Comparison {
        title: "Reading a value of private memory beside a thread of the forum",
        how: format!(
            "`GET /api/memory/{{key}}`: the value of one of {OWNERS} owners, opened for whom has signed the request, beside `GET \
             /api/forum/threads/{{id}}`, another one each time."
        ),
        operation: "request",
        rows: in_turn(bench.scale.rounds, vec![Contestant::new(GET, read), Contestant::new(RECORD, record)])?,
        goals: vec![Goal::PartOf { row: GET, other: RECORD, max: 1.5 }],
    })
}

/// Signed over nothing.
fn read_by(address: SocketAddr, owner: &Wallet) -> Vec<u8> {
    let signed = owner.signed_headers("memory.get", Clock::System.now_s(), "");
    let headers: String = signed.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("GET {KEY} HTTP/1.1\r\nhost: {address}\r\naccept: application/json\r\n{headers}\r\n").into_bytes()
}
