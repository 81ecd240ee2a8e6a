//! Webhooks: one delivery beside a worker on Node, and what they cost those who write.

mod delivery;
mod fan_out;
mod listeners;
mod receiver;

use super::{Comparison, WITHOUT_LIMITS};
use crate::{
    bench::{Bench, FORUM, Synchronous},
    load,
    server::Server,
    signing,
};
use anyhow::{Context as _, Result, ensure};
use gateway_clock::Clock;
use plugin_testing::Wallet;
use receiver::Receiver;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use std::{
    ops::Range,
    thread,
    time::{Duration, Instant},
};

const WEBHOOKS: &str = "/api/webhooks";
const MESSAGES: &str = "/api/messages";
/// Of every webhook here; a text, so that both headers are made with the same key.
const SECRET: &str = "a secret of thirty characters!";
/// More than a test wallet of another job has.
const FIRST_OWNER: u64 = 1 << 41;
const LIMIT: Duration = Duration::from_secs(600);
const LOOK: Duration = Duration::from_millis(2);

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let receiver = Receiver::start()?;
    let mut outcomes = vec![delivery::outcome(bench, &receiver)?];
    let registered = listeners::make(bench, &receiver)?;
    outcomes.push(listeners::outcome(bench, &registered)?);
    outcomes.push(fan_out::outcome(bench, &registered)?);
    Ok(outcomes)
}

/// Of every gateway here.
fn settings() -> Vec<(&'static str, &'static str)> {
    vec![
        WITHOUT_LIMITS,
        Synchronous::Full.setting(),
        ("limits.write_interval_ms", "0"),
        ("egress.allow_hosts", "127.0.0.1"),
        ("plugins.webhooks.webhooks_per_owner", "1000"),
        ("plugins.webhooks.replays_per_day", "1000000"),
    ]
}

fn owner(number: u64) -> Wallet {
    Wallet::new(FIRST_OWNER + number)
}

/// Of the wallet, signed now.
fn signed(wallet: &Wallet, action: &str, payload: &Value) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec(&wallet.signed_body(action, Clock::System.now_s(), payload))?)
}

/// So many webhooks for each of so many owners, all with an URL of their own.
fn register(bench: &Bench, gateway: &Server, receiver: &Receiver, [owners, each]: [u64; 2]) -> Result<()> {
    // In parts, so that no signature gets old.
    for number in 0..owners {
        let payload = |webhook: u64| {
            let url = receiver.url(number * each + webhook);
            json!({ "url": url, "secret": SECRET, "events": ["dm.received"] })
        };
        let one = |webhook| signed(&owner(number), "webhook.set", &payload(webhook));
        let bodies = signing::in_parallel(0..each, one)?;
        bench.write_all(gateway, &bodies, 201, |address, _, body| load::post(address, WEBHOOKS, body))?;
    }
    Ok(())
}

/// Bodies of messages, each by a wallet of its own; recipients by the number of the message.
fn messages(wallets: Range<u64>, recipient: impl Fn(u64) -> String + Sync) -> Result<Vec<Vec<u8>>> {
    let first = wallets.start;
    let payload = |wallet: u64| {
        let number = wallet - first;
        json!({ "to": recipient(number), "subject": "Report", "body": signing::report(number)["body"] })
    };
    signing::bodies("message.send", wallets, payload)
}

/// A number of the server's database.
fn number_of(server: &Server, select: &str) -> Result<u64> {
    let database = Connection::open_with_flags(server.folder().join(FORUM), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let number: i64 = database.query_row(select, [], |row| row.get(0))?;
    Ok(u64::try_from(number)?)
}

/// Waits until the database has this number.
pub(super) fn wait_for(server: &Server, select: &str, expected: u64) -> Result<()> {
    let begun = Instant::now();
    loop {
        let found = number_of(server, select)?;
        if found == expected {
            return Ok(());
        }
        ensure!(begun.elapsed() < LIMIT, "{select}: {found} instead of {expected}: {}", server.log());
        thread::sleep(LOOK);
    }
}

/// Posts it and expects the status.
fn post(server: &Server, path: &str, body: &[u8], expected: u16) -> Result<()> {
    let (status, _, answer) =
        load::ask(server.address(), &load::post(server.address(), path, body)).context("posting")?;
    ensure!(status == expected, "{path}: {status} instead of {expected}: {}", String::from_utf8_lossy(&answer));
    Ok(())
}
