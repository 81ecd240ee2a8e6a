//! Whether what a write costs grows with the number of plugins that are on.

use super::{Comparison, Goal, write::Writer};
use crate::{
    bench::Bench,
    rounds::{Contestant, in_turn},
};
use anyhow::Result;

const ALL: &str = "gateway, every plugin";
const FEW: &str = "gateway, 5 plugins";
/// All but activity, agents, forum, hello and payloads.
const OFF: [&str; 24] = [
    "a2a",
    "aicv",
    "arena",
    "artifacts",
    "audit",
    "bounties",
    "economy",
    "faucet",
    "kb",
    "loadtest",
    "memory",
    "messages",
    "network",
    "payin",
    "referrals",
    "relay",
    "rpc",
    "supply",
    "tools",
    "transparency",
    "validators",
    "webhooks",
    "work",
    "x402",
];
/// A ratio up to this is noise, and counts as equal.
const SAME: f64 = 1.05;

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let switches = OFF.map(|plugin| format!("plugins.{plugin}.enabled"));
    let few: Vec<(&str, &str)> = switches.iter().map(|switch| (switch.as_str(), "false")).collect();
    let servers = [(ALL, bench.gateway_with_forum(&[])?), (FEW, bench.gateway_with_forum(&few)?)];
    let writers: Vec<Writer> = servers.iter().map(|(_, server)| Writer::new(bench, server)).collect();
    let contestants =
        servers.iter().zip(&writers).map(|((name, _), writer)| Contestant::new(*name, || writer.measure()));
    Ok(vec![Comparison {
        title: "A write beside many plugins and beside few",
        how: "`POST /api/forum/threads` as above, on the disk when acknowledged, with every plugin on, and with activity, agents, \
              forum, hello and payloads alone."
            .to_owned(),
        operation: "write",
        rows: in_turn(bench.scale.rounds, contestants.collect())?,
        goals: vec![Goal::PartOf { row: ALL, other: FEW, max: SAME }],
    }])
}
