//! The gateway's own routes: collects what the plugins contribute and renders the documents of [`gateway_meta`].

mod status;

use crate::{
    environment,
    error_response::ErrorResponse,
    lifecycle::PluginManager,
    routes::{RenderedDocuments, RouteTable},
};
use bytes::Bytes;
use gateway_config::Config;
use gateway_http::{body::Body, problem};
use gateway_indexer::Indexes;
use gateway_jobs::JobStore;
use gateway_meta::{
    DocumentContext, MetaPage, agent_card, changelog, docs, health, index, llms, openapi, service_manifest, stats,
};
use gateway_plugins::HostContext;
use http::{HeaderValue, Response, StatusCode, header, request::Parts};
use plugin_api::{
    manifest::{Environment, Manifest},
    point::{self, Counters, Discovery},
};
use serde::{Serialize, de::DeserializeOwned};
use std::sync::{Arc, OnceLock};

pub struct Pages {
    pub config: Arc<Config>,
    pub environment: Arc<Environment>,
    pub host: Arc<HostContext>,
    pub routes: Arc<RouteTable>,
    pub plugins: Arc<PluginManager>,
    pub indexes: Arc<Indexes>,
    pub jobs: JobStore,
    /// Unix milliseconds.
    pub started_ms: i64,
}

impl Pages {
    pub async fn respond(&self, page: MetaPage, parts: &Parts) -> Result<Response<Body>, ErrorResponse> {
        let query = parts.uri.query().unwrap_or_default();
        match page {
            MetaPage::Docs => Ok(docs_asset(parts.uri.path().trim_end_matches('/'), parts)),
            MetaPage::DocsAsset => Ok(docs_asset(parts.uri.path(), parts)),
            MetaPage::Changelog => self.with_context(|facts| changelog_answer(facts, query)),
            MetaPage::Health => {
                let database_ok = self.host.database.probe().await.is_ok();
                let pulse = health::ProbeResult {
                    database_ok,
                    head: self.head(),
                    indexed_block: self.indexes.indexed_block(),
                    signer_ephemeral: false,
                };
                self.with_context(|facts| Ok(json(&health::health(facts, pulse))))
            }
            MetaPage::Status => self.status().await,
            MetaPage::Index => {
                let index = self.rendered(|documents| &documents.index, |facts| to_json(&index::index(facts)));
                Ok(typed("application/json", index))
            }
            MetaPage::OpenApi => {
                let document =
                    self.rendered(|documents| &documents.openapi, |facts| to_json(&openapi::document(facts)));
                Ok(typed("application/json", document))
            }
            MetaPage::Llms => {
                Ok(markdown(self.rendered(|documents| &documents.llms, |facts| llms::llms_txt(facts).into())))
            }
            MetaPage::AgentCard => self.with_all_contributions(|facts| Ok(json(&agent_card::agent_card(facts)))).await,
            MetaPage::Manifest => {
                self.with_all_contributions(|facts| Ok(json(&service_manifest::manifest(facts)))).await
            }
            MetaPage::Stats => Ok(json(&stats::stats(&self.counters().await))),
        }
    }

    /// A document that is rendered once per route table: it takes up to a hundred times longer to render than to send.
    fn rendered(
        &self,
        document: impl FnOnce(&RenderedDocuments) -> &OnceLock<Bytes>,
        render: impl FnOnce(&DocumentContext<'_>) -> Bytes,
    ) -> Bytes {
        let router = self.routes.router();
        document(&router.documents).get_or_init(|| self.with_context(render)).clone()
    }

    async fn with_all_contributions<T>(&self, answer: impl FnOnce(&DocumentContext<'_>) -> T) -> T {
        let (discovery, counters) = tokio::join!(self.contributions::<Discovery>(point::DISCOVERY), self.counters());
        self.with_contributions(&discovery, &counters, answer)
    }

    async fn counters(&self) -> Counters {
        let contributed = self.contributions::<Counters>(point::STATS).await;
        stats::merge_counters(contributed.into_iter().map(|(_, counters)| counters))
    }

    /// For documents that need no contributions: probes request them often.
    fn with_context<T>(&self, answer: impl FnOnce(&DocumentContext<'_>) -> T) -> T {
        self.with_contributions(&[], &Counters::default(), answer)
    }

    fn with_contributions<T>(
        &self,
        discovery: &[(String, Discovery)],
        counters: &Counters,
        answer: impl FnOnce(&DocumentContext<'_>) -> T,
    ) -> T {
        let router = self.routes.router();
        let plugins: Vec<&Manifest> = router.plugins.iter().map(|manifest| &**manifest).collect();
        let chain = environment::chain_facts(&self.config);
        answer(&DocumentContext {
            environment: &self.environment,
            gateway_manifest: &self.routes.own.manifest,
            plugins: &plugins,
            chain: &chain,
            discovery,
            counters,
            web: None,
            signer: self.host.signers.gateway().map(|address| plugin_api::Address(address.into_array())),
            limits: &environment::own_limits(&self.config),
            now_s: self.host.clock.now_s(),
        })
    }

    /// The newest block of the main chain while a server answers.
    fn head(&self) -> Option<u64> {
        self.host.chains.main().and_then(|chain| chain.live_head()).map(|head| head.number)
    }

    async fn contributions<T: DeserializeOwned>(&self, point: &str) -> Vec<(String, T)> {
        let parts = self.host.collect(point, b"{}").await;
        let serving = self.host.active.list();
        let typed = parts.into_iter().filter_map(|part| match serde_json::from_value(part.value) {
            Ok(value) => Some((part.plugin, value)),
            Err(error) => {
                if let Some(plugin) = serving.iter().find(|plugin| plugin.name() == part.plugin) {
                    plugin.handle.invalid_contribution(point, &error);
                }
                None
            }
        });
        typed.collect()
    }
}

fn json(value: &impl Serialize) -> Response<Body> {
    typed("application/json", to_json(value))
}

fn to_json(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}

fn markdown(text: impl Into<Bytes>) -> Response<Body> {
    typed("text/markdown; charset=utf-8", text.into())
}

fn typed(content_type: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn changelog_answer(facts: &DocumentContext<'_>, query: &str) -> Result<Response<Body>, ErrorResponse> {
    let query = match changelog::Query::parse(query) {
        Ok(query) => query,
        Err(refusal) => return Ok(problem::response_from(&refusal)),
    };
    Ok(match query.format {
        changelog::Format::Markdown => markdown(changelog::MARKDOWN),
        changelog::Format::Json => json(&changelog::changelog(facts, &query)),
    })
}

/// The page and its files never change while the gateway runs, so their entity tag allows 304.
fn docs_asset(path: &str, parts: &Parts) -> Response<Body> {
    let accepts_gzip = parts
        .headers
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("gzip"));
    let Some(asset) = docs::asset(path, accepts_gzip) else {
        return ErrorResponse::new(404, "not_found", "no such file", "the page is at /docs").into_response();
    };
    let is_known = parts
        .headers
        .get(header::IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|tags| tags.contains(&*asset.etag));
    let mut response = typed(asset.content_type, if is_known { Bytes::new() } else { asset.bytes });
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    if let Ok(etag) = HeaderValue::from_str(&asset.etag) {
        headers.insert(header::ETAG, etag);
    }
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if asset.gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(docs::CONTENT_SECURITY_POLICY));
    response
}
