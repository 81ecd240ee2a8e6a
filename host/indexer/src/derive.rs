//! Lets the plugin derive its rows from a batch of events.
//!
//! The rule: a batch is one call, and what fails in it is tried again event by event, so that the one to blame is named.

use super::{
    Index, Trouble,
    commit::Batch,
    feed::Feed,
    store::{NO_JOURNAL, signed},
    told::Told,
};
use abi_stable::std_types::RResult;
use gateway_plugins::{PluginTransaction, TransactionOwner};
use plugin_api::{
    abi::{Fault, FaultKind},
    manifest::NewEvent,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Time for a handler to apply one event.
const EVENT_TIMEOUT: Duration = Duration::from_secs(4);
/// Failures are nobody's fault while the database is away.
const AWAY_WINDOW: Duration = Duration::from_secs(10);

/// The events that became public or will, with their blocks.
pub type Published = Vec<(u64, NewEvent)>;

impl Index {
    /// Answers the transaction that holds the rows.
    pub(super) async fn derive(&self, batch: &Batch) -> Result<(Arc<PluginTransaction>, Published), Trouble> {
        let events = batch.events.as_slice();
        let scope = if batch.is_final { self.scope.unjournaled() } else { self.scope.clone() };
        let transaction = PluginTransaction::new(&self.host, scope.clone(), TransactionOwner::Index);
        match self.apply(&transaction, batch, events.len()).await {
            Err(Trouble::Handler(reason)) if events.len() > 1 => {
                tracing::debug!(plugin = self.plugin.name(), reason, "applying the events of a batch one by one");
                transaction.roll_back().await;
            }
            Err(trouble) => return Err(trouble),
            Ok(published) => return Ok((transaction, published)),
        }
        let transaction = PluginTransaction::new(&self.host, scope, TransactionOwner::Index);
        let published = self.apply(&transaction, batch, 1).await?;
        Ok((transaction, published))
    }

    /// So many events a call.
    async fn apply(
        &self,
        transaction: &Arc<PluginTransaction>,
        batch: &Batch,
        most: usize,
    ) -> Result<Published, Trouble> {
        // Given up before the database does, which would look like the plugin's fault.
        let until = Instant::now() + self.transaction_timeout / 2;
        let events = batch.events.as_slice();
        let block = |told: Option<&Told>| told.map(|told| told.block);
        let has_several_blocks = block(events.first()) != block(events.last());
        let turn = |told: &Told| if batch.is_final { NO_JOURNAL } else { signed(told.block) };
        let (mut published, mut applied) = (Vec::new(), 0);
        for part in events.chunks(most.max(1)) {
            let left = until.saturating_duration_since(Instant::now());
            if has_several_blocks && left.is_zero() {
                return Err(Trouble::Slow);
            }
            let feed = Feed::new(transaction, &self.store, part.iter().map(turn).collect(), &self.plugin.handle.tasks);
            match part {
                [one] => self.call(&feed, part, EVENT_TIMEOUT).await.map_err(|blame| self.blame(one, blame))?,
                _ => match self.call(&feed, part, left).await {
                    Err(Blame::Late(_)) if has_several_blocks => return Err(Trouble::Slow),
                    other => other.map_err(|blame| Trouble::Handler(blame.to_string()))?,
                },
            }
            let made = feed.finish().map_err(Trouble::Handler)?;
            published.extend(made.into_iter().map(|(place, made)| (applied + place, made)));
            applied += part.len();
        }
        if !events.is_empty() {
            transaction.defer_as_host(self.store.end_turn())?;
        }
        Ok(self.named(events, published))
    }

    async fn call(&self, feed: &Arc<Feed>, part: &[Told], limit: Duration) -> Result<(), Blame> {
        let error = |message: String| {
            Blame::Fault(Fault { kind: FaultKind::Error, message: message.into(), location: Default::default() })
        };
        let events = part.iter().map(Told::event).collect();
        let call = self.plugin.object.chain_events(self.listening.sources(), events, feed.handle());
        let applied = async {
            match call.await {
                RResult::ROk(()) => feed.settle().await.map_err(|broken| error(broken.to_string())),
                RResult::RErr(fault) => Err(Blame::Fault(fault)),
            }
        };
        tokio::time::timeout(limit, applied).await.unwrap_or(Err(Blame::Late(limit)))
    }

    /// Counts the failure of one event.
    fn blame(&self, told: &Told, blame: Blame) -> Trouble {
        let event = self.listening.event_name(told.source);
        let place = format!("chain event {event}");
        if !self.host.database.was_away_within(AWAY_WINDOW) {
            match &blame {
                Blame::Fault(fault) => self.plugin.handle.fault(&place, fault),
                Blame::Late(limit) => self.plugin.handle.timed_out(&place, *limit),
            }
        }
        let at = format!("the event {event} in block {} (transaction {})", told.block, told.tx);
        Trouble::Handler(format!("{at}: {blame}"))
    }

    /// Gives what is published a key, so that it enters the log once: a transaction that a reorganisation moved to another
    /// place has the same key, because its own events come in the same order.
    fn named(&self, events: &[Told], made: Vec<(usize, NewEvent)>) -> Published {
        let (mut log, mut nth) = (None, 0);
        let name = |(place, made): (usize, NewEvent)| {
            let told = events.get(place)?;
            nth = if log.replace(told.place()) == Some(told.place()) { nth + 1 } else { 0 };
            let event = self.listening.event_name(told.source);
            let key = || format!("{}:{event}:{}:{}.{nth}", self.plugin.name(), told.tx, told.repeat);
            let unique_key = made.unique_key.or_else(|| Some(key()));
            Some((told.block, NewEvent { unique_key, ts: made.ts.or(Some(told.time_s)), ..made }))
        };
        made.into_iter().filter_map(name).collect()
    }
}

/// Why events were not applied.
#[derive(Debug, thiserror::Error)]
enum Blame {
    #[error("{}", .0.message)]
    Fault(Fault),
    #[error("not applied within {0:?}")]
    Late(Duration),
}
