//! Sends requests to one address that was checked.
//!
//! The rule that must not break: a client knows only its one address and has no resolver, no proxy and no redirects. It sends a
//! request a second time only when the idle connection that it had chosen was closed before any byte of the request had left.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use http::{Method, header};
use rustls_platform_verifier::BuilderVerifierExt;

use super::{error::EgressError, request::Hop, url_check::host_of};

/// The machine's root certificates, with the ring provider. They are read once per process, because that takes
/// milliseconds.
pub fn platform_tls() -> Result<rustls::ClientConfig, EgressError> {
    static CONFIG: OnceLock<rustls::ClientConfig> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(config.clone());
    }
    let config = read_platform_tls().map_err(EgressError::Certificates)?;
    Ok(CONFIG.get_or_init(|| config).clone())
}

fn read_platform_tls() -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = rustls::crypto::ring::default_provider();
    // For clients that are built without a provider; the error only means that one is already installed.
    let _ = provider.clone().install_default();
    let builder = rustls::ClientConfig::builder_with_provider(Arc::new(provider));
    let builder = builder.with_safe_default_protocol_versions()?.with_platform_verifier()?;
    Ok(builder.with_no_client_auth())
}

/// How long an idle connection stays open. Servers of agents close theirs after five seconds by default (Node.js, Uvicorn), and a
/// request that meets such a close on its way fails.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
const IDLE_CONNECTIONS_MAX: usize = 64;

pub(super) fn new(
    address: SocketAddr,
    tls: &rustls::ClientConfig,
    connect_timeout: Duration,
    user_agent: &str,
) -> reqwest::Result<reqwest::Client> {
    let mut tls = tls.clone();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .dns_resolver(PinnedResolver(address))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        // What hyper does by itself stays: an idle connection that turns out to be closed before it takes the request is replaced.
        .retry(reqwest::retry::never())
        // HTTP/2 would put the calls of all plugins on one connection, where one of them can hold up the others.
        .http1_only()
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
        .referer(false)
        // Not compiled in today; set here, so that a feature that another crate enables cannot change the body.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .connect_timeout(connect_timeout)
        .user_agent(user_agent)
        .build()
}

pub(super) async fn send(client: &reqwest::Client, hop: &Hop) -> Result<reqwest::Response, EgressError> {
    let mut request = client.request(hop.method.clone(), hop.url.clone()).headers(hop.headers.clone());
    if !hop.body.is_empty() {
        request = request.body(hop.body.clone());
    } else if matches!(hop.method, Method::POST | Method::PUT | Method::PATCH) {
        // Some servers respond with 411 when these have no Content-Length.
        request = request.header(header::CONTENT_LENGTH, 0);
    }
    request.send().await.map_err(|error| egress_error(hop, error))
}

pub(super) fn egress_error(hop: &Hop, error: reqwest::Error) -> EgressError {
    let (host, is_connect) = (host_of(&hop.url), error.is_connect());
    let source = error.without_url();
    if is_connect {
        EgressError::Connect { host, source }
    } else {
        EgressError::BrokenResponse { host, source: Some(source) }
    }
}

/// Resolves every name to the address that was checked. The port is already the URL's.
struct PinnedResolver(SocketAddr);

impl reqwest::dns::Resolve for PinnedResolver {
    fn resolve(&self, _name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let addresses: reqwest::dns::Addrs = Box::new(std::iter::once(self.0));
        Box::pin(std::future::ready(Ok(addresses)))
    }
}
