//! One RPC server and what is known of it.
//!
//! The rule: a server that fails, or says what cannot be, is put aside for a while, with a reason that an operator reads.

use super::{
    Header,
    error::RpcFailure,
    rpc::{Call, Rpc, missing, read},
};
use alloy_primitives::U64;
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use std::time::{Duration, Instant};

/// How often a head is asked for anew while the chain is reorganised.
const LOOKS_MAX: u32 = 4;
/// Failures in a row after which a server is put aside.
const FAILURES_MAX: u32 = 2;
/// The time aside begins with the pause between two polls, and doubles up to this often.
const ASIDE_DOUBLINGS_MAX: u32 = 3;
/// A server that said what cannot be is left alone for so many pauses.
const LIE_PAUSES: u32 = 15;
/// How long it is told of a server that a question failed, though it tells its head and answers others.
const REMEMBERED: Duration = Duration::from_secs(60);

pub struct Source {
    /// Shown instead of the address.
    pub label: String,
    rpc: Rpc,
    chain_id: u64,
    pause: Duration,
    health: Mutex<Health>,
}

#[derive(Default)]
struct Health {
    failures: u32,
    aside_until: Option<Instant>,
    reason: Option<String>,
    head: Option<Header>,
    latency_ms: Option<u64>,
    unanswered: Option<Unanswered>,
}

/// Questions that failed lately. A server may tell its head all the while.
struct Unanswered {
    in_a_row: u32,
    reason: String,
    last: Instant,
}

/// One server, for the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceReport {
    pub url: String,
    pub ok: bool,
    /// Why it is not ok, or what it said last that was wrong.
    pub reason: Option<String>,
    pub head: Option<u64>,
    pub latency_ms: Option<u64>,
}

impl Source {
    pub fn new(label: String, rpc: Rpc, chain_id: u64, pause: Duration) -> Self {
        Self { label, rpc, chain_id, pause, health: Mutex::default() }
    }

    pub async fn call<T: DeserializeOwned>(&self, call: Call) -> Result<T, RpcFailure> {
        self.rpc.call(call).await
    }

    pub async fn batch<T: DeserializeOwned>(&self, calls: Vec<Call>) -> Result<Vec<Result<T, RpcFailure>>, RpcFailure> {
        self.rpc.batch(calls).await
    }

    /// Asks for the newest block, and whether this is still the chain it should be.
    pub async fn look(&self, depth_max: u64) -> Result<Header, RpcFailure> {
        let mut head = self.newest().await?;
        for _ in 0..LOOKS_MAX {
            if self.stands(&head, depth_max).await? {
                self.health.lock().head = Some(head);
                return Ok(head);
            }
            // A chain that is reorganised between two questions is no lie: then it has another head by now.
            let before = std::mem::replace(&mut head, self.newest().await?);
            if head == before {
                break;
            }
        }
        let text = format!("says that its head is block {}, and does not have the block before", head.number);
        Err(RpcFailure::Lie(text))
    }

    async fn newest(&self) -> Result<Header, RpcFailure> {
        let begun = Instant::now();
        let calls = vec![Call::new("eth_chainId", json!([])), block_by_number("latest".into())];
        let mut answers = self.rpc.batch(calls).await?.into_iter();
        let chain_id: U64 = read(answers.next().unwrap_or_else(missing))?;
        if chain_id.to::<u64>() != self.chain_id {
            return Err(RpcFailure::Lie(format!("is a server of chain {chain_id}, not of {}", self.chain_id)));
        }
        let head: Option<Header> = read(answers.next().unwrap_or_else(missing))?;
        let head = head.ok_or_else(|| RpcFailure::Behind("has no newest block".to_owned()))?;
        self.health.lock().latency_ms = u64::try_from(begun.elapsed().as_millis()).ok();
        Ok(head)
    }

