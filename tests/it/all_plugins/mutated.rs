//! Many invalid requests over kept-alive connections: the gateway responds with an error, continues to serve, and its
//! memory does not grow.

use super::{
    assert_no_faults,
    call::{Call, Request},
    calls::calls,
    chain,
    client::{Client, RawResponse},
    mutant::mutant,
    setup, start_with_content,
};
use crate::crash::Dice;
use gateway_clock::Clock;
use gateway_tests::process::GatewayProcess;
use plugin_testing::{TestGateway, json};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

const CLIENTS: u64 = 4;
const COUNT: u64 = 1_000_000;
/// The only responses besides 2xx, 3xx and 4xx: the OpenAPI document lists them.
const ALLOWED_ERRORS: [(u16, &str); 9] = [
    (502, "bad_endpoint"),
    (502, "own_endpoint"),
    (503, "chain_unavailable"),
    (503, "disabled"),
    (503, "market_unavailable"),
    (503, "sse_capacity"),
    (504, "unreachable"),
    (507, "store_full"),
    (508, "loop"),
];
/// Growth of the memory after the first tenth of the requests. The caches that may fill up meanwhile are bounded: 32
/// MiB of pages of the connection that writes, the statements and pages of the others, the ring of events. A leak of a
/// hundred bytes per request would exceed this in a million requests.
const GROWTH_KIB_MAX: u64 = 64 * 1024;
/// Memory for cached responses: so little that it is full, and evicts, long before the first tenth ends.
const CACHE_BYTES_MAX: u64 = 2 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn some_thousand_mutated_requests_do_no_harm() {
    send_mutants(1500).await;
}

/// `cargo xtask mutate` runs it, with as many requests as it is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes some ten minutes: cargo xtask mutate"]
async fn many_mutated_requests_do_no_harm_and_take_no_memory() {
    let requested = std::env::var("GATEWAY_TEST_MUTANTS").ok().and_then(|count| count.parse().ok());
    send_mutants(requested.unwrap_or(COUNT)).await;
}

async fn send_mutants(count: u64) {
    let chain = chain().await;
    let gateway = start_with_content(&setup(&chain).set("http.cache_bytes_max", CACHE_BYTES_MAX)).await;
    let (dice, begun, started) = (Dice::new(), Arc::<AtomicU64>::default(), Instant::now());
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let client = Client::new(gateway.address().parse().unwrap());
        clients.spawn(send_until(client, dice.fork(number), Arc::clone(&begun), count));
    }
    let growth = watch(&gateway, &begun, count).await;
    let mut tally = AnswerCounts::default();
    for of_client in clients.join_all().await {
        tally.add(of_client);
    }
    eprintln!("{count} requests in {:?}: {tally:?}\nmemory in KiB: {growth:?}", started.elapsed());
    assert_eq!(tally.statuses.values().sum::<u64>(), count);
    assert_no_faults(&gateway).await;
}

/// What was answered.
#[derive(Debug, Default)]
struct AnswerCounts {
    statuses: BTreeMap<u16, u64>,
    /// Of errors, by status and code.
    codes: BTreeMap<(u16, String), u64>,
    connections: u64,
}

impl AnswerCounts {
    fn note(&mut self, received: &RawResponse) {
        *self.statuses.entry(received.status).or_default() += 1;
        let code = received.json()["code"].as_str().unwrap_or_default().to_owned();
        if received.status >= 400 {
            *self.codes.entry((received.status, code)).or_default() += 1;
        }
    }

    fn add(&mut self, other: Self) {
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        for (code, count) in other.codes {
            *self.codes.entry(code).or_default() += count;
        }
        self.connections += other.connections;
    }
}

async fn send_until(mut client: Client, mut dice: Dice, begun: Arc<AtomicU64>, count: u64) -> AnswerCounts {
    let (mut tally, calls) = (AnswerCounts::default(), calls(Clock::System.now_s()));
    while begun.fetch_add(1, Relaxed) < count {
        let call: &Call = dice.pick(&calls);
        let request = mutant(call, &mut dice, Clock::System.now_s());
        let received =
            client.ask(&request).await.and_then(|received| fault(&request, &received).map_or(Ok(received), Err));
        let received = received.unwrap_or_else(|fault| {
            // One failure is enough: the other tasks end, too.
            begun.store(count, Relaxed);
            panic!("{}: {fault}\n{}", call.operation, shown(&request))
        });
        tally.note(&received);
    }
    tally.connections = client.connections;
    tally
}

/// What needs a chain with blocks enough answers 503 here, to a HEAD as well, whose body would say why.
const OFF: [&str; 3] = ["/api/supply", "/api/market", "/api/payin/market"];

/// What is wrong with a response, to any request.
fn fault(request: &Request, received: &RawResponse) -> Option<String> {
    // hyper refuses a head that is far too large, and closes the connection.
    if received.status == 431 && received.header("connection") == "close" {
        return None;
    }
    if received.header("x-request-id").is_empty() {
        return Some(format!("no request id: {received:?}"));
    }
    // Whoever reads a number reads no JSON: errors of these routes are texts (specification, supply).
    let is_text = received.header("content-type").starts_with("text/plain");
    if received.status == 503 && is_text && request.target.starts_with("/api/supply/") {
        return None;
    }
    if received.status < 400 || request.method == "HEAD" || !received.header("content-encoding").is_empty() {
        let is_off = received.status == 503 && OFF.iter().any(|path| request.target.starts_with(path));
        return (received.status >= 500 && !is_off).then(|| format!("{received:?}"));
    }
    let mut error = received.json();
    if error["jsonrpc"] == "2.0" {
        // An error of JSON-RPC, which has the gateway's own as its data.
        let is_whole = error["error"]["code"].is_i64() && error["error"]["message"].is_string();
        if received.status < 500 {
            return (!is_whole).then(|| format!("no error of JSON-RPC: {received:?}"));
        }
        error = json!({ "error": error["error"]["message"], "code": error["error"]["data"]["code"], "hint": "none" });
    }
    if ["error", "code", "hint"].iter().any(|member| error[*member].as_str().is_none_or(str::is_empty)) {
        return Some(format!("an error without error, code and hint: {received:?}"));
    }
    let is_allowed = ALLOWED_ERRORS.iter().any(|(status, code)| *status == received.status && error["code"] == *code);
    (received.status >= 500 && !is_allowed).then(|| format!("{} {error}", received.status))
}

fn shown(request: &Request) -> String {
    let bytes = request.bytes();
    String::from_utf8_lossy(&bytes[..bytes.len().min(4000)]).into_owned()
}

/// The memory after each tenth of the requests; the first tenth warms up.
async fn watch(gateway: &GatewayProcess, begun: &AtomicU64, count: u64) -> Vec<u64> {
    let mut memory = Vec::new();
    for tenth in 1..=10 {
        // `cargo xtask mutate` may take an hour for it.
        let is_there = async || begun.load(Relaxed) >= count * tenth / 10;
        TestGateway::eventually(Duration::from_secs(3600), "a tenth of the requests", is_there).await;
        memory.push(gateway.own_memory_kib().unwrap());
        eprintln!("{tenth} tenths: {} KiB", memory[memory.len() - 1]);
    }
    let (first, last) = (memory[0], memory[memory.len() - 1]);
    assert!(last < first + GROWTH_KIB_MAX, "memory in KiB at each tenth of the way: {memory:?}");
    memory
}
