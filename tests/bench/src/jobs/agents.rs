//! Agents of the registry: a page of 50, and one by its id.

use super::{AXUM_SQLX, BESIDE, Comparison, GATEWAY, Goal, new_view, record::STRIDE, same_answers};
use crate::{
    bench::{Bench, FORUM, Synchronous, peer, peer_on_copy},
    load,
    peers::{self, agents::PUBLIC_URL},
    rounds::{Contestant, Sample, in_turn},
    server::{Server, Site},
};
use anyhow::{Result, ensure};
use plugin_testing::{ScriptedChain, ScriptedLog, json};
use rusqlite::Connection;
use serde_json::Value;
use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

const LIST: &str = "/api/agents?limit=50";
const REGISTERED: &str = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, \
     string metadataURI, uint256 pricePerJob, uint256 bond)";
/// Registrations in one block.
const BLOCK: u64 = 100;
const LIMIT: Duration = Duration::from_secs(120);

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let runtime = Runtime::new()?;
    let chain = runtime.block_on(ScriptedChain::start());
    let file = bench.folder().join("agents.db");
    make(bench, &chain, &file)?;
    let mut servers = vec![(GATEWAY, gateway(bench, &chain, Some(&file))?)];
    if let Some(other) = bench.beside() {
        servers.push((BESIDE, gateway(other, &chain, Some(&file))?));
    }
    if bench.with_peers {
        let peer = peer_on_copy(peer(peers::agents::NAME)?, &file, Synchronous::Full, LIST)?;
        servers.push((AXUM_SQLX, peer));
    }
    let agents = bench.scale.threads;
    let bytes = same_answers(&servers, LIST)?;
    let list = measure(bench, &servers, |view| format!("{LIST}&view={view}"))?;
    let record_bytes = same_answers(&servers, "/api/agents/7")?;
    let record = measure(bench, &servers, |view| format!("/api/agents/{}?view={view}", 1 + (view * STRIDE) % agents))?;
    let new = "a number in the query, which no request had before, keeps kept answers from answering";
    Ok(vec![
        Comparison {
            title: "A list of 50 agents",
            how: format!("`GET {LIST}`: the newest of {agents} agents with their cards, {bytes} bytes of JSON; {new}."),
            operation: "request",
            rows: list,
            goals: vec![Goal::PartOf { row: GATEWAY, other: AXUM_SQLX, max: 0.2 }],
        },
        Comparison {
            title: "One agent by id",
            how: format!(
                "`GET /api/agents/{{id}}`: another one of {agents} agents each time, {record_bytes} bytes of JSON; {new}."
            ),
            operation: "request",
            rows: record,
            goals: vec![Goal::PartOf { row: GATEWAY, other: AXUM_SQLX, max: 0.4 }],
        },
    ])
}

fn measure(
    bench: &Bench,
    servers: &[(&'static str, Server)],
    path: impl Fn(u64) -> String + Copy + Sync,
) -> Result<Vec<crate::rounds::Row>> {
    let contestants = servers.iter().map(|(name, server)| {
        let address = server.address();
        let request = move |_| Some(load::get(address, &path(new_view())));
        Contestant::new(*name, move || Sample::of(&bench.reads(server, &request)?, server))
    });
    in_turn(bench.scale.rounds, contestants.collect())
}

/// The gateway on the chain; with a file, on a copy of it.
fn gateway(bench: &Bench, chain: &ScriptedChain, file: Option<&Path>) -> Result<Server> {
    let site = Site::new()?;
    if let Some(file) = file {
        fs::copy(file, site.folder.path().join(FORUM))?;
    }
    let registry = ScriptedChain::address_of("registry").to_string();
    bench.gateway_in(
        site,
        &[
            ("base_url", PUBLIC_URL),
            ("chains.main.rpc", &chain.url()),
            ("chains.main.deploy_block", "1"),
            ("chains.main.contracts.registry", &registry),
        ],
    )
}

/// A database with the agents, as a gateway derived them from their registrations, each with a card.
fn make(bench: &Bench, chain: &ScriptedChain, file: &Path) -> Result<()> {
    let agents = bench.scale.threads;
    println!("  {agents} agents are registered");
    for first in (1..=agents).step_by(usize::try_from(BLOCK)?) {
        chain.mine((first..agents.min(first + BLOCK - 1) + 1).map(registered).collect());
    }
    let gateway = gateway(bench, chain, None)?;
    let begun = Instant::now();
    while total(&gateway)? != agents {
        ensure!(begun.elapsed() < LIMIT, "{} of {agents} agents are indexed: {}", total(&gateway)?, gateway.log());
        thread::sleep(Duration::from_millis(50));
    }
    let folder = gateway.stop()?;
    let database = Connection::open(folder.path().join(FORUM))?;
    let card = json!({
        "name": "a worker", "description": "Summarises documents and answers questions about them, with sources",
        "version": "1.2.0", "skills": [{ "id": "summarise", "name": "Summaries", "tags": ["text", "summary"] }],
    });
    // The last probe is in the future, so that no probe runs during the measurement.
    database.execute(
        "INSERT OR REPLACE INTO agents_cards (agent_id, endpoint, checked_at, online, card, description, capabilities, model, \
         price_per_call, last_seen_ms, kept) \
         SELECT id, endpoint, unixepoch() + 86400, 1, ?1, ?2, ?3, ?4, ?5, registered_at * 1000, \
         json_object('description', ?2, 'capabilities', json(?3), 'model', ?4, 'pricePerCall', ?5, 'card', json(?1), \
         'lastSeen', registered_at * 1000) FROM agents_agents",
        [
            &card.to_string(),
            "Summarises documents and answers questions about them, with sources",
            r#"["summaries","questions"]"#,
            "worker-7b",
            "2500000000000000",
        ],
    )?;
    database.execute("VACUUM INTO ?1", [file.display().to_string()])?;
    Ok(())
}

fn registered(id: u64) -> ScriptedLog {
    let arguments = [
        json!(id),
        json!(format!("0x{id:040}")),
        json!(format!("Worker {id}")),
        json!(format!("https://workers.example/{id}")),
        json!(format!("ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/{id}")),
        json!("5000000000000000000"),
        json!("100000000000000000000"),
    ];
    ScriptedLog::new("registry", REGISTERED, &arguments).in_transaction(&format!("registration {id}"))
}

fn total(gateway: &Server) -> Result<u64> {
    let (_, _, body) = load::ask(gateway.address(), &load::get(gateway.address(), "/api/agents?limit=1"))?;
    let list: Value = serde_json::from_slice(&body)?;
    Ok(list["total"].as_u64().unwrap_or_default())
}