    /// Whether the head stands on a block that the server has. And a chain does not become much shorter.
    async fn stands(&self, head: &Header, depth_max: u64) -> Result<bool, RpcFailure> {
        let before = self.health.lock().head;
        if let Some(before) = before {
            if before == *head || head.parent == before.hash {
                return Ok(true);
            }
            if head.number.saturating_add(depth_max) < before.number {
                // Said once: after the time aside, what it says then is taken as it is.
                self.health.lock().head = None;
                let text = format!("its head went back from block {} to {}", before.number, head.number);
                return Err(RpcFailure::Lie(text));
            }
        }
        if head.number == 0 {
            return Ok(true);
        }
        let parent: Option<Header> = self.rpc.call(block_by_hash(&head.parent.to_string())).await?;
        match parent {
            Some(parent) if parent.number.checked_add(1) == Some(head.number) && parent.hash == head.parent => Ok(true),
            Some(_) => Err(RpcFailure::Lie(format!("its block {} does not stand on the one before", head.number))),
            None => Ok(false),
        }
    }

    pub fn is_aside(&self) -> bool {
        self.health.lock().aside_until.is_some_and(|until| Instant::now() < until)
    }

    /// Whether it lately failed to answer questions in a row, even while it tells its head.
    pub fn fails_questions(&self) -> bool {
        self.health.lock().unanswered.as_ref().is_some_and(|unanswered| unanswered.in_a_row >= FAILURES_MAX)
    }

    /// It answered a question.
    pub fn succeeded(&self) {
        if let Some(unanswered) = &mut self.health.lock().unanswered {
            unanswered.in_a_row = 0;
        }
        self.told_head();
    }

    /// It told its newest block, which says nothing of other questions.
    pub fn told_head(&self) {
        let mut health = self.health.lock();
        if health.aside_until.is_some() {
            tracing::info!(server = self.label, "the RPC server is back");
        }
        (health.failures, health.aside_until, health.reason) = (0, None, None);
        health.unanswered.take_if(|unanswered| unanswered.last.elapsed() > REMEMBERED);
    }

    /// Counts a question that was not answered; what the server refuses is none.
    pub fn failed(&self, failure: &RpcFailure) {
        if failure.is_refusal() {
            return;
        }
        let mut health = self.health.lock();
        let before = health.unanswered.as_ref().map_or(0, |unanswered| unanswered.in_a_row);
        let in_a_row = before.saturating_add(1);
        health.unanswered = Some(Unanswered { in_a_row, reason: failure.to_string(), last: Instant::now() });
        drop(health);
        self.told_no_head(failure);
    }

    /// Counts a failure of any kind.
    pub fn told_no_head(&self, failure: &RpcFailure) {
        let mut health = self.health.lock();
        health.failures = health.failures.saturating_add(1);
        let aside = match failure {
            RpcFailure::Lie(_) => Some(self.pause.saturating_mul(LIE_PAUSES)),
            _ => (health.failures >= FAILURES_MAX)
                .then(|| self.pause.saturating_mul(1 << (health.failures - FAILURES_MAX).min(ASIDE_DOUBLINGS_MAX))),
        };
        let reason = failure.to_string();
        if aside.is_some() && health.reason.as_ref() != Some(&reason) {
            tracing::warn!(server = self.label, reason, "an RPC server is put aside");
        }
        health.aside_until = aside.map(|aside| Instant::now() + aside).or(health.aside_until);
        health.reason = Some(reason);
    }

    pub fn report(&self) -> SourceReport {
        let is_aside = self.is_aside();
        let health = self.health.lock();
        let lately =
            |unanswered: &Unanswered| format!("failed to answer within the last minute: {}", unanswered.reason);
        SourceReport {
            url: self.label.clone(),
            ok: !is_aside && health.failures == 0 && health.unanswered.is_none() && health.head.is_some(),
            reason: health.reason.clone().or_else(|| health.unanswered.as_ref().map(lately)),
            head: health.head.map(|head| head.number),
            latency_ms: health.latency_ms,
        }
    }
}

pub fn block_by_number(number: serde_json::Value) -> Call {
    Call::new("eth_getBlockByNumber", json!([number, false]))
}

pub fn block_by_hash(hash: &str) -> Call {
    Call::new("eth_getBlockByHash", json!([hash, false]))
}

/// A number as JSON-RPC writes it.
pub fn hex_number(number: u64) -> serde_json::Value {
    format!("{number:#x}").into()
}
