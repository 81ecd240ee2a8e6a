//! The client that plugins fetch with: limits, deadline, redirects.

use super::{
    allow_list::AllowList,
    connection_pool::{ADDRESSES_TRIED_MAX, ConnectionPool},
    destinations::{Destination, DestinationSlot, Destinations, RECORDS_MAX, VisitedDestinations},
    error::{EgressError, LimitExceeded, WaitingFor},
    fetch_record::FetchRecord,
    pinned_client::{self, ClientSettings, PinnedBody},
    redirect,
    request::{FetchRequest, Hop, StreamTimeouts, ValidRequest},
    resolver::{self, Resolver, SystemResolver},
    response::{FetchResponse, StreamedResponse},
    sent_request::SentRequest,
    settings::EgressSettings,
    url_check::{check_target, check_url, host_of},
};
use http::Response;
use std::{collections::HashMap, net::SocketAddr, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};
use url::{Origin, Url};

/// A cheap handle; clones share the limits.
#[derive(Clone)]
pub struct Egress(Arc<Inner>);

struct Inner {
    settings: EgressSettings,
    allow: AllowList,
    resolver: Arc<dyn Resolver>,
    connections: ConnectionPool,
    destinations: Arc<Destinations>,
    budgets: Mutex<HashMap<String, Arc<Semaphore>>>,
    /// By how much the clock of limits and checked names is ahead.
    #[cfg(test)]
    ahead: Mutex<std::time::Duration>,
}

impl Inner {
    /// The clock of limits and checked names, which tests move on.
    fn now(&self) -> Instant {
        #[cfg(test)]
        return Instant::now() + *self.ahead.lock();
        #[cfg(not(test))]
        Instant::now()
    }
}

impl Egress {
    /// Reads the machine's root certificates; fails when there are none or when a setting is invalid.
    pub fn new(settings: EgressSettings) -> Result<Self, EgressError> {
        Self::with_resolver(settings, Arc::new(SystemResolver))
    }

    /// As [`Egress::new`], with another resolver. Its addresses are checked like the system's.
    pub fn with_resolver(settings: EgressSettings, resolver: Arc<dyn Resolver>) -> Result<Self, EgressError> {
        Self::with_tls(settings, resolver, pinned_client::platform_tls()?)
    }

    pub(crate) fn with_tls(
        settings: EgressSettings,
        resolver: Arc<dyn Resolver>,
        tls: rustls::ClientConfig,
    ) -> Result<Self, EgressError> {
        let allow = settings.validate().map_err(|problems| EgressError::Settings { problems })?;
        let clients = ClientSettings::new(tls, &settings.user_agent).map_err(|_invalid| EgressError::Settings {
            problems: vec!["egress.user_agent: visible ASCII is needed".to_owned()],
        })?;
        let connections = ConnectionPool::new(clients, &settings);
        let destinations = Destinations::new(&settings, RECORDS_MAX);
        Ok(Self(Arc::new(Inner {
            settings,
            allow,
            resolver,
            connections,
            destinations,
            budgets: Mutex::default(),
            #[cfg(test)]
            ahead: Mutex::default(),
        })))
    }

    #[cfg(test)]
    pub(crate) fn advance_clock(&self, duration: std::time::Duration) {
        *self.0.ahead.lock() += duration;
    }

    /// Checks a URL before it is stored, without resolving its host. See [`check_url`].
    pub fn check_url(&self, text: &str) -> Result<Url, EgressError> {
        check_url(text, &self.0.allow)
    }

    /// Sends one request for the plugin `owner` and reads the whole response, whatever its status.
    ///
    /// The deadline covers the wait for a slot, name resolution, connection, every redirect and the last byte of the
    /// body. At most half of it is spent on the wait, so that what begins has time to succeed.
    pub async fn fetch(&self, owner: &str, request: FetchRequest) -> Result<FetchResponse, EgressError> {
        self.send(owner, request, None).await?.collect().await
    }

    /// The same up to the head of the response, whose body the caller reads while it arrives. The body keeps the slot and
    /// the connection until it ends or is dropped; the other side waits while nobody reads.
    pub async fn stream(
        &self,
        owner: &str,
        request: FetchRequest,
        timeouts: StreamTimeouts,
    ) -> Result<StreamedResponse, EgressError> {
        self.send(owner, request, Some(timeouts)).await
    }

    async fn send(
        &self,
        owner: &str,
        request: FetchRequest,
        stream: Option<StreamTimeouts>,
    ) -> Result<StreamedResponse, EgressError> {
        let mut record = FetchRecord::begin(owner);
        let sent = self.send_before_deadline(&mut record, owner, request, stream).await;
        match sent {
            Ok(sent) => StreamedResponse::begin(sent, record),
            Err(error) => {
                record.set_outcome(error.code());
                Err(error)
            }
        }
    }

