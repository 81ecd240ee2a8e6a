//! One chain: its RPC servers, its head, and the failover from one server to the next.
//!
//! The rule: a quarantined server gets no requests, and the preferred server is tried first.

use super::{
    Header,
    clique_signers::CliqueSigners,
    error::{ChainError, RpcError},
    raw_client::RawClient,
    redacted_url::redacted_url,
    rpc_client::RpcClient,
    rpc_server::{RpcServer, RpcServerReport},
};
use futures_util::future::join_all;
use gateway_config::ChainConfig;
use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::sync::watch;
use url::Url;

pub struct Chain {
    pub name: String,
    pub chain_id: u64,
    pub settings: ChainConfig,
    pub(super) servers: Arc<Vec<RpcServer>>,
    /// The same servers over connections of their own.
    pub(super) raw: Arc<RawClient>,
    /// Index of the server that is tried first.
    preferred: AtomicUsize,
    /// The only server that gets requests, when this value was made by [`Self::pinned_to`].
    pinned: Option<usize>,
    head: watch::Sender<Option<Head>>,
    clique_signers: Mutex<Option<CliqueSigners>>,
}

/// The newest block that a server has reported.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub header: Header,
    /// Whether a server responded to the latest poll.
    pub is_live: bool,
}

impl Chain {
    pub(super) fn new(name: &str, chain_id: u64, settings: &ChainConfig) -> Result<Self, ChainError> {
        let settings_error = |reason: String| ChainError::Settings { chain: name.to_owned(), reason };
        let urls: Vec<Url> = settings
            .rpc
            .iter()
            .map(|url| parse_url(url).ok_or_else(|| settings_error("an RPC address is no URL".to_owned())))
            .collect::<Result<_, _>>()?;
        let needs_certificates = urls.iter().any(|url| url.scheme() == "https");
        let client = http_client(needs_certificates).map_err(settings_error)?;
        let raw = RawClient::new(http_client(needs_certificates).map_err(settings_error)?, &urls, chain_id);
        let timeout = Duration::from_millis(settings.timeout_ms);
        let pause = Duration::from_millis(settings.poll_ms);
        let server = |url: Url| {
            RpcServer::new(redacted_url(&url), RpcClient::new(client.clone(), url, timeout), chain_id, pause)
        };
        Ok(Self {
            name: name.to_owned(),
            chain_id,
            settings: settings.clone(),
            servers: Arc::new(urls.into_iter().map(server).collect()),
            raw: Arc::new(raw),
            preferred: AtomicUsize::new(0),
            pinned: None,
            head: watch::Sender::new(None),
            clique_signers: Mutex::default(),
        })
    }

    /// The same chain, with only the server at this index.
    pub(super) fn pinned_to(&self, index: usize) -> Self {
        Self {
            name: self.name.clone(),
            chain_id: self.chain_id,
            settings: self.settings.clone(),
            servers: self.servers.clone(),
            raw: self.raw.clone(),
            preferred: AtomicUsize::new(index),
            pinned: Some(index),
            head: self.head.clone(),
            clique_signers: Mutex::default(),
        }
    }

    /// The newest block; `None` until a server has reported one.
    pub fn head(&self) -> Option<Head> {
        *self.head.borrow()
    }

    /// As [`Self::head`], when a server responded to the latest poll.
    pub fn live_head(&self) -> Option<Header> {
        self.head().filter(|head| head.is_live).map(|head| head.header)
    }

    /// Changes of the head, and of whether it is live.
    pub fn subscribe_head(&self) -> watch::Receiver<Option<Head>> {
        self.head.subscribe()
    }

    /// The newest block that no reorganisation undoes, when `head` is the newest of all.
    pub fn final_number(&self, head: u64) -> u64 {
        head.saturating_sub(self.settings.reorg_depth)
    }

    pub(super) fn reports(&self) -> Vec<RpcServerReport> {
        self.servers.iter().map(RpcServer::report).collect()
    }

    /// Label of the server that is tried first.
    pub(super) fn preferred_label(&self) -> &str {
        self.preferred_server().map_or("", |server| &server.label)
    }

    pub(super) fn preferred_server(&self) -> Option<&RpcServer> {
        self.servers.get(self.preferred())
    }

    pub(super) fn preferred(&self) -> usize {
        self.preferred.load(Relaxed)
    }

