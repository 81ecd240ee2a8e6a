//! The gateway's own routes: collects what the plugins contribute and renders the documents of [`gateway_meta`].

mod health_members;
mod status;
mod transaction;

pub(crate) use health_members::HealthMembers;

use crate::{
    background::Backups,
    dispatch::etag,
    environment,
    error_response::ErrorResponse,
    health::HealthMonitor,
    lifecycle::PluginManager,
    routes::{RenderedDocuments, RouteTable, TaggedDocument},
};
use arc_swap::ArcSwap;
use bytes::Bytes;
use gateway_chain::Chains;
use gateway_config::Config;
use gateway_http::{body::Body, problem};
use gateway_indexer::Indexes;
use gateway_jobs::JobStore;
use gateway_meta::{
    DocumentContext, MetaPage, agent_card, changelog, docs, front_page, health, index, llms, openapi, service_manifest,
    stats,
};
use gateway_plugins::{ExtensionPoints, TransactionContext};
use gateway_signers::Signers;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header, request::Parts};
use plugin_api::{
    manifest::{Environment, Manifest},
    point::{self, Counters, Discovery, NoInput, Point},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";

pub struct Pages {
    pub config: Arc<ArcSwap<Config>>,
    pub environment: Arc<Environment>,
    pub transactions: Arc<TransactionContext>,
    pub extension_points: Arc<ExtensionPoints>,
    pub chains: Arc<Chains>,
    pub signers: Arc<Signers>,
    pub routes: Arc<RouteTable>,
    pub plugins: Arc<PluginManager>,
    pub health: Arc<HealthMonitor>,
    pub health_members: HealthMembers,
    pub backups: Arc<Backups>,
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
            MetaPage::Changelog => self.with_context(|context| changelog_answer(context, query)),
            MetaPage::Health => {
                let probe = health::ProbeResult {
                    ok: self.health.report().await.ok,
                    head: self.head(),
                    indexed_block: self.indexes.indexed_block(),
                    signer_ephemeral: false,
                };
                let contributed = self.health_members.read(&self.extension_points).await;
                self.with_context(|context| Ok(json(&health::health(context, probe, contributed))))
            }
            MetaPage::Status => self.status().await,
            MetaPage::Transaction => self.transaction(parts.uri.path()).await,
            MetaPage::Front => Ok(self.front_page(parts)),
            MetaPage::Index => {
                let index = self.rendered(|documents| &documents.index, |context| to_json(&index::index(context)));
                Ok(self.tagged("application/json", index, parts))
            }
            MetaPage::OpenApi => {
                let document =
                    self.rendered(|documents| &documents.openapi, |context| to_json(&openapi::document(context)));
                Ok(self.tagged("application/json", document, parts))
            }
            MetaPage::Llms => {
                let llms = self.rendered(|documents| &documents.llms, |context| llms::llms_txt(context).into());
                Ok(self.tagged(MARKDOWN, llms, parts))
            }
            MetaPage::AgentCard => {
                let card = self.with_all_contributions(|context| undated(agent_card::agent_card(context))).await;
                Ok(self.tagged("application/json", card, parts))
            }
            MetaPage::Manifest => {
                let manifest =
                    self.with_all_contributions(|context| undated(service_manifest::manifest(context))).await;
                Ok(self.tagged("application/json", manifest, parts))
            }
            MetaPage::Stats => Ok(json(&stats::stats(&self.counters().await))),
        }
    }

    /// A document that is rendered once per route table: it takes up to a hundred times longer to render than to send.
    fn rendered(
        &self,
        document: impl FnOnce(&RenderedDocuments) -> &OnceLock<TaggedDocument>,
        render: impl FnOnce(&DocumentContext<'_>) -> Bytes,
    ) -> TaggedDocument {
        let router = self.routes.router();
        let tagged = || {
            let body = self.with_context(render);
            TaggedDocument { tag: etag::of(&body), body }
        };
        document(&router.documents).get_or_init(tagged).clone()
    }

    /// 304 for a client that has the document already.
    fn tagged(&self, content_type: &'static str, document: TaggedDocument, parts: &Parts) -> Response<Body> {
        let TaggedDocument { body, tag } = document;
        if let Some(tag) = etag::known(parts.headers.get_all(header::IF_NONE_MATCH), &tag) {
            return etag::not_modified(tag, &HeaderMap::new(), self.config.load().http.compression);
        }
        let mut response = typed(content_type, body);
        response.headers_mut().insert(header::ETAG, tag);
        response
    }

    fn front_page(&self, parts: &Parts) -> Response<Body> {
        let mut response = if prefers_html(&parts.headers) {
            let page = self.rendered(|documents| &documents.front, |context| front_page::front_page(context).into());
            with_page_policy(self.tagged(HTML, page, parts))
        } else {
            let index = self.rendered(|documents| &documents.index, |context| to_json(&index::index(context)));
            self.tagged("application/json", index, parts)
        };
        response.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
        response
    }

    async fn with_all_contributions<T>(&self, answer: impl FnOnce(&DocumentContext<'_>) -> T) -> T {
        let (discovery, counters) = tokio::join!(self.contributions(point::DISCOVERY), self.counters());
        self.with_contributions(&discovery, &counters, answer)
    }

    async fn counters(&self) -> Counters {
        let contributed = self.contributions(point::STATS).await;
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
        let config = self.config.load();
        let chain = environment::chain_info(&config);
        answer(&DocumentContext {
            environment: &self.environment,
            gateway_manifest: &self.routes.own.manifest,
            plugins: &plugins,
            chain: &chain,
            discovery,
            counters,
            web: config.web.root(),
            signer: self.signers.gateway().map(|address| plugin_api::Address(address.into_array())),
            limits: &environment::own_limits(&config),
            now_s: self.transactions.clock.now_s(),
        })
    }

    /// The newest block of the main chain while a server answers.
    fn head(&self) -> Option<u64> {
        self.chains.main().and_then(|chain| chain.live_head()).map(|head| head.number)
    }

    async fn contributions<O: DeserializeOwned>(&self, point: Point<NoInput, O>) -> Vec<(String, O)> {
        self.extension_points.collect_decoded(point, &NoInput {}).await
    }
}

/// The 404 of an address that no route has, for a person who typed it.
pub(crate) fn not_found_page(path: &str) -> Response<Body> {
    let mut response = with_page_policy(typed(HTML, front_page::not_found_page(path).into()));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// Whether a browser asks for a page: programs accept JSON, or anything.
pub(crate) fn prefers_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).find_map(|range| match range.split(';').next().map(str::trim) {
        Some("text/html" | "application/xhtml+xml") => Some(true),
        Some("application/json" | "*/*") => Some(false),
        _ => None,
    }) == Some(true)
}

