//! What clients sent and what they were answered: the model that the database is compared with. It knows nothing of the gateway.

use crate::{
    order_book::OrderBook, purchases::Purchases, referral_book::ReferralBook, sponsored::SponsoredCalls,
    voucher_book::VoucherBook,
};
use std::{collections::BTreeMap, net::IpAddr};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// 201, or 409 `replay` after an attempt whose response was lost.
    Acknowledged,
    /// The last response says that nothing was written, and no response was lost before.
    Refused,
    /// A response was lost, and the signature is too old by now to ask again.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Thread,
    Reply,
    Message,
}

#[derive(Clone, Debug)]
pub struct Write {
    pub kind: Kind,
    pub author: String,
    /// No two writes have the same.
    pub text: String,
    pub outcome: Outcome,
    /// When the attempt that got a 201 was sent and answered.
    pub took_ms: Option<(i64, i64)>,
}

/// A drip that a client asked for.
#[derive(Clone, Debug)]
pub struct Drip {
    pub address: String,
    pub client: IpAddr,
    /// When it was answered: in unix seconds.
    pub answered_s: i64,
    pub outcome: Outcome,
}

#[derive(Default)]
pub struct Ledger {
    pub writes: Vec<Write>,
    pub drips: Vec<Drip>,
    pub purchases: Purchases,
    pub vouchers: VoucherBook,
    pub orders: OrderBook,
    pub sponsored: SponsoredCalls,
    pub referrals: ReferralBook,
    /// For each reader of a stream, the ids of the events in the order in which it got them.
    pub streams: Vec<Vec<i64>>,
    /// How many posts of a thread were acknowledged.
    pub posts: BTreeMap<i64, i64>,
    /// What clients found to be wrong at once.
    pub violations: Vec<String>,
}

const DAY_S: i64 = 86_400;

/// The rules of the gateway, as the model counts them.
pub struct Caps {
    pub per_day: u64,
    pub ip_per_day: u64,
    pub drip_wei: u128,
    pub write_interval_ms: i64,
}

impl Caps {
    /// A quarter of the day's drips is free at once, the rest as the day goes on.
    fn allowed(&self, now_s: i64) -> u64 {
        let second = u64::try_from(now_s.rem_euclid(DAY_S)).unwrap_or(0);
        self.per_day / 4 + self.per_day * second / DAY_S.unsigned_abs()
    }
}

impl Ledger {
    pub fn refuse(&mut self, violation: impl Into<String>) {
        self.violations.push(violation.into());
    }

    /// Limits of what was acknowledged, by the model's own count.
    pub fn check_caps(&self, caps: &Caps) -> Vec<String> {
        let mut found = Vec::new();
        let mut days: BTreeMap<i64, u64> = BTreeMap::new();
        let mut clients: BTreeMap<(IpAddr, i64), u64> = BTreeMap::new();
        for drip in self.drips.iter().filter(|drip| drip.outcome == Outcome::Acknowledged) {
            let day = drip.answered_s.div_euclid(DAY_S);
            let count = days.entry(day).or_default();
            *count += 1;
            let allowed = caps.allowed(drip.answered_s);
            if *count > allowed {
                found.push(format!("{count} drips on day {day} at {}, when {allowed} are free", drip.answered_s));
            }
            let count = clients.entry((drip.client, day)).or_default();
            *count += 1;
            if *count > caps.ip_per_day {
                found
                    .push(format!("{count} drips of {} on day {day}, and the cap is {}", drip.client, caps.ip_per_day));
            }
        }
        found.extend(self.check_interval(caps.write_interval_ms));
        found
    }

    /// Two writes of one author cannot both take effect within the interval.
    fn check_interval(&self, interval_ms: i64) -> Option<String> {
        let mut last: BTreeMap<&str, i64> = BTreeMap::new();
        let mut timed: Vec<_> = self.writes.iter().filter_map(|write| Some((write.took_ms?, write))).collect();
        timed.sort_by_key(|((_, answered_ms), _)| *answered_ms);
        for ((sent_ms, answered_ms), write) in timed {
            let before = last.insert(&write.author, sent_ms);
            if before.is_some_and(|before_ms| answered_ms - before_ms < interval_ms) {
                return Some(format!("two writes of {} within {interval_ms} ms", write.author));
            }
        }
        None
    }

    /// Each stream has no gap, nothing twice, and the order of the log; `logged` are the ids of the log.
    pub fn check_streams(&self, logged: &[i64]) -> Vec<String> {
        let checked = self.streams.iter().enumerate();
        checked
            .filter_map(|(place, stream)| Some(format!("gateway {place}: {}", check_stream(stream, logged)?)))
            .collect()
    }

    /// The last event that every reader of a stream has got.
    pub fn read_by_all(&self) -> Option<i64> {
        self.streams.iter().map(|stream| stream.last().copied()).min().flatten()
    }
}

fn check_stream(stream: &[i64], logged: &[i64]) -> Option<String> {
    let disorder = stream.windows(2).find(|pair| pair[0] >= pair[1]);
    if let Some(pair) = disorder {
        return Some(format!("the stream sent event {} after {}", pair[1], pair[0]));
    }
    let last = stream.last().copied().unwrap_or_default();
    let expected: Vec<i64> = logged.iter().copied().filter(|id| *id <= last).collect();
    if expected == stream {
        return None;
    }
    let wrong = expected.iter().zip(stream).find(|(logged, sent)| logged != sent);
    let wrong = wrong.map_or(last, |(logged, sent)| *logged.min(sent));
    Some(format!("stream and log differ at event {wrong}: {} sent, {} logged", stream.len(), expected.len()))
}
