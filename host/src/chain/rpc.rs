//! Questions to one server, several at a time where it takes that.

use super::{
    error::RpcFailure,
    http::{ANSWER_BYTES_MAX, BoundedHttp, HttpFault},
};
use alloy::{
    rpc::{client::RpcClient, json_rpc::RpcError},
    transports::{TransportError, TransportErrorKind},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, value::RawValue};
use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};
use tokio::sync::Semaphore;
use url::Url;

/// Questions in one HTTP request.
const BATCH_MAX: usize = 64;
/// HTTP requests at a time.
const IN_FLIGHT_MAX: usize = 8;

/// One question.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: &'static str,
    pub params: Value,
}

impl Call {
    pub fn new(method: &'static str, params: Value) -> Self {
        Self { method, params }
    }
}

/// An answer that was not looked at yet.
pub type Answer = Result<Box<RawValue>, RpcFailure>;

pub struct Rpc {
    client: RpcClient,
    timeout: Duration,
    places: Semaphore,
    /// Falls when a server does not take batches, and rises slowly again.
    batch_max: AtomicUsize,
}

impl Rpc {
    pub fn new(client: reqwest::Client, url: Url, timeout: Duration) -> Self {
        Self {
            client: RpcClient::new(BoundedHttp { client, url }, true),
            timeout,
            places: Semaphore::new(IN_FLIGHT_MAX),
            batch_max: AtomicUsize::new(BATCH_MAX),
        }
    }

    /// Asks one question.
    pub async fn call<T: DeserializeOwned>(&self, call: Call) -> Result<T, RpcFailure> {
        let mut answers = self.send(std::slice::from_ref(&call)).await?;
        read(answers.pop().unwrap_or_else(missing))
    }

    /// Asks all questions and answers in their order.
    pub async fn batch(&self, calls: Vec<Call>) -> Result<Vec<Answer>, RpcFailure> {
        let mut answers = Vec::with_capacity(calls.len());
        let (mut rest, mut failed_before) = (calls.as_slice(), false);
        while !rest.is_empty() {
            let most = in_pairs(self.batch_max.load(Relaxed)).min(rest.len());
            let (now, later) = rest.split_at(most);
            match self.send(now).await {
                Ok(answered) if answered.iter().all(|answer| !is_no_batch(answer)) || most == 1 => {
                    self.batch_max.store((self.batch_max.load(Relaxed) + 2).min(BATCH_MAX), Relaxed);
                    answers.extend(answered);
                    (rest, failed_before) = (later, false);
                }
                // Once may be bad luck.
                Ok(_) | Err(RpcFailure::Garbage(_) | RpcFailure::Unreachable(_) | RpcFailure::Status(500..=599))
                    if !failed_before =>
                {
                    failed_before = true;
                }
                // Whoever asks decides whether to ask again, and asks for less at a time then.
                Err(late @ RpcFailure::Timeout(_)) => {
                    self.batch_max.store((most / 2).max(2), Relaxed);
                    return Err(late);
                }
                Err(failure) if most == 1 || !may_be_the_batch(&failure) => return Err(failure),
                Ok(_) | Err(_) => {
                    self.batch_max.store(most / 2, Relaxed);
                    failed_before = false;
                }
            }
        }
        Ok(answers)
    }

    async fn send(&self, calls: &[Call]) -> Result<Vec<Answer>, RpcFailure> {
        // The server's time begins when it is asked. Only a closed semaphore fails, and nothing closes this one.
        let _place = self.places.acquire().await;
        let late = |_| RpcFailure::Timeout(u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX));
        tokio::time::timeout(self.timeout, self.exchange(calls)).await.map_err(late)?
    }

    async fn exchange(&self, calls: &[Call]) -> Result<Vec<Answer>, RpcFailure> {
        if let [call] = calls {
            let answer = self.client.request::<_, Box<RawValue>>(call.method, &call.params).await;
            return match answer.map_err(failure) {
                Err(refusal) if refusal.is_refusal() => Ok(vec![Err(refusal)]),
                other => Ok(vec![Ok(other?)]),
            };
        }
        let mut batch = self.client.new_batch();
        let mut waiters = Vec::with_capacity(calls.len());
        for call in calls {
            waiters.push(batch.add_call::<_, Box<RawValue>>(call.method, &call.params).map_err(failure)?);
        }
        batch.send().await.map_err(failure)?;
        let mut answers = Vec::with_capacity(waiters.len());
        for waiter in waiters {
            answers.push(waiter.await.map_err(failure));
        }
        Ok(answers)
    }
}

/// The answer as what it should be.
pub fn read<T: DeserializeOwned>(answer: Answer) -> Result<T, RpcFailure> {
    serde_json::from_str(answer?.get()).map_err(|error| RpcFailure::Garbage(error.to_string()))
}

/// Two questions that belong together stay in one request, which one server answers, also behind a load balancer.
fn in_pairs(most: usize) -> usize {
    if most > 1 { most & !1 } else { most }
}

fn missing() -> Answer {
    Err(RpcFailure::Garbage("an answer is missing".to_owned()))
}

fn is_no_batch(answer: &Answer) -> bool {
    matches!(answer, Err(RpcFailure::Garbage(_)))
}

fn may_be_the_batch(failure: &RpcFailure) -> bool {
    use RpcFailure::{Garbage, Refused, Status, TooLarge};
    matches!(failure, Garbage(_) | Refused { .. } | TooLarge(_) | Status(400 | 404 | 405 | 413 | 500..=599))
}

fn failure(error: TransportError) -> RpcFailure {
    match error {
        RpcError::ErrorResp(payload) => RpcFailure::Refused {
            code: payload.code,
            message: one_line(&payload.message),
            data: payload.data.as_ref().and_then(|data| serde_json::from_str(data.get()).ok()),
        },
        RpcError::Transport(TransportErrorKind::Custom(cause)) => match cause.downcast_ref::<HttpFault>() {
            Some(HttpFault::Unreachable(reason)) => RpcFailure::Unreachable(one_line(reason)),
            Some(HttpFault::Status(status)) => RpcFailure::Status(*status),
            Some(HttpFault::TooLarge) => RpcFailure::TooLarge(ANSWER_BYTES_MAX),
            Some(HttpFault::Garbage(reason)) => RpcFailure::Garbage(one_line(reason)),
            None => RpcFailure::Garbage(one_line(&cause.to_string())),
        },
        // The text of the others would repeat the server's answer.
        RpcError::Transport(TransportErrorKind::MissingBatchResponse(_)) => {
            RpcFailure::Garbage("an answer of a batch is missing".to_owned())
        }
        RpcError::DeserError { err, .. } => RpcFailure::Garbage(one_line(&err.to_string())),
        RpcError::NullResp => RpcFailure::Garbage("an empty answer".to_owned()),
        other => RpcFailure::Unreachable(one_line(&other.to_string())),
    }
}

const TEXT_CHARS_MAX: usize = 200;

/// What a server says, as part of a line.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(TEXT_CHARS_MAX).collect()
}
