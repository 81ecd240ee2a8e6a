//! The task of a gateway that sequences, or waits until it may, and notifies the others of what was written and what is new.
//!
//! The rule: notifications are sent here and never by a writer, and a lost one costs half a second: without any, the holder
//! polls the outbox, and the others the row with the lease and the next position.

use super::{
    ActivityLog, WAKE_CHANNEL,
    sequencer::{LEASE, LeaseState, SequencedBatch, Sequencer},
};
use gateway_storage::{Database, Dialect, StorageError};
use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

/// Tells the gateway with the lease that another one has written.
const WRITTEN_CHANNEL: &str = "gateway_activity_outbox";

/// The holder renews its lease at least this often.
const RENEWAL: Duration = Duration::from_millis(500);
/// How often the holder polls the outbox while no notification of other gateways would reach it.
const OUTBOX_POLL: Duration = Duration::from_millis(250);
/// How often the others poll the lease.
const LEASE_POLL: Duration = Duration::from_millis(500);
/// By so much a dead holder delays streams, at most.
const TAKEOVER_MAX: Duration = Duration::from_secs(2);
const _: () = assert!(LEASE.as_millis() + LEASE_POLL.as_millis() <= TAKEOVER_MAX.as_millis());
/// Between the beginnings of two batches, which cost the database much the same with one event and with twenty.
const BATCH_INTERVAL_MIN: Duration = Duration::from_millis(10);
/// The same after a batch of at least so many events.
const BUSY_BATCH_INTERVAL_MIN: Duration = Duration::from_millis(25);
const BUSY_EVENTS: u64 = 4;
/// Between two notifications of a gateway that has written. Each is a transaction that wakes every connection that listens.
const WRITTEN_INTERVAL_MIN: Duration = Duration::from_millis(100);
/// For how long after such a notification the holder polls the outbox before every batch, so that what is written until the next one
/// is not late.
const EAGER_POLL: Duration = Duration::from_millis(150);
const RETRY: Duration = Duration::from_millis(250);
/// Between two attempts to listen.
const LISTEN_RETRY: Duration = Duration::from_secs(1);
/// For what is done at the stop.
const STOP_LIMIT: Duration = Duration::from_secs(2);

pub struct SequencerSettings {
    /// Tells operators which gateway it is.
    pub holder: String,
    /// `database.transaction_timeout_ms`.
    pub transaction_timeout: Duration,
}

/// Sequences until `stop`, while this gateway has the lease. On SQLite there is nothing to do.
pub async fn run_sequencer(log: ActivityLog, settings: SequencerSettings, stop: CancellationToken) {
    if log.database().dialect() == Dialect::Sqlite {
        return;
    }
    let sequencer = Sequencer::new(log.database().clone(), settings.holder, settings.transaction_timeout);
    let (is_holder, is_listening) = (watch::Sender::new(false), watch::Sender::new(false));
    let last_heard = Arc::<Mutex<Option<Instant>>>::default();
    let mut task = SequencerTask {
        sequencer,
        is_holder: is_holder.clone(),
        is_listening: is_listening.subscribe(),
        last_heard: last_heard.clone(),
        written: CoalescedNotifier::new(WRITTEN_CHANNEL, WRITTEN_INTERVAL_MIN),
        appended: CoalescedNotifier::new(WAKE_CHANNEL, BATCH_INTERVAL_MIN),
        is_unsure: false,
        next_position: 0,
        log: log.clone(),
    };
    task.log.note_followed();
    let (written, appended) = (task.written.clone(), task.appended.clone());
    tokio::select! {
        () = stop.cancelled() => {}
        () = task.run() => {}
        () = written.run(log.database()) => {}
        () = appended.run(log.database()) => {}
        () = listen_to_writers(&log, is_holder.subscribe(), &is_listening, &last_heard) => {}
    }
    task.end().await;
}

struct SequencerTask {
    log: ActivityLog,
    sequencer: Sequencer,
    is_holder: watch::Sender<bool>,
    is_listening: watch::Receiver<bool>,
    /// When another gateway has last notified this one that it had written.
    last_heard: Arc<Mutex<Option<Instant>>>,
    /// To the holder: there is something in the outbox.
    written: CoalescedNotifier,
    /// To every gateway: there is something new in the log.
    appended: CoalescedNotifier,
    /// Something may be public of which nobody was notified: the last batch failed, perhaps after its commit, or its sequencer died.
    is_unsure: bool,
    /// As it was at the last poll of the lease.
    next_position: i64,
}

impl SequencerTask {
    async fn run(&mut self) {
        let mut has_failed = false;
        loop {
            let round =
                if self.sequencer.token().is_some() { self.sequence().await } else { self.wait_for_lease().await };
            if let Err(error) = &round {
                self.is_unsure = true;
                // One line for each time that the database is away.
                if !has_failed {
                    tracing::warn!(%error, "new events wait for their positions in the activity log");
                }
                metrics::gauge!("gateway_activity_sequencer_standstill_seconds")
                    .set(self.log.standstill().as_secs_f64());
                tokio::time::sleep(RETRY).await;
            }
            has_failed = round.is_err();
        }
    }

