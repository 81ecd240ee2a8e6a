//! Carries a request from the router into a plugin and the response back.
//!
//! The order is the contract: route, limits of calls, needed setting, permit of a search, parent row, body, signature, handler and
//! commit.

use super::{
    auth::{self, Caller, EnvelopeVerifier},
    authors,
    body_parts::BodyParts,
    call::Call,
    commit,
    payments::Payments,
    position_header::PositionHeader,
    request_head::{AbiRequestHead, PaidRequest, RequestTransaction},
    response::{self, PluginResponse, Streams},
    response_cache::{CacheLookup, CompleteResponse, ResponseCache},
    unrouted::unrouted,
};
use crate::{
    error_response::ErrorResponse,
    pages::Pages,
    routes::{RateLimitExceeded, RemainingQuota, Route, RouteLookup, RouteTable, Target},
};
use arc_swap::ArcSwap;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use gateway_config::Config;
use gateway_http::{
    ClientIp, ConnectionInfo, RequestId, RequestSpan, Tarpit,
    body::{Body, RequestBody},
};
use gateway_plugins::{ActivePlugin, ContainedCall, ExtensionPoints, RequestCharge, TransactionContext, polls::within};
use gateway_storage::read_tracking;
use gateway_telemetry::{LogContext, Span, SpanKind, SpanScope, is_tracing, with_log_context};
use http::{Request, Response, StatusCode, header, request::Parts, uri::PathAndQuery};
use http_body::Body as _;
use plugin_api::{
    abi::{self, FfiBytes, Value},
    manifest::NeededSetting,
    sql,
};
use std::{
    net::{IpAddr, Ipv4Addr},
    num::NonZero,
    sync::Arc,
    thread,
    time::Duration,
};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Handles requests, with or without a socket in front.
pub struct Dispatcher {
    pub config: Arc<ArcSwap<Config>>,
    pub transactions: Arc<TransactionContext>,
    pub extension_points: Arc<ExtensionPoints>,
    pub routes: Arc<RouteTable>,
    pub pages: Pages,
    pub streams: Streams,
    pub verifier: Arc<EnvelopeVerifier>,
    pub responses: ResponseCache,
    pub position: PositionHeader,
    pub payments: Payments,
    /// Limits how many large bodies are verified at a time to the number of processors.
    pub large_bodies: Arc<Semaphore>,
    /// Limits how many searches run at a time: one processor fewer than there are stays for other requests.
    pub searches: Semaphore,
}

/// What a dispatcher is made of, beside what the pages have.
pub struct DispatcherParts {
    pub streams: Streams,
    pub verifier: EnvelopeVerifier,
    pub cache_bytes_max: usize,
    pub position: PositionHeader,
    pub payments: Payments,
}

