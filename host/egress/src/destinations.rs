//! How many calls a destination gets, over all plugins. A destination is a host name, or an address that was checked; a call counts
//! against both. Path, query and port make no other destination.
//!
//! The rule that must not break: the record of a destination with calls in progress is never dropped, so that the number of
//! concurrent calls stays bounded, whatever else is called meanwhile.

use super::{
    allow_list::AllowList,
    error::{DestinationLimit, LimitExceeded},
    settings::EgressSettings,
};
use lru::LruCache;
use parking_lot::Mutex;
use std::{
    collections::VecDeque,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;
use url::{Host, Url};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Destination {
    Name(String),
    Address(IpAddr),
}

/// The destinations that a fetch has reached so far. A redirect to one of them, or a second address of a name, belongs to the same
/// background call.
#[derive(Debug, Default)]
pub(super) struct VisitedDestinations {
    is_background: bool,
    destinations: Vec<Destination>,
}

/// One call in progress to each of its destinations.
#[derive(Debug)]
pub(super) struct DestinationSlot {
    table: Arc<Destinations>,
    destinations: Vec<Destination>,
}

#[derive(Debug)]
pub(super) struct Destinations {
    ordinary: CallLimits,
    /// Of one that answered 2xx lately.
    answering: CallLimits,
    unanswered_interval: Duration,
    records_max: usize,
    /// By their last use.
    records: Mutex<LruCache<Destination, DestinationRecord>>,
}

#[derive(Debug, Clone, Copy)]
struct CallLimits {
    concurrency: usize,
    per_second: usize,
}

#[derive(Debug, Default)]
struct DestinationRecord {
    in_progress: usize,
    /// When calls began, the oldest first, for a second.
    call_starts: VecDeque<Instant>,
    /// When it last answered 2xx.
    answered_at: Option<Instant>,
    /// When the last background call began.
    background_at: Option<Instant>,
}

/// How many destinations are remembered. One that is dropped counts as new.
pub(super) const RECORDS_MAX: usize = 16_384;
/// How long an answer with 2xx raises the limits.
const ANSWERING_FOR: Duration = Duration::from_secs(60);
const RATE_WINDOW: Duration = Duration::from_secs(1);
/// Nobody knows when a call in progress will end.
const CONCURRENCY_RETRY: Duration = Duration::from_secs(1);

impl Destination {
    /// What a call counts against: not what the operator named in `allow_hosts`, name and address each for itself.
    pub(crate) fn of_call(url: &Url, address: SocketAddr, allow: &AllowList) -> Vec<Self> {
        let name = match url.host() {
            Some(Host::Domain(name)) if !allow.permits_name(name, address.port()) => Some(Self::Name(name.to_owned())),
            _ => None,
        };
        let is_address_counted = !allow.permits_address(address.ip(), address.port());
        name.into_iter().chain(is_address_counted.then(|| Self::Address(address.ip()))).collect()
    }
}

impl VisitedDestinations {
    pub(crate) fn new(is_background: bool) -> Self {
        Self { is_background, destinations: Vec::new() }
    }

    /// Whether a call to it is a probe or webhook of its own.
    fn begins_background_call(&self, destination: &Destination) -> bool {
        self.is_background && !self.destinations.contains(destination)
    }
}

impl Destinations {
    pub(crate) fn new(settings: &EgressSettings, records_max: usize) -> Arc<Self> {
        Arc::new(Self {
            ordinary: CallLimits {
                concurrency: settings.per_destination_concurrency,
                per_second: settings.per_destination_per_second,
            },
            answering: CallLimits {
                concurrency: settings.per_answering_destination_concurrency,
                per_second: settings.per_answering_destination_per_second,
            },
            unanswered_interval: Duration::from_millis(settings.unanswered_interval_ms),
            records_max,
            records: Mutex::new(LruCache::unbounded()),
        })
    }

    /// Counts a call against all of its destinations, or against none.
    pub(crate) fn admit(
        self: &Arc<Self>,
        destinations: Vec<Destination>,
        visited: &mut VisitedDestinations,
        now: Instant,
    ) -> Result<DestinationSlot, LimitExceeded> {
        let mut records = self.records.lock();
        for destination in &destinations {
            // One without a record may be called; a refused call leaves no record behind.
            let Some(record) = records.get_mut(destination) else { continue };
            let limits = self.limits(record, now);
            record.check_calls(limits, now)?;
            if visited.begins_background_call(destination) {
                record.check_background_call(self.unanswered_interval, now)?;
            }
        }
        for destination in &destinations {
            let record = records.get_or_insert_mut_ref(destination, DestinationRecord::default);
            record.in_progress += 1;
            record.call_starts.push_back(now);
            if visited.begins_background_call(destination) {
                record.background_at = Some(now);
            }
        }
        self.drop_unused(&mut records);
        for destination in &destinations {
            if !visited.destinations.contains(destination) {
                visited.destinations.push(destination.clone());
            }
        }
        Ok(DestinationSlot { table: Arc::clone(self), destinations })
    }

    /// A fetch was answered with 2xx. That counts for all that it visited, since redirects led there.
    pub(crate) fn record_answer(&self, visited: &VisitedDestinations, now: Instant) {
        let mut records = self.records.lock();
        for destination in &visited.destinations {
            if let Some(record) = records.peek_mut(destination) {
                record.answered_at = Some(now);
            }
        }
    }

    fn limits(&self, record: &DestinationRecord, now: Instant) -> CallLimits {
        let is_recent = |answered_at| now.saturating_duration_since(answered_at) < ANSWERING_FOR;
        if record.answered_at.is_some_and(is_recent) { self.answering } else { self.ordinary }
    }

    /// Drops the records that were used longest ago, without those of calls in progress.
    fn drop_unused(&self, records: &mut LruCache<Destination, DestinationRecord>) {
        for _ in 0..records.len() {
            if records.len() <= self.records_max {
                return;
            }
            if let Some((destination, record)) = records.pop_lru()
                && record.in_progress > 0
            {
                records.put(destination, record);
            }
        }
    }

    #[cfg(test)]
    pub fn has_record(&self, destination: &Destination) -> bool {
        self.records.lock().contains(destination)
    }
}

impl DestinationRecord {
    fn check_calls(&mut self, limits: CallLimits, now: Instant) -> Result<(), LimitExceeded> {
        if self.in_progress >= limits.concurrency {
            let limit = DestinationLimit::Concurrency(limits.concurrency);
            return Err(LimitExceeded { limit, retry_after: CONCURRENCY_RETRY });
        }
        while self.call_starts.front().is_some_and(|start| now.saturating_duration_since(*start) >= RATE_WINDOW) {
            self.call_starts.pop_front();
        }
        // After a time with higher limits more calls may have begun than now may.
        let leaves_last =
            self.call_starts.len().checked_sub(limits.per_second).and_then(|over| self.call_starts.get(over));
        match leaves_last {
            None => Ok(()),
            Some(start) => {
                let retry_after = (*start + RATE_WINDOW).saturating_duration_since(now);
                Err(LimitExceeded { limit: DestinationLimit::Rate(limits.per_second), retry_after })
            }
        }
    }

    fn check_background_call(&self, unanswered_interval: Duration, now: Instant) -> Result<(), LimitExceeded> {
        match self.background_at {
            Some(at) if self.answered_at.is_none() && now < at + unanswered_interval => {
                let limit = DestinationLimit::Unanswered(unanswered_interval);
                Err(LimitExceeded { limit, retry_after: at + unanswered_interval - now })
            }
            _ => Ok(()),
        }
    }
}

impl Drop for DestinationSlot {
    fn drop(&mut self) {
        let mut records = self.table.records.lock();
        for destination in &self.destinations {
            if let Some(record) = records.peek_mut(destination) {
                record.in_progress = record.in_progress.saturating_sub(1);
            }
        }
    }
}

#[cfg(test)]
#[path = "tests/destinations.rs"]
mod tests;
