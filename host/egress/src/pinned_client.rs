//! Sends one request over one new connection to addresses that were checked.
//!
//! The rule that must not break: the client of a hop knows only this hop's addresses and has no resolver, no proxy, no
//! pool, no redirects and no retries. So each hop builds its own; the costly part, the certificates, is shared.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use http::{Method, header};
use rustls_platform_verifier::BuilderVerifierExt;

use super::{error::EgressError, request::Hop, settings::EgressSettings, url_check::host_of};

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

pub(super) async fn send(
    hop: &Hop,
    addresses: Vec<SocketAddr>,
    tls: &rustls::ClientConfig,
    settings: &EgressSettings,
) -> Result<reqwest::Response, EgressError> {
    let to_egress_error = |error: reqwest::Error| {
        let (host, is_connect) = (host_of(&hop.url), error.is_connect());
        let source = error.without_url();
        if is_connect {
            EgressError::Connect { host, source }
        } else {
            EgressError::BrokenResponse { host, source: Some(source) }
        }
    };
    let client = pinned_client(addresses, tls, settings).map_err(to_egress_error)?;
    let mut request = client.request(hop.method.clone(), hop.url.clone()).headers(hop.headers.clone());
    if !hop.body.is_empty() {
        request = request.body(hop.body.clone());
    } else if matches!(hop.method, Method::POST | Method::PUT | Method::PATCH) {
        // Some servers respond with 411 when these have no Content-Length.
        request = request.header(header::CONTENT_LENGTH, 0);
    }
    request.send().await.map_err(to_egress_error)
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
        .dns_resolver(PinnedResolver(addresses))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .retry(reqwest::retry::never())
        // With one request per connection HTTP/2 has no use, only its attacks.
        .http1_only()
        .pool_max_idle_per_host(0)
        .referer(false)
        // Not compiled in today; set here, so that a feature that another crate enables cannot change the body.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .connect_timeout(Duration::from_millis(settings.connect_timeout_ms))
        .user_agent(settings.user_agent.as_str())
        .build()
}

/// Resolves every name to the addresses that were checked. The port is already the URL's.
struct PinnedResolver(Vec<SocketAddr>);

impl reqwest::dns::Resolve for PinnedResolver {
    fn resolve(&self, _name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let addresses: reqwest::dns::Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}
