//! The one way out: every HTTP request to an address that someone outside chose goes through [`Egress::fetch`].
//!
//! The rule that must not break: a connection is opened only to an address that was checked for this very hop.
//! Names are resolved once per hop, every answer is checked, and the HTTP client can connect to nothing else; it
//! follows no redirect, reads no proxy variables and keeps no connection for the next fetch.

mod allow;
mod body;
mod error;
mod ranges;
mod redirect;
mod request;
mod resolve;
mod send;
mod settings;
mod target;
#[cfg(test)]
mod tests;

pub use allow::AllowList;
pub use error::{EgressError, Waiting};
pub use ranges::{is_public, special_range};
pub use request::{FetchRequest, FetchResponse, Overflow};
pub use resolve::{Resolver, SystemResolver};
pub use send::platform_tls;
pub use settings::EgressSettings;
pub use target::{URL_CHARS_MAX, check_url};

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};
use url::Url;

use request::Plan;

/// Shared by all of its clones.
#[derive(Clone)]
pub struct Egress(Arc<Inner>);

struct Inner {
    settings: EgressSettings,
    allow: AllowList,
    resolver: Arc<dyn Resolver>,
    tls: rustls::ClientConfig,
    budgets: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Egress {
    /// Reads the machine's root certificates; fails when there are none or when a setting makes no sense.
    pub fn new(settings: EgressSettings) -> Result<Self, EgressError> {
        Self::with_resolver(settings, Arc::new(SystemResolver))
    }

    /// As [`Egress::new`], with another source of addresses. Its answers are trusted no more than the system's.
    pub fn with_resolver(settings: EgressSettings, resolver: Arc<dyn Resolver>) -> Result<Self, EgressError> {
        Self::assemble(settings, resolver, send::platform_tls()?)
    }

    fn assemble(
        settings: EgressSettings,
        resolver: Arc<dyn Resolver>,
        tls: rustls::ClientConfig,
    ) -> Result<Self, EgressError> {
        let allow = settings.validate().map_err(|problems| EgressError::Settings { problems })?;
        let budgets = Mutex::default();
        Ok(Self(Arc::new(Inner { settings, allow, resolver, tls, budgets })))
    }

    /// The check at write time: may this URL be stored, as far as its text tells? See [`check_url`].
    pub fn check_url(&self, text: &str) -> Result<Url, EgressError> {
        check_url(text, &self.0.allow)
    }

    /// Sends one request for the plugin `owner` and reads the whole answer, any status included.
    ///
    /// The deadline covers the wait for a free slot, look-up, connection, every redirect and the last byte of the body.
    pub async fn fetch(&self, owner: &str, request: FetchRequest) -> Result<FetchResponse, EgressError> {
        let started = Instant::now();
        let outcome = self.fetch_by(started, owner, request).await;
        let code = outcome.as_ref().map_or_else(EgressError::code, |_| "ok");
        metrics::counter!("gateway_egress_fetches_total", "plugin" => owner.to_owned(), "outcome" => code).increment(1);
        tracing::debug!(plugin = owner, outcome = code, elapsed_ms = started.elapsed().as_millis(), "fetch");
        outcome
    }

    async fn fetch_by(
        &self,
        started: Instant,
        owner: &str,
        request: FetchRequest,
    ) -> Result<FetchResponse, EgressError> {
        let plan = Plan::new(request, &self.0.settings, &self.0.allow)?;
        let deadline = started + Duration::from_millis(plan.timeout_ms);
        let late = |waiting| EgressError::Timeout {
            host: target::host_of(&plan.hop.url),
            timeout_ms: plan.timeout_ms,
            waiting,
        };
        let slot = timeout_at(deadline, self.slot(owner)).await.map_err(|_elapsed| late(Waiting::Slot))?;
        timeout_at(deadline, self.follow(&plan, Arc::new(slot))).await.map_err(|_elapsed| late(Waiting::Answer))?
    }

    /// A place in the owner's budget, first come, first served.
    async fn slot(&self, owner: &str) -> OwnedSemaphorePermit {
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
            // Only a closed semaphore fails, and nothing closes these: wait for the deadline instead of going unpaid.
            Err(_closed) => std::future::pending().await,
        }
    }

    async fn follow(&self, plan: &Plan, slot: Arc<OwnedSemaphorePermit>) -> Result<FetchResponse, EgressError> {
        let inner = &self.0;
        let mut hop = plan.hop.clone();
        let mut redirects_left = plan.redirects_max;
        loop {
            let addresses = resolve::checked_addresses(&hop.url, &inner.allow, &inner.resolver, &slot).await?;
            let answer = send::send(&hop, addresses, &inner.tls, &inner.settings).await?;
            let next = match plan.redirects_max {
                0 => None,
                _ => redirect::next_hop(&hop, &answer)?,
            };
            match next {
                None => return body::read(hop.url, answer, plan).await,
                Some(_) if redirects_left == 0 => {
                    let host = target::host_of(&hop.url);
                    return Err(EgressError::RedirectLimit { host, redirects_max: plan.redirects_max });
                }
                Some(next) => hop = next,
            }
            redirects_left -= 1;
        }
    }
}
