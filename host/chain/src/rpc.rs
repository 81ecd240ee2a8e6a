//! Questions to one server, several at a time where it takes that.

use super::{error::RpcFailure, http::BoundedHttp};
use alloy::rpc::json_rpc::{ErrorPayload, Id, Request, RequestPacket, Response, ResponsePacket, ResponsePayload};
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
const IN_FLIGHT_MAX: usize = 10;

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
    server: BoundedHttp,
    timeout: Duration,
    places: Semaphore,
    /// Falls when a server does not take batches, and rises slowly again.
    batch_max: AtomicUsize,
}

impl Rpc {
    pub fn new(client: reqwest::Client, url: Url, timeout: Duration) -> Self {
        Self {
            server: BoundedHttp { client, url },
            timeout,
            places: Semaphore::new(IN_FLIGHT_MAX),
            batch_max: AtomicUsize::new(BATCH_MAX),
        }
    }

    /// Asks one question.
    pub async fn call<T: DeserializeOwned>(&self, call: Call) -> Result<T, RpcFailure> {
        let mut answers = self.send(std::slice::from_ref(&call)).await?;
        answers.pop().unwrap_or_else(missing)
    }

    /// Asks all questions and answers in their order, each as a `T` or with the server's refusal.
    pub async fn batch<T: DeserializeOwned>(&self, calls: Vec<Call>) -> Result<Vec<Result<T, RpcFailure>>, RpcFailure> {
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

    async fn send<T: DeserializeOwned>(&self, calls: &[Call]) -> Result<Vec<Result<T, RpcFailure>>, RpcFailure> {
        // The server's time begins when it is asked. Only a closed semaphore fails, and nothing closes this one.
        let _place = self.places.acquire().await;
        let late = |_| RpcFailure::Timeout(u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX));
        tokio::time::timeout(self.timeout, self.exchange(calls)).await.map_err(late)?
    }

    async fn exchange<T: DeserializeOwned>(&self, calls: &[Call]) -> Result<Vec<Result<T, RpcFailure>>, RpcFailure> {
        let request = |(id, call): (u64, &Call)| Request::new(call.method, Id::Number(id), &call.params).serialize();
        // From one: some take a zero for no id.
        let requests = (1..).zip(calls).map(request).collect::<Result<Vec<_>, _>>();
        let mut requests = requests.map_err(|error| RpcFailure::Garbage(error.to_string()))?;
        let is_batch = requests.len() != 1;
        let packet = match requests.pop() {
            Some(request) if !is_batch => RequestPacket::Single(request),
            last => RequestPacket::Batch(requests.into_iter().chain(last).collect()),
        };
        let responses = match self.server.exchange(&packet).await? {
            ResponsePacket::Batch(responses) => responses,
            // It answers the one question, also when it does not say so.
            ResponsePacket::Single(response) if !is_batch => vec![Response { id: Id::Number(1), ..response }],
            ResponsePacket::Single(response) => vec![response],
        };
        let mut answers: Vec<Option<Result<T, RpcFailure>>> = calls.iter().map(|_| None).collect();
        for response in responses {
            if let Id::Number(id) = response.id
                && let Some(answer) = usize::try_from(id).ok().and_then(|id| answers.get_mut(id.checked_sub(1)?))
            {
                answer.get_or_insert_with(|| result(response.payload));
            }
        }
        Ok(answers.into_iter().map(|answer| answer.unwrap_or_else(missing)).collect())
    }
}

fn result<T>(payload: ResponsePayload<T>) -> Result<T, RpcFailure> {
    match payload {
        ResponsePayload::Success(result) => Ok(result),
        ResponsePayload::Failure(ErrorPayload { code, message, data }) => Err(RpcFailure::Refused {
            code,
            message: one_line(&message),
            data: data.and_then(|data| serde_json::from_str(data.get()).ok()),
        }),
    }
}

/// The answer as what it should be.
pub fn read<T: DeserializeOwned>(answer: Answer) -> Result<T, RpcFailure> {
    serde_json::from_str(answer?.get()).map_err(|error| RpcFailure::WrongType(error.to_string()))
}

/// Two questions that belong together stay in one request, which one server answers, also behind a load balancer.
fn in_pairs(most: usize) -> usize {
    if most > 1 { most & !1 } else { most }
}

/// In place of an answer that did not come.
pub fn missing<T>() -> Result<T, RpcFailure> {
    Err(RpcFailure::Garbage("an answer is missing".to_owned()))
}

fn is_no_batch<T>(answer: &Result<T, RpcFailure>) -> bool {
    matches!(answer, Err(RpcFailure::Garbage(_)))
}

fn may_be_the_batch(failure: &RpcFailure) -> bool {
    use RpcFailure::{Garbage, Refused, Status, TooLarge};
    matches!(failure, Garbage(_) | Refused { .. } | TooLarge(_) | Status(400 | 404 | 405 | 413 | 500..=599))
}

const TEXT_CHARS_MAX: usize = 200;

/// What a server says, as part of a line.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(TEXT_CHARS_MAX).collect()
}
