//! Answers kept in memory, each for as long as the data it was made from stays as it was.
//!
//! The rule: a kept answer is used only while every source it was made from is unchanged, so a reader never gets one that
//! is older than a write acknowledged before its request began. Memory is bounded; what was used least goes first, and what
//! is asked for but once takes none.

use super::{body::Body, etag, router::Route};
use crate::{asked::Asked, provenance::Sources, storage::Moment};
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
    answer: Whole,
}

/// What is known of an answer before it is made.
pub enum Lookup {
    Kept(Arc<Kept>),
    /// It was asked for before: it is worth keeping.
    Wanted,
    /// Nobody has asked for it lately.
    New,
}

pub struct AnswerCache {
    /// By path and query.
    answers: moka::sync::Cache<Arc<str>, Arc<Kept>>,
    body_bytes_max: usize,
    asked: Asked,
}

impl AnswerCache {
    /// Keeps at most that many bytes; with 0 nothing.
    pub fn new(bytes_max: usize) -> Self {
        let weigh = |key: &Arc<str>, kept: &Arc<Kept>| {
            u32::try_from(ENTRY_BYTES + 2 * key.len() + kept.answer.body.len()).unwrap_or(u32::MAX)
        };
        let answers = moka::sync::Cache::builder().max_capacity(bytes_max as u64).weigher(weigh).build();
        Self { answers, body_bytes_max: bytes_max / SHARE_MAX, asked: Asked::default() }
    }

    /// The answer to that path and query, unless it is missing or old.
    pub fn look_up(&self, route: &Route, path_and_query: &str) -> Lookup {
        if self.body_bytes_max == 0 || !self.asked.note(path_and_query.as_bytes()) {
            return Lookup::New;
        }
        match self.answers.get(path_and_query) {
            Some(kept) if kept.route == route.id && kept.sources.are_unchanged_since(kept.since) => Lookup::Kept(kept),
            _ => Lookup::Wanted,
        }
    }

    /// Keeps an answer that was made from `sources`, as they are since that moment.
    pub fn keep(&self, route: &Route, path_and_query: &str, answer: &Whole, sources: Sources, since: Moment) {
        if answer.body.len() > self.body_bytes_max || !sources.are_unchanged_since(since) {
            return;
        }
        let answer = Whole {
            tag: answer.tag.clone(),
            headers: answer.headers.clone(),
            // The plugin's block may be larger than what it holds.
            body: Bytes::copy_from_slice(&answer.body),
        };
        let kept = Kept { route: route.id, sources, since, answer };
        self.answers.insert(path_and_query.into(), Arc::new(kept));
    }

    /// What is kept right now.
    pub fn byte_count(&self) -> u64 {
        self.answers.run_pending_tasks();
        self.answers.weighted_size()
    }
}

impl Kept {
    /// 304 for a client that has it, else all of it.
    pub fn respond(&self, request: &HeaderMap, is_compressed_for_some: bool) -> Response<Body> {
        let Whole { tag, headers, body } = &self.answer;
        match etag::known(request.get_all(header::IF_NONE_MATCH), tag) {
            Some(tag) => etag::not_modified(tag, headers, is_compressed_for_some),
            None => whole(headers.clone(), body.clone()),
        }
    }
}

/// A complete good answer with its tag.
pub struct Whole {
    tag: HeaderValue,
    headers: HeaderMap,
    body: Bytes,
}

impl Whole {
    /// Takes what a 200 consists of, if its body is complete, and tags it; any other answer stays as it is.
    pub fn taken_from(response: &mut Response<Body>) -> Option<Self> {
        if response.status() != StatusCode::OK || matches!(response.body(), Body::Boxed(_)) {
            return None;
        }
        let body = match std::mem::take(response.body_mut()) {
            Body::Full(bytes) => bytes,
            Body::Empty | Body::Boxed(_) => Bytes::new(),
        };
        let tag = etag::of(&body);
        let mut headers = std::mem::take(response.headers_mut());
        headers.insert(header::ETAG, tag.clone());
        Some(Self { tag, headers, body })
    }

    /// 304 for a client whose `If-None-Match` names it, else all of it.
    pub fn into_response(self, if_none_match: &[HeaderValue], is_compressed_for_some: bool) -> Response<Body> {
        match etag::known(if_none_match, &self.tag) {
            Some(tag) => etag::not_modified(tag, &self.headers, is_compressed_for_some),
            None => whole(self.headers, self.body),
        }
    }
}

fn whole(headers: HeaderMap, body: Bytes) -> Response<Body> {
    let mut response = Response::new(if body.is_empty() { Body::Empty } else { Body::Full(body) });
    *response.headers_mut() = headers;
    response
}
