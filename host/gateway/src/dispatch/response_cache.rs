//! Responses cached in memory, each until the data it was made from changes.
//!
//! The rule: a cached response is used only while everything it depends on is unchanged, so a reader never gets one that is
//! older than a write acknowledged before its request began. Memory is bounded: only what is requested again is cached, and
//! moka evicts what is requested least. A cached response is compressed once for all clients that accept the same codings.

use super::etag;
use crate::routes::Route;
use bytes::Bytes;
use gateway_http::{COMPRESSED_MIN_BYTES, Precompressed, body::Body, compressed};
use gateway_plugins::Doorkeeper;
use gateway_storage::{ReadDependencies, Revision};
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use std::sync::Arc;

/// One response takes at most this part of the cache.
const SHARE_MAX: usize = 16;
/// The size of an entry without its texts, roughly.
const ENTRY_BYTES: usize = 1024;

/// Clients write `Accept-Encoding` in few ways; for others a response is compressed each time.
const COMPRESSED_MAX: usize = 4;

/// A response with what it depends on.
#[derive(Clone)]
pub struct CachedResponse {
    /// Another set of plugins, or another configuration, has other routes.
    route: u64,
    dependencies: ReadDependencies,
    since: Revision,
    response: CompleteResponse,
    compressed: Vec<CompressedResponse>,
}

/// The same response, compressed.
#[derive(Clone)]
struct CompressedResponse {
    /// The `Accept-Encoding` of the clients that get it.
    accepted: HeaderValue,
    headers: HeaderMap,
    body: Bytes,
}

pub struct ResponseCache {
    /// By path and query.
    responses: moka::sync::Cache<Arc<str>, Arc<CachedResponse>>,
    body_bytes_max: usize,
    pub doorkeeper: Doorkeeper,
}

/// What the cache has for a request.
pub enum CacheLookup {
    /// It may be old: see [`CachedResponse::is_current`].
    Hit(Arc<CachedResponse>),
    /// The response is missing or old: insert the new one.
    Miss,
    /// The request came for the first time, or the cache is off: its response is not cached.
    NotAdmitted,
}

impl ResponseCache {
    /// Caches at most that many bytes; with 0 nothing.
    pub fn new(bytes_max: usize) -> Self {
        let weigh = |key: &Arc<str>, cached: &Arc<CachedResponse>| {
            u32::try_from(ENTRY_BYTES + 2 * key.len() + cached.body_bytes()).unwrap_or(u32::MAX)
        };
        let responses = moka::sync::Cache::builder().max_capacity(bytes_max as u64).weigher(weigh).build();
        Self { responses, body_bytes_max: bytes_max / SHARE_MAX, doorkeeper: Doorkeeper::default() }
    }

    /// The response to this path and query.
    pub fn look_up(&self, path_and_query: &str) -> CacheLookup {
        if self.body_bytes_max == 0 {
            return CacheLookup::NotAdmitted;
        }
        match self.responses.get(path_and_query) {
            Some(cached) => CacheLookup::Hit(cached),
            // Only now: another key may have taken the doorkeeper's slot of one that is cached.
            None if self.doorkeeper.has_seen(path_and_query.as_bytes()) => CacheLookup::Miss,
            None => CacheLookup::NotAdmitted,
        }
    }

    /// Caches a response that was made from `dependencies`, unchanged since that moment.
    pub fn insert(
        &self,
        route: &Route,
        path_and_query: &str,
        response: &CompleteResponse,
        dependencies: ReadDependencies,
        since: Revision,
    ) {
        if response.body.len() > self.body_bytes_max || !dependencies.are_unchanged_since(since) {
            return;
        }
        let response = CompleteResponse {
            tag: response.tag.clone(),
            headers: response.headers.clone(),
            // The plugin's block may be larger than what it holds.
            body: Bytes::copy_from_slice(&response.body),
        };
        let cached = CachedResponse { route: route.id, dependencies, since, response, compressed: Vec::new() };
        self.responses.insert(path_and_query.into(), Arc::new(cached));
    }

    /// 304 for a client whose `If-None-Match` names the entity tag, else the whole response, compressed if the client
    /// accepts that.
    pub async fn respond(
        &self,
        path_and_query: &str,
        cached: &CachedResponse,
        request: &HeaderMap,
        is_compressed_for_some: bool,
    ) -> Response<Body> {
        let CompleteResponse { tag, headers, body } = &cached.response;
        if let Some(tag) = etag::known(request.get_all(header::IF_NONE_MATCH), tag) {
            return etag::not_modified(tag, headers, is_compressed_for_some);
        }
        let is_large = body.len() as u64 >= COMPRESSED_MIN_BYTES;
        let mut accepted = request.get_all(header::ACCEPT_ENCODING).iter();
        if is_compressed_for_some
            && is_large
            && let (Some(accepted), None) = (accepted.next(), accepted.next())
        {
            if let Some(compressed) = cached.compressed.iter().find(|compressed| compressed.accepted == accepted) {
                return compressed.clone().into_response();
            }
            // Boxed: a hit does not pay for the size of a rare case.
            if cached.compressed.len() < COMPRESSED_MAX
                && let Some(compressed) = Box::pin(self.compress(path_and_query, cached, accepted)).await
            {
                return compressed.into_response();
            }
        }
        whole(headers.clone(), body.clone())
    }

    /// Compresses a cached response and keeps the result beside it.
    async fn compress(
        &self,
        path_and_query: &str,
        cached: &CachedResponse,
        accepted: &HeaderValue,
    ) -> Option<CompressedResponse> {
        let (headers, body) = compressed(accepted, &cached.response.headers, &cached.response.body).await?;
        let compressed = CompressedResponse { accepted: accepted.clone(), headers, body };
        let mut cached = cached.clone();
        cached.compressed.push(compressed.clone());
        // A new entry, because the cache weighs an entry only when it is inserted. If it replaces a newer one, the next
        // request finds it out of date.
        self.responses.insert(path_and_query.into(), Arc::new(cached));
        Some(compressed)
    }

    /// The bytes cached right now.
    pub fn byte_count(&self) -> u64 {
        self.responses.run_pending_tasks();
        self.responses.weighted_size()
    }
}

impl CachedResponse {
    /// Whether all that it depends on is unchanged, by the revisions as they are now.
    pub fn is_current(&self, route: &Route) -> bool {
        self.route == route.id && self.dependencies.are_unchanged_since(self.since)
    }

    fn body_bytes(&self) -> usize {
        let compressed: usize = self.compressed.iter().map(|compressed| compressed.body.len()).sum();
        self.response.body.len() + compressed
    }
}

impl CompressedResponse {
    fn into_response(self) -> Response<Body> {
        let mut response = whole(self.headers, self.body);
        response.extensions_mut().insert(Precompressed);
        response
    }
}

/// A complete 200 with its entity tag.
#[derive(Clone)]
pub struct CompleteResponse {
    tag: HeaderValue,
    headers: HeaderMap,
    body: Bytes,
}

impl CompleteResponse {
    /// Takes the parts of a 200 with a complete body and computes its entity tag; any other response stays as it is.
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

    /// 304 for a client whose `If-None-Match` names the entity tag, else the whole response.
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