    pub(super) fn set_preferred(&self, index: usize) {
        let before = self.preferred.swap(index, Relaxed);
        if before != index {
            tracing::warn!(chain = self.name, server = self.preferred_label(), "asking another RPC server first");
        }
    }

    /// Sends a request to one server after the other until one responds. An error response is returned only when no
    /// server responds with success.
    pub(super) async fn with_failover<'c, T, F>(&'c self, request: impl Fn(&'c RpcServer) -> F) -> Result<T, ChainError>
    where
        F: Future<Output = Result<T, RpcError>>,
    {
        let mut error_response = None;
        for server in self.available().filter_map(|index| self.servers.get(index)) {
            match request(server).await {
                Ok(response) => {
                    server.request_succeeded();
                    return Ok(response);
                }
                Err(error) if error.is_revert() => return Err(self.rpc_error(error)),
                Err(error) => {
                    server.request_failed(&error);
                    error_response = error_response.or(Some(error).filter(RpcError::is_error_response));
                }
            }
        }
        Err(error_response.map_or_else(|| self.unavailable(), |error| self.rpc_error(error)))
    }

    /// Sends a request to every server that is not quarantined, at the same time.
    pub(super) async fn call_each<'c, T, F>(&'c self, request: impl Fn(&'c RpcServer) -> F) -> Vec<Result<T, RpcError>>
    where
        F: Future<Output = Result<T, RpcError>>,
    {
        let calls = self.servers.iter().filter(|server| !server.is_quarantined()).map(|server| {
            let response = request(server);
            async move {
                let response = response.await;
                match &response {
                    Ok(_) => server.request_succeeded(),
                    Err(error) => server.request_failed(error),
                }
                response
            }
        });
        join_all(calls).await
    }

    /// Indexes of the servers that get requests: the preferred one first, without those that are quarantined.
    pub(super) fn available(&self) -> impl Iterator<Item = usize> {
        let preferred = self.preferred();
        let others = (0..self.servers.len()).filter(move |index| *index != preferred);
        let is_available = |index: &usize| {
            let is_selected = self.pinned.is_none_or(|pinned| pinned == *index);
            is_selected && self.servers.get(*index).is_some_and(|server| !server.is_quarantined())
        };
        std::iter::once(preferred).chain(others).filter(is_available)
    }

    fn rpc_error(&self, error: RpcError) -> ChainError {
        ChainError::Rpc { chain: self.name.clone(), error }
    }

    /// The error when no server responds, with each server's reason.
    pub fn unavailable(&self) -> ChainError {
        let reasons = self.reports().into_iter().map(|report| {
            format!("{} {}", report.url, report.reason.unwrap_or_else(|| "was not asked yet".to_owned()))
        });
        ChainError::Unavailable {
            chain: self.name.clone(),
            reason: format!("no RPC server answers: {}", reasons.collect::<Vec<_>>().join("; ")),
        }
    }

    /// Wakes the subscribers of the head unless nothing has changed.
    pub(super) fn set_head(&self, header: Header) {
        self.head.send_if_modified(|head| {
            let is_new = head.is_none_or(|before| before.header != header || !before.is_live);
            *head = Some(Head { header, is_live: true });
            is_new
        });
    }

    /// Records that no server responded to a poll.
    pub(super) fn mark_head_stale(&self) {
        self.head
            .send_if_modified(|head| head.as_mut().is_some_and(|head| std::mem::replace(&mut head.is_live, false)));
    }

    pub(super) fn clique_signers(&self) -> Option<CliqueSigners> {
        self.clique_signers.lock().clone()
    }

    pub(super) fn set_clique_signers(&self, signers: Option<CliqueSigners>) {
        *self.clique_signers.lock() = signers;
    }
}

pub(crate) fn parse_url(url: &SecretString) -> Option<Url> {
    Url::parse(url.expose_secret()).ok()
}

/// One client for all servers of a chain. It follows no redirect: the operator configured these addresses and no other.
fn http_client(needs_certificates: bool) -> Result<reqwest::Client, String> {
    let tls = gateway_egress::client_tls(needs_certificates).map_err(|error| error.to_string())?;
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .retry(reqwest::retry::never())
        .referer(false)
        .user_agent(concat!("gateway/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.without_url().to_string())
}