impl Dispatcher {
    pub fn new(pages: Pages, parts: DispatcherParts) -> Self {
        let DispatcherParts { streams, verifier, cache_bytes_max, position, payments } = parts;
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            config: pages.config.clone(),
            transactions: pages.transactions.clone(),
            extension_points: pages.extension_points.clone(),
            routes: pages.routes.clone(),
            pages,
            streams,
            verifier: Arc::new(verifier),
            responses: ResponseCache::new(cache_bytes_max),
            position,
            payments,
            large_bodies: Arc::new(Semaphore::new(processors)),
            searches: Semaphore::new(processors.saturating_sub(1).max(1)),
        }
    }

    /// Answers a request. Every failure has the one error body.
    pub async fn handle(self: &Arc<Self>, request: Request<RequestBody>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let (route, params) = match self.routes.find(&parts.method, parts.uri.path()) {
            RouteLookup::Found { route, params } => (route, params),
            other => {
                let mut request_guard = self.routes.unrouted.start_request();
                let response = unrouted(&parts, other, self.routes.starting.is_any());
                request_guard.set_status(response.status());
                return response;
            }
        };
        let mut request_guard = route.usage.start_request();
        let span = request_span(&route, &parts);
        let ip = client_ip(&parts);
        let is_search = route.is_search(&parts.uri);
        let quota = match self.count_call(&route, ip, is_search) {
            Ok(quota) => quota,
            Err(exceeded) => {
                request_guard.set_status(StatusCode::TOO_MANY_REQUESTS);
                let mut response = ErrorResponse::from(exceeded).into_response();
                response.extensions_mut().insert(Tarpit);
                response.extensions_mut().insert(route.label.clone());
                return response;
            }
        };
        let served = self.serve(&route, ip, RoutedRequest { parts, params, body, is_search });
        let mut response = match SpanScope::run(span, served).await {
            Ok(response) => response,
            Err(refused) => refused.into_response(),
        };
        if let Some(quota) = quota {
            quota.write(response.headers_mut());
        }
        if let Some(value) = &route.cache_control
            && response.status().as_u16() < 400
            && !response.headers().contains_key(header::CACHE_CONTROL)
        {
            response.headers_mut().insert(header::CACHE_CONTROL, value.clone());
        }
        response.extensions_mut().insert(route.label.clone());
        request_guard.set_status(response.status());
        response
    }

    fn count_call(
        &self,
        route: &Route,
        ip: IpAddr,
        is_search: bool,
    ) -> Result<Option<RemainingQuota>, RateLimitExceeded> {
        if self.routes.ip_limits().is_exempt(ip) {
            return Ok(None);
        }
        let limits = route.search_limits.as_ref().filter(|_| is_search).unwrap_or(&route.limits);
        limits.check(ip)
    }

    async fn serve(
        self: &Arc<Self>,
        route: &Arc<Route>,
        ip: IpAddr,
        routed: RoutedRequest,
    ) -> Result<Response<Body>, ErrorResponse> {
        let RoutedRequest { parts, params, body, is_search } = routed;
        match &route.target {
            // Boxed: a rare case must not make the future of every request large.
            Target::Meta(meta) => {
                let answer = Box::pin(self.pages.respond(*meta, &parts));
                with_log_context(log_context_of(route, &parts), answer).await
            }
            Target::Plugin { plugin, index } => {
                // Held until the response is complete: a drain waits for it.
                let _in_flight = plugin.acquire().ok_or_else(|| ErrorResponse::not_serving(plugin))?;
                let sink = parts.extensions.get::<ConnectionInfo>().and_then(|info| info.sink.clone());
                let operation = plugin.operations.route(*index).ok_or_else(ErrorResponse::internal)?;
                let may_use_read_replica = route.may_use_read_replica();
                let call = Call { route, plugin, operation, index: *index, ip, may_use_read_replica, sink };
                let routed = RoutedRequest { parts, params, body, is_search };
                // The body is not part of the cache key, so a GET with a body is not cached.
                if route.spec.cached && routed.body.is_end_stream() {
                    self.serve_cached(call, routed).await
                } else if may_use_read_replica {
                    // Boxed: the future of every request is as large as what is not.
                    Box::pin(self.read_and_call(call, routed)).await
                } else {
                    self.verify_and_call(call, routed).await
                }
            }
        }
    }

    /// The cached response, or a new one, which gets an entity tag and is cached where nothing forbids it.
    async fn serve_cached(
        self: &Arc<Self>,
        call: Call<'_>,
        routed: RoutedRequest,
    ) -> Result<Response<Body>, ErrorResponse> {
        let is_compressed_for_some = self.config.load().http.compression;
        let uri = routed.parts.uri.clone();
        let path_and_query = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let revisions = match self.responses.look_up(path_and_query) {
            CacheLookup::NotAdmitted => None,
            found => {
                // Other gateways may have written to the database. Without its revisions the handler answers.
                let headers = &routed.parts.headers;
                let revisions = self.transactions.database.recent_revisions(self.position.sent_by(headers)).await;
                if let (CacheLookup::Hit(cached), Some(_)) = (found, revisions)
                    && cached.is_current(call.route)
                {
                    return Ok(self.responses.respond(path_and_query, &cached, headers, is_compressed_for_some).await);
                }
                revisions
            }
        };
        let if_none_match: Vec<_> = routed.parts.headers.get_all(header::IF_NONE_MATCH).iter().cloned().collect();
        let route = call.route;
        // Boxed: cache hits, and routes that are not cached, do not pay for its size.
        let called = Box::pin(self.read_and_call(call, routed));
        let (response, dependencies) = match revisions {
            Some(revisions) => read_tracking::track(revisions, route.dependencies.clone(), called).await,
            None => (called.await, None),
        };
        let mut response = response?;
        let Some(complete) = CompleteResponse::taken_from(&mut response) else { return Ok(response) };
        if let Some((dependencies, since)) = dependencies {
            self.responses.insert(route, path_and_query, &complete, dependencies, since);
        }
        Ok(complete.into_response(&if_none_match, is_compressed_for_some))
    }

    async fn read_and_call(
        self: &Arc<Self>,
        call: Call<'_>,
        routed: RoutedRequest,
    ) -> Result<Response<Body>, ErrorResponse> {
        let source = if call.may_use_read_replica {
            self.transactions.database.read_source(self.position.sent_by(&routed.parts.headers)).await
        } else {
            None
        };
        match source {
            Some(source) => source.scope(self.verify_and_call(call, routed)).await,
            None => self.verify_and_call(call, routed).await,
        }
    }

    async fn verify_and_call(
        self: &Arc<Self>,
        call: Call<'_>,
        routed: RoutedRequest,
    ) -> Result<Response<Body>, ErrorResponse> {
        let RoutedRequest { parts, params, body, is_search } = routed;
        check_setting(call.route)?;
        let _search = if is_search { Some(self.begin_search(call.route.timeout).await?) } else { None };
        self.check_parent(call.route, call.plugin, &params).await?;
        let (body, body_parts) = if call.route.spec.streams_body {
            (Bytes::new(), Some(BodyParts::new(body.limited(call.route.body_max_bytes)?)))
        } else {
            (body.read_limited(call.route.body_max_bytes).await?, None)
        };
        let (caller, parts, params) = self.authenticate(call.route, parts, params, body).await?;
        let log_context = log_context_of(call.route, &parts);
        // Boxed: a cache hit does without it, and the outer future is smaller to move.
        let request = AuthenticatedRequest { parts, params, caller, body_parts, charge: None, paid: None };
        let answer: BoxFuture<'_, _> = if call.route.spec.price.is_some() {
            Box::pin(self.call_priced(call, request))
        } else {
            Box::pin(self.call_plugin(call, request))
        };
        with_log_context(log_context, answer).await
    }

    /// A permit among the searches that run at the same time.
    async fn begin_search(&self, timeout: Duration) -> Result<SemaphorePermit<'_>, ErrorResponse> {
        let permit = within(timeout, self.searches.acquire()).await;
        permit.and_then(Result::ok).ok_or_else(ErrorResponse::busy)
    }

    /// The 404 of a missing parent comes before the body and the signature are checked.
    async fn check_parent(&self, route: &Route, plugin: &ActivePlugin, params: &[String]) -> Result<(), ErrorResponse> {
        let Some((parent, position)) = &route.parent else { return Ok(()) };
        let hint = format!("check the id of the {} in the path", parent.resource);
        let unknown = || ErrorResponse::new(404, "not_found", format!("unknown {}", parent.resource), &hint);
        let text = params.get(*position).ok_or_else(unknown)?;
        let key = match (parent.integer, text.parse::<i64>()) {
            (true, Ok(id)) if id > 0 => Value::Int(id),
            (true, _) => return Err(unknown()),
            (false, _) => Value::Text(text.as_str().into()),
        };
        let statement = sql(parent.sql.clone()).bind(key).into();
        let rows = self
            .transactions
            .database
            .read(&plugin.scope, statement)
            .await
            .map_err(|error| commit::storage_error_response(plugin, &error))?;
        if rows.is_empty() { Err(unknown()) } else { Ok(()) }
    }

    async fn authenticate(
        &self,
        route: &Arc<Route>,
        parts: Parts,
        params: Vec<String>,
        body: Bytes,
    ) -> Result<(Caller, Parts, Vec<String>), ErrorResponse> {
        if body.len() <= auth::INLINE_BYTES {
            let caller = self.verifier.authenticate(route, &parts, &params, body)?;
            return Ok((caller, parts, params));
        }
        let permit = Arc::clone(&self.large_bodies).acquire_owned().await;
        let (verifier, route) = (self.verifier.clone(), route.clone());
        let work = move || {
            // Held until the work is done, even when the client has gone.
            let _permit = permit;
            verifier.authenticate(&route, &parts, &params, body).map(|caller| (caller, parts, params))
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
            tracing::error!(%error, "checking a signature ended badly");
            Err(ErrorResponse::internal())
        })
    }

    /// One call of the operation, unless it is paused.
    pub(super) async fn call_plugin(
        &self,
        call: Call<'_>,
        request: AuthenticatedRequest,
    ) -> Result<Response<Body>, ErrorResponse> {
        let admitted = call.plugin.admit_call(call.operation);
        let admitted = admitted.map_err(|error| ErrorResponse::of_call(call.plugin, &error))?;
        let answer = self.call_admitted(&admitted, call, request).await;
        admitted.end();
        answer
    }

    async fn call_admitted(
        &self,
        admitted: &ContainedCall<'_>,
        call: Call<'_>,
        request: AuthenticatedRequest,
    ) -> Result<Response<Body>, ErrorResponse> {
        let AuthenticatedRequest { parts, params, caller, body_parts, charge, paid } = request;
        let Caller { signer, guard, body } = caller;
        let transaction = RequestTransaction::new(&self.transactions, call.plugin, guard, charge);
        let head = AbiRequestHead {
            parts,
            params,
            signer,
            client_ip: call.ip.into(),
            transaction: transaction.clone(),
            body_parts: body_parts.clone(),
            paid,
        };
        let request = abi::Request { route: call.index, head: head.into_head_box(), body: FfiBytes::from_owner(body) };
        let answered = self.answer(admitted, &call, request, &transaction, body_parts.as_deref());
        let answer = admitted.limited(call.route.timeout, answered).await.unwrap_or_else(|_timed_out| {
            let may_have_written = transaction.write().is_some_and(|write| write.has_commit_begun());
            Err(if may_have_written { ErrorResponse::timed_out_in_commit() } else { ErrorResponse::timed_out() })
        });
        let answer = match body_parts.and_then(|parts| parts.take_failure()) {
            Some(failure) if !transaction.write().is_some_and(|write| write.has_commit_begun()) => Err(failure.into()),
            _ => answer,
        };
        let PluginResponse { mut response, incomplete } =
            commit::end_transaction(&self.config.load(), &call, &transaction, answer).await?;
        if let Some(json) = incomplete {
            let json = Box::pin(authors::complete(&self.extension_points, &json)).await;
            *response.body_mut() = Body::Full(json.map_err(|reason| response::broken(&call, &reason))?);
        }
        if call.route.spec.method != "GET"
            && response.status().is_success()
            && let Some((name, value)) = Box::pin(self.position.of_write(&self.transactions.database)).await
        {
            response.headers_mut().insert(name, value);
        }
        Ok(response)
    }

    /// Calls the handler. The response is complete before the gateway commits: one that cannot be sent leaves no writes,
    /// unless the handler's own write is committed already.
    async fn answer(
        &self,
        admitted: &ContainedCall<'_>,
        call: &Call<'_>,
        request: abi::Request,
        transaction: &RequestTransaction,
        body_parts: Option<&BodyParts>,
    ) -> Result<PluginResponse, ErrorResponse> {
        // A refused commit or charge, or a body that breaks off, is not the plugin's fault, and the gateway answers it.
        let is_excused = || {
            commit::failure(transaction).is_some()
                || transaction.is_charge_refused()
                || body_parts.is_some_and(BodyParts::has_failed)
        };
        let span = plugin_span(call);
        let called = admitted.call(|| call.plugin.object.call(request), is_excused);
        let called = SpanScope::run(span.as_ref().map(Span::scope), called).await;
        if let (Some(span), Err(error)) = (&span, &called)
            && !error.is_not_serving()
        {
            span.fail("plugin_error");
        }
        // What the gateway does with the answer is no part of the call.
        drop(span);
        match called {
            Ok(answer) => response::into_response(&self.streams, call, answer).await,
            Err(error) => Err(ErrorResponse::of_call(call.plugin, &error)),
        }
    }
}