    async fn send_before_deadline(
        &self,
        record: &mut FetchRecord,
        owner: &str,
        request: FetchRequest,
        stream: Option<StreamTimeouts>,
    ) -> Result<SentRequest, EgressError> {
        let mut request = ValidRequest::new(request, stream, &self.0.settings, &self.0.allow)?;
        record.trace(&mut request.hop);
        let started = record.started();
        let timeout_ms = request.head_timeout_ms;
        let deadline = |timeout_ms| started + Duration::from_millis(timeout_ms);
        let timed_out = |waiting_for, timeout_ms| {
            let host = host_of(&request.hop.url);
            EgressError::Timeout { host, timeout_ms, waiting_for }
        };
        let wait_ms = timeout_ms / 2;
        let slot = timeout_at(deadline(wait_ms), self.acquire_slot(owner)).await;
        let slot = Arc::new(slot.map_err(|_elapsed| timed_out(WaitingFor::Slot, wait_ms))?);
        let waiting_for = if stream.is_some() { WaitingFor::Head } else { WaitingFor::Response };
        let (url, response, destination_slot) =
            timeout_at(deadline(timeout_ms), self.follow_redirects(&request, &slot))
                .await
                .map_err(|_elapsed| timed_out(waiting_for, timeout_ms))??;
        Ok(SentRequest { url, response, limits: request.body_limits, slot, destination_slot })
    }

    /// One of the owner's slots, in the order of requests.
    async fn acquire_slot(&self, owner: &str) -> OwnedSemaphorePermit {
        let budget = {
            let mut budgets = self.0.budgets.lock();
            match budgets.get(owner) {
                Some(budget) => Arc::clone(budget),
                None => {
                    let budget = Arc::new(Semaphore::new(self.0.settings.per_plugin_concurrency));
                    Arc::clone(budgets.entry(owner.to_owned()).or_insert(budget))
                }
            }
        };
        match budget.acquire_owned().await {
            Ok(slot) => slot,
            // Only a closed semaphore fails, and no code closes these: wait for the deadline rather than send without a
            // slot.
            Err(_closed) => std::future::pending().await,
        }
    }

    /// The last response, with its body unread, and its URL.
    async fn follow_redirects(
        &self,
        request: &ValidRequest,
        slot: &Arc<OwnedSemaphorePermit>,
    ) -> Result<(Url, Response<PinnedBody>, DestinationSlot), EgressError> {
        let mut hop = request.hop.clone();
        let mut redirects_left = request.redirects_max;
        let mut visited = VisitedDestinations::new(request.is_background);
        loop {
            let (response, destination_slot) = self.send_hop(&hop, &mut visited, slot).await?;
            if response.status().is_success() {
                self.0.destinations.record_answer(&visited, self.0.now());
            }
            let next = match request.redirects_max {
                0 => None,
                _ => redirect::next_hop(&hop, &response)?,
            };
            match next {
                None => return Ok((hop.url, response, destination_slot)),
                Some(_) if redirects_left == 0 => {
                    let host = host_of(&hop.url);
                    return Err(EgressError::RedirectLimit { host, redirects_max: request.redirects_max });
                }
                Some(next) => hop = next,
            }
            redirects_left -= 1;
        }
    }

    /// Sends the hop to the first of its addresses that accepts a connection and a call. The next one is tried only when none of the
    /// request's bytes had left.
    async fn send_hop(
        &self,
        hop: &Hop,
        visited: &mut VisitedDestinations,
        slot: &Arc<OwnedSemaphorePermit>,
    ) -> Result<(Response<PinnedBody>, DestinationSlot), EgressError> {
        check_target(&hop.url, &self.0.allow)?;
        let origin = hop.url.origin();
        let addresses = self.addresses(hop, &origin, slot).await?;
        let mut failed = None;
        for address in addresses.into_iter().take(ADDRESSES_TRIED_MAX) {
            match self.send_to(hop, &origin, address, visited).await {
                Err(busy @ EgressError::DestinationBusy { .. }) => failed = Some(busy),
                // An address that is only busy is worth another try.
                Err(error @ EgressError::Connect { .. }) => {
                    failed.get_or_insert(error);
                }
                sent_or_failed => return sent_or_failed,
            }
        }
        Err(failed.unwrap_or_else(|| EgressError::UnresolvableUrl { host: host_of(&hop.url) }))
    }

    /// The origin's addresses, checked again when the latest check is too old.
    async fn addresses(
        &self,
        hop: &Hop,
        origin: &Origin,
        slot: &Arc<OwnedSemaphorePermit>,
    ) -> Result<Vec<SocketAddr>, EgressError> {
        let inner = &self.0;
        let now = inner.now();
        if let Some(addresses) = inner.connections.addresses(origin, now) {
            return Ok(addresses);
        }
        let checked = resolver::checked_addresses(&hop.url, &inner.allow, &inner.resolver, slot).await;
        inner.connections.store_addresses(origin, checked.as_deref().unwrap_or_default(), now);
        checked
    }

    async fn send_to(
        &self,
        hop: &Hop,
        origin: &Origin,
        address: SocketAddr,
        visited: &mut VisitedDestinations,
    ) -> Result<(Response<PinnedBody>, DestinationSlot), EgressError> {
        let inner = &self.0;
        let counted = Destination::of_call(&hop.url, address, &inner.allow);
        let destination_slot = inner.destinations.admit(counted, visited, inner.now()).map_err(|exceeded| {
            let LimitExceeded { limit, retry_after } = exceeded;
            EgressError::DestinationBusy { host: host_of(&hop.url), limit, retry_after }
        })?;
        let client = inner.connections.client(origin, address);
        let client = client.map_err(|source| EgressError::Connect { host: host_of(&hop.url), source })?;
        let response = client.send(hop).await;
        if matches!(response, Err(EgressError::Connect { .. })) {
            inner.connections.move_to_last(origin, address);
        }
        Ok((response?, destination_slot))
    }
}
