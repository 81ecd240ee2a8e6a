//! Lets the plugin derive its rows from a batch of events.
//!
//! The rule: a batch is one call, and what fails in it is tried again event by event, so that the one to blame is named.

use super::{
    Index, Trouble,
    commit::Batch,
    feed::Feed,
    store::{NO_JOURNAL, signed},
};
use crate::{
    chain::argument::Arguments,
    plugins::{Owner, PluginTransaction},
};
use abi_stable::std_types::RResult;
use alloy_primitives::{Address, B256};
use plugin_api::{
    abi::{Fault, FaultKind},
    manifest::{ChainEvent, NewEvent, SubscribedEvent},
};
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

/// Time for a handler to apply one event.
const EVENT_TIMEOUT: Duration = Duration::from_secs(4);
/// Room for the JSON of one, so that a large batch is not moved while it grows.
const EVENT_BYTES: usize = 1024;
/// Failures are nobody's fault while the database is away.
const AWAY_WINDOW: Duration = Duration::from_secs(10);

/// The events that became public or will, with their blocks.
pub type Published = Vec<(u64, NewEvent)>;

type Subscribed<'d> = SubscribedEvent<ChainEvent<Arguments<'d>>>;

/// An event to be applied.
struct Told<'d> {
    told: Subscribed<'d>,
    /// How many logs of the same address, signature and transaction came before.
    repeat: u32,
    /// Its log in the batch: one log may be told to several subscriptions.
    log: usize,
}

impl<'d> Told<'d> {
    fn event(&self) -> &ChainEvent<Arguments<'d>> {
        &self.told.event
    }
}

impl Index {
    /// Answers the transaction that holds the rows.
    pub(super) async fn derive(&self, batch: &Batch<'_>) -> Result<(Arc<PluginTransaction>, Published), Trouble> {
        let events = self.told(batch);
        let transaction = PluginTransaction::new(&self.services, self.scope.clone(), Owner::Index);
        match self.apply(&transaction, batch, &events, events.len()).await {
            Err(Trouble::Handler(reason)) if events.len() > 1 => {
                tracing::debug!(plugin = self.plugin.name(), reason, "applying the events of a batch one by one");
                transaction.roll_back().await;
            }
            Err(trouble) => return Err(trouble),
            Ok(published) => return Ok((transaction, published)),
        }
        let transaction = PluginTransaction::new(&self.services, self.scope.clone(), Owner::Index);
        let published = self.apply(&transaction, batch, &events, 1).await?;
        Ok((transaction, published))
    }

    fn told(&self, batch: &Batch<'_>) -> Vec<Told<'_>> {
        let mut repeats: HashMap<(Address, Option<&B256>, B256), u32> = HashMap::new();
        let mut events = Vec::with_capacity(batch.logs.len());
        for (place, log) in batch.logs.iter().enumerate() {
            let repeat = repeats.entry((log.address, log.topics.first(), log.transaction_hash)).or_default();
            for (subscription, event) in self.listening.read(log) {
                events.push(Told { told: SubscribedEvent { subscription, event }, repeat: *repeat, log: place });
            }
            *repeat += 1;
        }
        events
    }

    /// So many events a call.
    async fn apply(
        &self,
        transaction: &Arc<PluginTransaction>,
        batch: &Batch<'_>,
        events: &[Told<'_>],
        most: usize,
    ) -> Result<Published, Trouble> {
        // Given up before the database does, which would look like the plugin's fault.
        let until = Instant::now() + Duration::from_millis(self.services.config.database.transaction_timeout_ms) / 2;
        let block = |told: Option<&Told<'_>>| told.map(|told| told.event().block);
        let has_several_blocks = block(events.first()) != block(events.last());
        let turn = |told: &Told<'_>| if batch.is_final { NO_JOURNAL } else { signed(told.event().block) };
        let (mut published, mut applied) = (Vec::new(), 0);
        for part in events.chunks(most.max(1)) {
            let left = until.saturating_duration_since(Instant::now());
            if has_several_blocks && left.is_zero() {
                return Err(Trouble::Slow);
            }
            let feed = Feed::new(transaction, &self.store, part.iter().map(turn).collect(), &self.plugin.life.tasks);
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

    async fn call(&self, feed: &Arc<Feed>, part: &[Told<'_>], limit: Duration) -> Result<(), Blame> {
        let told: Vec<&Subscribed<'_>> = part.iter().map(|told| &told.told).collect();
        let error = |message: String| {
            Blame::Fault(Fault { kind: FaultKind::Error, message: message.into(), location: Default::default() })
        };
        let mut bytes = Vec::with_capacity(part.len().saturating_mul(EVENT_BYTES));
        serde_json::to_writer(&mut bytes, &told).map_err(|broken| error(broken.to_string()))?;
        let call = self.plugin.object.chain_events(bytes.into(), feed.handle());
        let applied = async {
            match call.await {
                RResult::ROk(()) => feed.settle().await.map_err(|broken| error(broken.to_string())),
                RResult::RErr(fault) => Err(Blame::Fault(fault)),
            }
        };
        tokio::time::timeout(limit, applied).await.unwrap_or(Err(Blame::Late(limit)))
    }

    /// Counts the failure of one event.
    fn blame(&self, told: &Told<'_>, blame: Blame) -> Trouble {
        let event = told.event();
        let place = format!("chain event {}", event.event);
        if !self.services.database.was_away_within(AWAY_WINDOW) {
            match &blame {
                Blame::Fault(fault) => self.plugin.life.fault(&place, fault),
                Blame::Late(limit) => self.plugin.life.timed_out(&place, *limit),
            }
        }
        let at = format!("the event {} in block {} (transaction {})", event.event, event.block, event.tx);
        Trouble::Handler(format!("{at}: {blame}"))
    }

    /// Gives what is published a key, so that it enters the log once: a transaction that a reorganisation moved to another
    /// place has the same key, because its own events come in the same order.
    fn named(&self, events: &[Told<'_>], made: Vec<(usize, NewEvent)>) -> Published {
        let (mut log, mut nth) = (None, 0);
        let name = |(place, made): (usize, NewEvent)| {
            let told = events.get(place)?;
            nth = if log.replace(told.log) == Some(told.log) { nth + 1 } else { 0 };
            let event = told.event();
            let key = || format!("{}:{}:{}:{}.{nth}", self.plugin.name(), event.event, event.tx, told.repeat);
            let unique_key = made.unique_key.or_else(|| Some(key()));
            Some((event.block, NewEvent { unique_key, ts: made.ts.or(Some(event.time_s)), ..made }))
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