    /// Appends what is in the outbox, then waits for more.
    async fn sequence(&mut self) -> Result<(), StorageError> {
        let begun = Instant::now();
        let Some(batch) = self.append().await? else {
            self.set_holder(false);
            tracing::warn!("another gateway sequences the activity log now");
            return Ok(());
        };
        if batch.is_full() {
            return Ok(());
        }
        let pause = if *self.is_listening.borrow() { RENEWAL } else { OUTBOX_POLL };
        tokio::time::sleep_until(
            begun + if batch.taken < BUSY_EVENTS { BATCH_INTERVAL_MIN } else { BUSY_BATCH_INTERVAL_MIN },
        )
        .await;
        while begun.elapsed() < pause {
            let is_eager = self.last_heard.lock().is_some_and(|last_heard| last_heard.elapsed() < EAGER_POLL);
            let wait = pause.saturating_sub(begun.elapsed());
            // An error means that the time is over.
            let is_written =
                timeout(if is_eager { wait.min(BATCH_INTERVAL_MIN) } else { wait }, self.log.wait_for_write())
                    .await
                    .is_ok();
            if is_written || is_eager && self.sequencer.has_waiting().await? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes the lease if it is free; else waits for a while, and passes on what is written here.
    async fn wait_for_lease(&mut self) -> Result<(), StorageError> {
        let wait = match self.sequencer.acquire().await? {
            LeaseState::HeldByOther { left, next_position } => {
                if std::mem::replace(&mut self.next_position, next_position) != next_position {
                    self.log.wake();
                }
                left.min(LEASE_POLL)
            }
            LeaseState::Holder => {
                tracing::debug!(token = self.sequencer.token(), "this gateway sequences the activity log");
                metrics::counter!("gateway_activity_sequencer_takeovers_total").increment(1);
                self.set_holder(true);
                self.is_unsure = true;
                return Ok(());
            }
        };
        self.note_followed();
        let end = Instant::now() + wait;
        while tokio::time::timeout_at(end, self.log.wait_for_write()).await.is_ok() {
            self.written.request();
        }
        Ok(())
    }

    async fn append(&mut self) -> Result<Option<SequencedBatch>, StorageError> {
        let Some(batch) = self.sequencer.sequence().await? else { return Ok(None) };
        self.note_followed();
        if batch.taken > 0 {
            metrics::counter!("gateway_activity_sequencer_batches_total").increment(1);
            metrics::counter!("gateway_activity_sequencer_events_total").increment(batch.appended);
        }
        if batch.appended > 0 || self.is_unsure {
            self.is_unsure = false;
            self.log.wake();
            self.appended.request();
        }
        Ok(Some(batch))
    }

    fn set_holder(&self, is_holder: bool) {
        self.is_holder.send_replace(is_holder);
        self.log.set_sequencing(is_holder);
    }

    fn note_followed(&self) {
        self.log.note_followed();
        metrics::gauge!("gateway_activity_sequencer_standstill_seconds").set(0.0);
    }

    /// Appends what was committed until now, and leaves the rest to another gateway, or to the next start.
    async fn end(&mut self) {
        if self.sequencer.token().is_none() {
            return;
        }
        let end = async {
            while self.append().await?.is_some_and(|batch| batch.is_full()) {}
            self.sequencer.release().await?;
            self.log.database().notify(WAKE_CHANNEL).await;
            Ok::<_, StorageError>(())
        };
        // Whatever keeps it from that: the lease ends by itself.
        if let Ok(Err(error)) = tokio::time::timeout(STOP_LIMIT, end).await {
            tracing::debug!(%error, "the lease of the sequencer is not given back");
        }
    }
}

/// Sends notifications of one channel; those that are requested close to each other are one.
#[derive(Clone)]
struct CoalescedNotifier {
    channel: &'static str,
    interval_min: Duration,
    requested: Arc<Notify>,
}

impl CoalescedNotifier {
    fn new(channel: &'static str, interval_min: Duration) -> Self {
        Self { channel, interval_min, requested: Arc::default() }
    }

    fn request(&self) {
        self.requested.notify_one();
    }

    async fn run(&self, database: &Database) {
        loop {
            self.requested.notified().await;
            database.notify(self.channel).await;
            tokio::time::sleep(self.interval_min).await;
        }
    }
}

/// While this gateway has the lease, what another one has written counts as written here.
async fn listen_to_writers(
    log: &ActivityLog,
    mut is_holder: watch::Receiver<bool>,
    is_listening: &watch::Sender<bool>,
    last_heard: &Mutex<Option<Instant>>,
) {
    // An error means that the task has ended.
    while is_holder.wait_for(|is_holder| *is_holder).await.is_ok() {
        if let Some(mut notifications) = log.database().listen(WRITTEN_CHANNEL).await {
            is_listening.send_replace(true);
            // Looks for what was written before.
            log.notify_written();
            loop {
                tokio::select! {
                    _ = is_holder.wait_for(|is_holder| !is_holder) => break,
                    is_connected = notifications.next() => {
                        *last_heard.lock() = Some(Instant::now());
                        log.notify_written();
                        if !is_connected {
                            break;
                        }
                    }
                }
            }
            is_listening.send_replace(false);
        }
        tokio::time::sleep(LISTEN_RETRY).await;
    }
}
