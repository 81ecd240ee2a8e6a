//! Answers kept in memory, each for as long as the data it was made from stays as it was.
//!
//! The rule: a kept answer is used only while every source it was made from is unchanged, so a reader never gets one that
//! is older than a write acknowledged before its request began. Memory is bounded; what was used least goes first.

use super::{body::Body, etag, router::Route};
use crate::{provenance::Sources, storage::Moment};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use std::sync::Arc;

/// Of the whole memory one answer may take this part at most.
const SHARE_MAX: usize = 16;
/// An entry without its texts, roughly.
const ENTRY_BYTES: usize = 1024;

/// An answer with what it was made from.
pub struct Kept {
    /// Of the router in which it was made: another set of plugins, or another configuration, has other routes.
    route: u64,
    sources: Sources,
    since: Moment,
    tag: HeaderValue,
    headers: HeaderMap,
    body: Bytes,
}

pub struct AnswerCache {
    /// By path and query.
    answers: moka::sync::Cache<Arc<str>, Arc<Kept>>,
    body_bytes_max: usize,
}

impl AnswerCache {
    /// Keeps at most that many bytes; with 0 nothing.
    pub fn new(bytes_max: usize) -> Self {
        let weigh = |key: &Arc<str>, kept: &Arc<Kept>| {
            u32::try_from(ENTRY_BYTES + 2 * key.len() + kept.body.len()).unwrap_or(u32::MAX)
        };
        let answers = moka::sync::Cache::builder().max_capacity(bytes_max as u64).weigher(weigh).build();
        Self { answers, body_bytes_max: bytes_max / SHARE_MAX }
    }

    /// The answer to that path and query, unless it is missing or old.
    pub fn get(&self, route: &Route, path_and_query: &str) -> Option<Arc<Kept>> {
        let kept = self.answers.get(path_and_query)?;
        (kept.route == route.id && kept.sources.are_unchanged_since(kept.since)).then_some(kept)
    }

    /// Keeps an answer that was made from `sources`, as they are since that moment.
    pub fn keep(&self, route: &Route, path_and_query: &str, answer: &Whole, sources: Sources, since: Moment) {
        if answer.body.len() > self.body_bytes_max || !sources.are_unchanged_since(since) {
            return;
        }
        let kept = Kept {
            route: route.id,
            sources,
            since,
            tag: answer.tag.clone(),
            headers: answer.headers.clone(),
            // The plugin's block may be larger than what it holds.
            body: Bytes::copy_from_slice(&answer.body),
        };
        self.answers.insert(path_and_query.into(), Arc::new(kept));
    }

    /// What is kept right now.
    pub fn byte_count(&self) -> u64 {
        self.answers.run_pending_tasks();
        self.answers.weighted_size()
    }
}

impl Kept {
    pub fn answer(&self) -> Whole {
        Whole { tag: self.tag.clone(), headers: self.headers.clone(), body: self.body.clone() }
    }
}

/// A complete good answer with its tag.
pub struct Whole {
    tag: HeaderValue,
    headers: HeaderMap,
    body: Bytes,
}

impl Whole {
    /// Tags a 200 whose body is complete; there is nothing to be had of any other answer.
    pub fn of(response: &Response<Body>) -> Option<Self> {
        let body = match response.body() {
            _ if response.status() != StatusCode::OK => return None,
            Body::Full(bytes) => bytes.clone(),
            Body::Empty => Bytes::new(),
            Body::Boxed(_) => return None,
        };
        let tag = etag::of(&body);
        let mut headers = response.headers().clone();
        headers.insert(header::ETAG, tag.clone());
        Some(Self { tag, headers, body })
    }

    /// 304 for a client that has it, else all of it.
    pub fn into_response(self, request: &HeaderMap, is_compressed_for_some: bool) -> Response<Body> {
        if let Some(tag) = etag::known(request, &self.tag) {
            return etag::not_modified(tag, &self.headers, is_compressed_for_some);
        }
        let mut response = Response::new(if self.body.is_empty() { Body::Empty } else { Body::Full(self.body) });
        *response.headers_mut() = self.headers;
        response
    }
}