fn with_page_policy(mut response: Response<Body>) -> Response<Body> {
    let policy = HeaderValue::from_static(front_page::CONTENT_SECURITY_POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// The tag leaves out when the document was made, so that it changes with the rest only; it is weak for that.
fn undated(document: Value) -> TaggedDocument {
    let body = to_json(&document);
    let mut rest = document;
    if let Value::Object(members) = &mut rest {
        members.remove("generatedAt");
    }
    let strong = etag::of(&to_json(&rest));
    let weak = strong.to_str().ok().and_then(|tag| HeaderValue::try_from(format!("W/{tag}")).ok());
    TaggedDocument { body, tag: weak.unwrap_or(strong) }
}

fn json(value: &impl Serialize) -> Response<Body> {
    typed("application/json", to_json(value))
}

fn to_json(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}

fn markdown(text: impl Into<Bytes>) -> Response<Body> {
    typed(MARKDOWN, text.into())
}

fn typed(content_type: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn changelog_answer(context: &DocumentContext<'_>, query: &str) -> Result<Response<Body>, ErrorResponse> {
    let query = match changelog::ChangelogQuery::parse(query) {
        Ok(query) => query,
        Err(refusal) => return Ok(problem::response_from(&refusal)),
    };
    Ok(match query.format {
        changelog::Format::Markdown => markdown(changelog::MARKDOWN),
        changelog::Format::Json => json(&changelog::changelog(context, &query)),
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
    let mut response = typed(asset.content_type, asset.bytes);
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(tag) = HeaderValue::from_str(&asset.etag) {
        if let Some(tag) = etag::known(parts.headers.get_all(header::IF_NONE_MATCH), &tag) {
            return etag::not_modified(tag, headers, false);
        }
        headers.insert(header::ETAG, tag);
    }
    if asset.gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(docs::CONTENT_SECURITY_POLICY));
    response
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn answer(if_none_match: Option<&str>) -> Response<Body> {
        let request = http::Request::get("/docs");
        let request = if_none_match.into_iter().fold(request, |request, tags| request.header("if-none-match", tags));
        docs_asset("/docs", &request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn a_file_of_docs_is_not_sent_to_a_client_that_has_it() {
        let first = answer(None);
        assert_eq!(first.status(), StatusCode::OK);
        let tag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
        for known in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
            let again = answer(Some(&known));
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{known}");
            assert_eq!(again.headers()[header::VARY], "accept-encoding");
        }
        let other = format!("\"x,{},x\"", tag.trim_matches('"'));
        assert_eq!(answer(Some(&other)).status(), StatusCode::OK, "{other}");
    }
}
