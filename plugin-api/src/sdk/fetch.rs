//! Outbound HTTP through the gateway's one egress function. Needs the grant `egress`; only to look at a URL needs none.

use super::HostHandle;
use crate::{
    abi::{FfiBytes, HostError, HostErrorCode},
    manifest::{FetchAnswer, FetchQuestion, UrlAnswer, UrlProblem, UrlQuestion},
};
use std::time::Duration;

/// A request to the outside. Private addresses are refused, redirects are not followed unless asked for.
#[derive(Clone, Debug)]
pub struct Fetch {
    question: FetchQuestion,
    body: Vec<u8>,
}

/// What came back, whatever its status.
#[derive(Debug)]
pub struct Fetched {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// Where it came from, after redirects.
    pub url: String,
    pub body: FfiBytes,
}

impl Fetch {
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    pub fn post(url: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        let mut fetch = Self::new("POST", url);
        fetch.body = body.into();
        fetch
    }

    pub fn new(method: &str, url: impl Into<String>) -> Self {
        Self {
            question: FetchQuestion { method: method.to_owned(), url: url.into(), ..Default::default() },
            body: Vec::new(),
        }
    }

    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.question.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Another limit than the gateway's default, for the whole exchange; at most the gateway's maximum.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.question.timeout_ms = u64::try_from(timeout.as_millis()).ok();
        self
    }

    /// A smaller cap than the gateway's own; more is an error.
    pub fn response_bytes_max(mut self, bytes: u64) -> Self {
        self.question.response_bytes_max = Some(bytes);
        self
    }

    /// Cuts a longer answer instead of failing: with a limit of 0 only status and headers are awaited.
    pub fn cut_at(mut self, bytes: u64) -> Self {
        (self.question.response_bytes_max, self.question.cuts_overflow) = (Some(bytes), true);
        self
    }

    pub fn redirects_max(mut self, redirects: u8) -> Self {
        self.question.redirects_max = redirects;
        self
    }

    /// Sends it. A refusal or failure is a [`HostErrorCode::Fetch`] whose message starts with its code and a colon.
    pub async fn send(self, host: &HostHandle) -> Result<Fetched, HostError> {
        let reply = host.ask("fetch", &self.question, self.body.into()).await?;
        let answer: FetchAnswer = serde_json::from_slice(&reply.answer)
            .map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))?;
        Ok(Fetched { status: answer.status, headers: answer.headers, url: answer.url, body: reply.body })
    }
}

impl HostHandle {
    /// Why a URL that somebody wants to store could never be fetched, if that is so: only absolute http and https URLs of
    /// public hosts can, without a user name and of at most 512 characters. Nothing is looked up and nothing is called.
    pub async fn check_url(&self, url: &str) -> Result<Option<UrlProblem>, HostError> {
        let reply = self.ask("check_url", &UrlQuestion { url: url.to_owned() }, FfiBytes::default()).await?;
        let answer: UrlAnswer = serde_json::from_slice(&reply.answer)
            .map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))?;
        Ok(answer.problem)
    }
}