/// A request that found its route.
struct RoutedRequest {
    parts: Parts,
    params: Vec<String>,
    body: RequestBody,
    is_search: bool,
}

/// A request whose body is read, or waits to be read in parts, and whose signature is checked.
pub(super) struct AuthenticatedRequest {
    pub parts: Parts,
    pub params: Vec<String>,
    pub caller: Caller,
    pub body_parts: Option<Arc<BodyParts>>,
    /// Of a signed write with a price.
    pub charge: Option<Arc<RequestCharge>>,
    /// The payment that is reserved.
    pub paid: Option<Arc<PaidRequest>>,
}

pub(super) fn log_context_of(route: &Route, parts: &Parts) -> LogContext {
    let id = parts.extensions.get::<RequestId>().map_or_else(|| Arc::from(""), |id| id.0.clone());
    LogContext::Request { id, operation: route.label.operation.clone() }
}

/// The span of the request, which gets the name of its route; `None` unless spans are made.
fn request_span(route: &Route, parts: &Parts) -> Option<SpanScope> {
    let RequestSpan(span) = is_tracing().then(|| parts.extensions.get::<RequestSpan>()).flatten()?.clone();
    span.set_route(&route.spec.method, &route.spec.path, &route.label.plugin, &route.label.operation);
    Some(span)
}

fn plugin_span(call: &Call<'_>) -> Option<Span> {
    let span = Span::child("plugin", SpanKind::Internal)?;
    span.set("gateway.plugin", call.plugin.name().to_owned());
    span.set("gateway.operation", call.route.spec.operation.to_string());
    Some(span)
}

fn client_ip(parts: &Parts) -> IpAddr {
    parts.extensions.get::<ClientIp>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ip| ip.0)
}

/// Refuses a call that needs a setting which the plugin's configuration does not have.
fn check_setting(route: &Route) -> Result<(), ErrorResponse> {
    let Some(setting) = &route.missing_setting else { return Ok(()) };
    let NeededSetting { status, code, message, hint, .. } = setting;
    Err(ErrorResponse::new(*status, code, message, hint))
}
