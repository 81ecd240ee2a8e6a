//! What a write costs in a gateway with many webhooks.

use super::{MESSAGES, Receiver, messages, register, settings};
use crate::{
    bench::{Bench, keep_forum},
    jobs::{Comparison, Goal, write::Writer},
    load,
    rounds::{Contestant, in_turn},
    server::{Server, Site},
    signing,
};
use anyhow::Result;
use plugin_testing::Wallet;
use std::path::PathBuf;

const WITH: &str = "gateway, others have webhooks";
const WITHOUT: &str = "gateway without the plugin";
/// Nobody with a webhook gets these messages.
const FIRST_RECIPIENT: u64 = 1 << 42;
const RECIPIENTS: u64 = 1000;

/// A database of owners with many webhooks, and where those are.
pub struct RegisteredWebhooks {
    pub file: PathBuf,
}

pub fn make(bench: &Bench, receiver: &Receiver) -> Result<RegisteredWebhooks> {
    let [owners, each] = bench.scale.listeners;
    println!("  {} webhooks are registered", owners * each);
    let gateway = bench.gateway_in(Site::new()?, &settings())?;
    register(bench, &gateway, receiver, [owners, each])?;
    let file = bench.folder().join("listened.db");
    keep_forum(gateway, &file)?;
    // From now on only what is stored counts.
    receiver.fall_silent();
    Ok(RegisteredWebhooks { file })
}

pub fn outcome(bench: &Bench, registered: &RegisteredWebhooks) -> Result<Comparison> {
    let with = bench.gateway_on_copy(&registered.file, &settings())?;
    let mut off: Vec<_> = settings().into_iter().filter(|(key, _)| !key.starts_with("plugins.webhooks.")).collect();
    off.push(("plugins.webhooks.enabled", "false"));
    let without = bench.gateway_on_copy(&registered.file, &off)?;
    let writers = [Writer::of(bench, &with, 201, requests), Writer::of(bench, &without, 201, requests)];
    let contestants = [WITH, WITHOUT].into_iter().zip(&writers);
    let contestants = contestants.map(|(name, writer)| Contestant::new(name, || writer.measure()));
    let [owners, each] = bench.scale.listeners;
    Ok(Comparison {
        title: "A write beside many webhooks",
        how: format!(
            "`POST {MESSAGES}`: a message signed by a wallet of its own, on the disk when acknowledged, to wallets without a \
             webhook; {} webhooks of {owners} others wait for such messages. What following the log takes is in it.",
            owners * each
        ),
        operation: "write",
        rows: in_turn(bench.scale.rounds, contestants.collect())?,
        goals: vec![Goal::PartOf { row: WITH, other: WITHOUT, max: 1.05 }],
    })
}

fn requests(server: &Server, count: u64) -> Result<Vec<Vec<u8>>> {
    let recipients: Vec<String> =
        (0..RECIPIENTS).map(|number| Wallet::new(FIRST_RECIPIENT + number).address().to_owned()).collect();
    let recipient = |number: u64| {
        let place = usize::try_from(number % RECIPIENTS).unwrap_or_default();
        recipients.get(place).cloned().unwrap_or_default()
    };
    let bodies = messages(signing::new_wallets(count), recipient)?;
    Ok(bodies.iter().map(|body| load::post(server.address(), MESSAGES, body)).collect())
}
