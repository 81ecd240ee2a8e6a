//! One request over one fresh connection to addresses that were checked.
//!
//! The rule that must not break: the client of a hop knows this hop's addresses and has no resolver, no proxy, no
//! pool, no redirects and no retries. That is why each hop builds its own; the costly part, the certificates, is shared.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use http::{Method, header};
use rustls_platform_verifier::BuilderVerifierExt;

use super::{EgressError, EgressSettings, request::Hop, target::host_of};

/// The machine's root certificates, with the ring provider. Read once in a process: that takes milliseconds.
pub fn platform_tls() -> Result<rustls::ClientConfig, EgressError> {
    static READ: OnceLock<rustls::ClientConfig> = OnceLock::new();
    if let Some(config) = READ.get() {
        return Ok(config.clone());
    }
    let config = read_platform_tls().map_err(EgressError::Certificates)?;
    Ok(READ.get_or_init(|| config).clone())
}

fn read_platform_tls() -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = rustls::crypto::ring::default_provider();
    // For whoever builds a client without naming a provider; an error only says that someone was here before.
    let _ = provider.clone().install_default();
    let builder = rustls::ClientConfig::builder_with_provider(Arc::new(provider));
    let builder = builder.with_safe_default_protocol_versions()?.with_platform_verifier()?;
    Ok(builder.with_no_client_auth())
}

pub(super) async fn send(
    hop: &Hop,
    addresses: Vec<SocketAddr>,
    tls: &rustls::ClientConfig,
    settings: &EgressSettings,
) -> Result<reqwest::Response, EgressError> {
    let failed = |error: reqwest::Error| {
        let (host, connecting) = (host_of(&hop.url), error.is_connect());
        let source = error.without_url();
        if connecting {
            EgressError::Connect { host, source }
        } else {
            EgressError::BrokenAnswer { host, source: Some(source) }
        }
    };
    let client = pinned_client(addresses, tls, settings).map_err(failed)?;
    let mut request = client.request(hop.method.clone(), hop.url.clone()).headers(hop.headers.clone());
    if !hop.body.is_empty() {
        request = request.body(hop.body.clone());
    } else if matches!(hop.method, Method::POST | Method::PUT | Method::PATCH) {
        // Some servers answer 411 when these say nothing about a body.
        request = request.header(header::CONTENT_LENGTH, 0);
    }
    request.send().await.map_err(failed)
}

fn pinned_client(
    addresses: Vec<SocketAddr>,
    tls: &rustls::ClientConfig,
    settings: &EgressSettings,
) -> reqwest::Result<reqwest::Client> {
    let mut tls = tls.clone();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .dns_resolver(Pinned(addresses))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .retry(reqwest::retry::never())
        // One request per connection: HTTP/2 would bring only its attacks.
        .http1_only()
        .pool_max_idle_per_host(0)
        .referer(false)
        // Not built in today; said here, so that a feature some other crate turns on cannot change what a body is.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .connect_timeout(Duration::from_millis(settings.connect_timeout_ms))
        .user_agent(settings.user_agent.as_str())
        .build()
}

/// Answers every name with the addresses that were checked. The port is already the URL's.
struct Pinned(Vec<SocketAddr>);

impl reqwest::dns::Resolve for Pinned {
    fn resolve(&self, _name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let addresses: reqwest::dns::Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}
