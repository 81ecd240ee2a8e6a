//! What clients sent, and the responses that they got, to compare with what is stored.

use super::{StoredRows, load::send};
use crate::e2e::Site;
use futures_util::{StreamExt as _, stream};
use gateway_clock::Clock;
use plugin_testing::Value;
use std::collections::BTreeMap;

/// A signed request and what became of it, as its client knows it.
#[derive(Clone, Debug)]
pub struct Write {
    pub path: String,
    pub body: Value,
    pub author: String,
    /// The title or the post: no two writes have the same.
    pub text: String,
    pub outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Acknowledged,
    /// Refused by the write interval of the address.
    Refused,
    /// No response, or one that leaves the outcome open.
    Unknown,
}

#[derive(Default)]
pub struct Ledger {
    pub writes: Vec<Write>,
}

const REPLAYS_AT_ONCE: usize = 32;

impl Ledger {
    pub fn count(&self, outcome: Outcome) -> usize {
        self.writes.iter().filter(|write| write.outcome == outcome).count()
    }

    /// Those without an answer, to be sent again.
    pub fn take_unknown(&mut self) -> Vec<Write> {
        self.writes.extract_if(.., |write| write.outcome == Outcome::Unknown).collect()
    }

    /// Compares with what is stored: every acknowledged write is there once, and nothing else that was not sent.
    pub fn compare(&self, stored: &StoredRows) {
        stored.check();
        let mut unclaimed: BTreeMap<&str, &str> =
            stored.authors.iter().map(|(text, author)| (text.as_str(), author.as_str())).collect();
        for write in &self.writes {
            match (write.outcome, unclaimed.remove(write.text.as_str())) {
                (Outcome::Acknowledged, None) => panic!("acknowledged and lost: {write:?}"),
                (Outcome::Refused, Some(_)) => panic!("refused and stored: {write:?}"),
                (_, Some(author)) => assert_eq!(author, write.author, "{write:?}"),
                (Outcome::Refused | Outcome::Unknown, None) => {}
            }
        }
        assert!(unclaimed.is_empty(), "nobody sent these: {unclaimed:?}");
    }

    /// Sends everything again: what is stored is refused as a replay, what got lost is taken now.
    pub async fn replay(&mut self, site: &Site, stored: &StoredRows) {
        let again = self.writes.iter_mut().filter(|write| write.outcome != Outcome::Refused);
        let replays = again.map(|write| replay(site, stored, write));
        stream::iter(replays).buffer_unordered(REPLAYS_AT_ONCE).collect::<()>().await;
    }
}

async fn replay(site: &Site, stored: &StoredRows, write: &mut Write) {
    let is_kept = stored.authors.contains_key(&write.text);
    loop {
        let (status, code, _) = send(site, write).await.expect("it is there again");
        match (status, code.as_str()) {
            (409, "replay") => assert!(is_kept, "refused as a replay of nothing: {write:?}"),
            (201, _) => assert!(!is_kept, "taken twice: {write:?}"),
            // Too many of one address in this millisecond.
            (429, _) if !is_kept => continue,
            other => panic!("{other:?}: {write:?}"),
        }
        write.outcome = Outcome::Acknowledged;
        return;
    }
}

/// Reproducible random numbers: SplitMix64.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Seeded from `GATEWAY_TEST_SEED`, else at random. Prints the seed, so that a run can be repeated.
    pub fn new() -> Self {
        let now = || Clock::System.now_ms().unsigned_abs();
        let seed = std::env::var("GATEWAY_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or_else(now);
        eprintln!("GATEWAY_TEST_SEED={seed}");
        Self(seed)
    }

    /// Another sequence for each number.
    pub fn fork(&self, number: u64) -> Self {
        let mut fork = Self(self.0 ^ (number + 1).wrapping_mul(0xA076_1D64_78BD_642F));
        fork.below(1);
        fork
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ (bits >> 31)) % limit
    }
}
