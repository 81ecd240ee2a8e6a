//! A chain by its name: its servers, its head, and who is asked.

use super::{
    Header, SourceReport,
    error::{ChainError, RpcFailure},
    label::label,
    rpc::Rpc,
    sealers::Sealers,
    source::Source,
};
use gateway_config::ChainConfig;
use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::sync::watch;
use url::Url;

pub struct Chain {
    pub name: String,
    pub chain_id: u64,
    pub settings: ChainConfig,
    pub(super) sources: Arc<Vec<Source>>,
    /// The place of the server that is asked first.
    current: AtomicUsize,
    /// The only one that is asked, in a view of the chain by one server.
    only: Option<usize>,
    head: watch::Sender<Option<Head>>,
    pub(super) sealers: Mutex<Option<Sealers>>,
}

/// The newest block that is known.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub header: Header,
    /// When a server last said so.
    pub seen: Instant,
    /// Whether a server answered when it was last asked.
    pub is_live: bool,
}

impl Chain {
    pub fn new(name: &str, chain_id: u64, settings: &ChainConfig) -> Result<Self, ChainError> {
        let refuse = |reason: String| ChainError::Settings { chain: name.to_owned(), reason };
        let urls: Vec<Url> = settings
            .rpc
            .iter()
            .map(|url| parse(url).ok_or_else(|| refuse("an RPC address is no URL".to_owned())))
            .collect::<Result<_, _>>()?;
        let client = http_client(urls.iter().any(|url| url.scheme() == "https")).map_err(refuse)?;
        let timeout = Duration::from_millis(settings.timeout_ms);
        let pause = Duration::from_millis(settings.poll_ms);
        let source = |url: Url| Source::new(label(&url), Rpc::new(client.clone(), url, timeout), chain_id, pause);
        Ok(Self {
            name: name.to_owned(),
            chain_id,
            settings: settings.clone(),
            sources: Arc::new(urls.into_iter().map(source).collect()),
            current: AtomicUsize::new(0),
            only: None,
            head: watch::Sender::new(None),
            sealers: Mutex::default(),
        })
    }

    /// The chain as the server at this place sees it.
    pub(super) fn seen_by(&self, place: usize) -> Self {
        Self {
            name: self.name.clone(),
            chain_id: self.chain_id,
            settings: self.settings.clone(),
            sources: self.sources.clone(),
            current: AtomicUsize::new(place),
            only: Some(place),
            head: self.head.clone(),
            sealers: Mutex::default(),
        }
    }

    /// The newest block; none until a server has told it.
    pub fn head(&self) -> Option<Head> {
        *self.head.borrow()
    }

    /// As [`Self::head`], when a server answered lately.
    pub fn live_head(&self) -> Option<Header> {
        self.head().filter(|head| head.is_live).map(|head| head.header)
    }

    pub fn follow(&self) -> watch::Receiver<Option<Head>> {
        self.head.subscribe()
    }

    /// The deepest block that can still be taken back has this number.
    pub fn final_number(&self, head: u64) -> u64 {
        head.saturating_sub(self.settings.reorg_depth)
    }

    pub fn reports(&self) -> Vec<SourceReport> {
        self.sources.iter().map(Source::report).collect()
    }

    /// The server that is asked first.
    pub fn preferred(&self) -> &str {
        self.sources.get(self.current.load(Relaxed)).map_or("", |source| &source.label)
    }

    /// Asks one server after the other until one answers. A refusal counts only when all refuse.
    pub(super) async fn ask<'c, T, F>(&'c self, question: impl Fn(&'c Source) -> F) -> Result<T, ChainError>
    where
        F: Future<Output = Result<T, RpcFailure>>,
    {
        let mut refusal = None;
        for source in self.candidates() {
            match question(source).await {
                Ok(answer) => {
                    source.succeeded();
                    return Ok(answer);
                }
                Err(failure) if failure.is_revert() => return Err(self.failed(failure)),
                Err(failure) => {
                    source.failed(&failure);
                    refusal = refusal.or(Some(failure).filter(RpcFailure::is_refusal));
                }
            }
        }
        Err(refusal.map_or_else(|| self.unavailable(), |failure| self.failed(failure)))
    }

    /// The preferred server, then the others; those that are aside are not asked.
    fn candidates(&self) -> impl Iterator<Item = &Source> {
        self.places().filter_map(|place| self.sources.get(place))
    }

    /// Where the servers stand that are asked, in their order.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        let current = self.current.load(Relaxed);
        let others = (0..self.sources.len()).filter(move |place| *place != current);
        let is_asked = |place: &usize| {
            let is_meant = self.only.is_none_or(|only| only == *place);
            is_meant && self.sources.get(*place).is_some_and(|source| !source.is_aside())
        };
        std::iter::once(current).chain(others).filter(is_asked)
    }

    fn failed(&self, failure: RpcFailure) -> ChainError {
        ChainError::Failed { chain: self.name.clone(), failure }
    }

    pub fn unavailable(&self) -> ChainError {
        let reasons = self.reports().into_iter().map(|report| {
            format!("{} {}", report.url, report.reason.unwrap_or_else(|| "was not asked yet".to_owned()))
        });
        ChainError::Unavailable {
            chain: self.name.clone(),
            reason: format!("no RPC server answers: {}", reasons.collect::<Vec<_>>().join("; ")),
        }
    }

    pub(super) fn prefer(&self, place: usize) {
        let before = self.current.swap(place, Relaxed);
        if before != place {
            tracing::warn!(chain = self.name, server = self.preferred(), "asking another RPC server first");
        }
    }

    pub(super) fn current(&self) -> usize {
        self.current.load(Relaxed)
    }

    /// Tells everyone; silent when nothing is new.
    pub(super) fn saw(&self, header: Header) {
        self.head.send_if_modified(|head| {
            let is_new = head.is_none_or(|known| known.header != header || !known.is_live);
            *head = Some(Head { header, seen: Instant::now(), is_live: true });
            is_new
        });
    }

    pub(super) fn saw_nothing(&self) {
        self.head
            .send_if_modified(|head| head.as_mut().is_some_and(|head| std::mem::replace(&mut head.is_live, false)));
    }
}

pub fn parse(url: &SecretString) -> Option<Url> {
    Url::parse(url.expose_secret()).ok()
}

/// One client for all servers of a chain. It follows no redirect: an operator named these addresses and no other.
fn http_client(needs_certificates: bool) -> Result<reqwest::Client, String> {
    let tls = if needs_certificates {
        gateway_egress::platform_tls().map_err(|error| error.to_string())?
    } else {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| error.to_string())?;
        builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
    };
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
