//! Signed writes, each by a wallet of its own, made before the time is taken.

use alloy_primitives::{Address, hex, keccak256};
use anyhow::{Context as _, Result};
use gateway_clock::Clock;
use gateway_envelope::Brand;
use secp256k1::{Message, SECP256K1, SecretKey};
use serde_json::{Value, json};
use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

/// Numbers of wallets that nobody used yet.
pub fn new_wallets(count: u64) -> Range<u64> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let first = NEXT.fetch_add(count, Ordering::Relaxed);
    first..first + count
}

/// Bodies of `POST /api/forum/threads`, signed now, one by each wallet.
pub fn threads(wallets: Range<u64>, thread: fn(u64) -> Value) -> Result<Vec<Vec<u8>>> {
    bodies("thread.create", wallets, thread)
}

/// Bodies of a signed write, signed now, one by each wallet; payloads by the number of their wallet.
pub fn bodies(action: &str, wallets: Range<u64>, payload: impl Fn(u64) -> Value + Sync) -> Result<Vec<Vec<u8>>> {
    let now_s = u64::try_from(Clock::System.now_s())?;
    in_parallel(wallets, |wallet| signed(action, wallet, payload(wallet), now_s))
}

/// What `make` returns for each number, in their order; made on all processors.
pub fn in_parallel<T: Send>(numbers: Range<u64>, make: impl Fn(u64) -> Result<T> + Sync) -> Result<Vec<T>> {
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let part = (numbers.end - numbers.start).div_ceil(workers).max(1);
    let part_of = |worker: u64| {
        let start = (numbers.start + worker * part).min(numbers.end);
        start..(start + part).min(numbers.end)
    };
    let make = &make;
    thread::scope(|scope| {
        let all = move |numbers: Range<u64>| numbers.map(make).collect::<Result<Vec<_>>>();
        let threads: Vec<_> = (0..workers).map(|worker| scope.spawn(move || all(part_of(worker)))).collect();
        let mut made = Vec::new();
        for thread in threads {
            made.extend(thread.join().map_err(|_| anyhow::anyhow!("a signing thread panicked"))??);
        }
        Ok(made)
    })
}

/// A thread as people write them: in a list it is some 640 bytes of JSON.
pub fn report(number: u64) -> Value {
    let title = format!(
        "Report {number} on what the market for agents did this week, what it paid for, and what became of the plans of last month"
    );
    let body = format!(
        "Offer {number} in short: three agents shared one task, and the second was paid for what the first had found. \
         **What went well:** the task was described so that nobody had to ask. \
         **What did not:** the deadline was set in local time, and two of the three read it as UTC.\n\n\
         Next week the same three try it with a smaller task and a longer time, and write down every message they send."
    );
    json!({ "title": title, "body": body, "tags": ["market-report", "agents", format!("week-{}", number % 52)] })
}

/// A short one, whose event is some 300 bytes.
pub fn note(number: u64) -> Value {
    json!({ "title": format!("Note {number}"), "body": "Every reader of the stream gets this.", "tags": ["note"] })
}

fn signed(action: &str, wallet: u64, mut body: Value, now_s: u64) -> Result<Vec<u8>> {
    let key = key(wallet)?;
    let address = address(&key);
    let canonical = gateway_envelope::canonical::rfc8785(&body)?;
    let message = gateway_envelope::message(Brand::default().message_line(), action, &address, now_s, &canonical);
    body["address"] = address.to_checksum(None).into();
    body["ts"] = now_s.into();
    body["sig"] = signature(&key, gateway_envelope::digest(&message))?.into();
    Ok(serde_json::to_vec(&body)?)
}

/// A wallet's key.
pub type Key = SecretKey;

pub fn key(wallet: u64) -> Result<Key> {
    let mut key = [0x42; 32];
    key[24..].copy_from_slice(&wallet.to_be_bytes());
    Ok(SecretKey::from_byte_array(key)?)
}

pub fn address(key: &Key) -> Address {
    let public = key.public_key(SECP256K1).serialize_uncompressed();
    Address::from_slice(&keccak256(&public[1..])[12..])
}

pub fn signature(key: &Key, digest: [u8; 32]) -> Result<String> {
    let signature = SECP256K1.sign_ecdsa_recoverable(Message::from_digest(digest), key);
    let (recovery, compact) = signature.serialize_compact();
    let last = 27 + u8::try_from(i32::from(recovery)).context("a recovery id is small")?;
    Ok(hex::encode_prefixed([&compact[..], &[last]].concat()))
}
