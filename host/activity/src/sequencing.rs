//! The task of a gateway that sequences, or waits until it may, and tells the others what was written and what is new.
//!
//! The rule: notifications are sent here and never by a writer, and a lost one costs half a second: the holder looks into the
//! outbox, and the others at the row with the lease and the next position, without any.

use super::{
    ActivityLog, WAKE_CHANNEL,
    sequencer::{LeaseState, SequencedBatch, Sequencer},
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
/// How often the holder looks into the outbox while no notification of other gateways would reach it.
const POLL: Duration = Duration::from_millis(250);
/// How often the others look at the lease.
const LOOK: Duration = Duration::from_millis(500);
/// Between the beginnings of two batches, which cost the database much the same with one event and with twenty.
const GAP: Duration = Duration::from_millis(10);
/// The same after a batch of at least so many events.
const BUSY_GAP: Duration = Duration::from_millis(25);
const BUSY_EVENTS: u64 = 4;
/// Between two notifications of a gateway that has written. Each is a transaction that wakes every connection that listens.
const WRITTEN_GAP: Duration = Duration::from_millis(100);
/// For how long the holder looks into the outbox at every gap after such a notification, so that what is written until the next one is
/// not late.
const FOLLOW: Duration = Duration::from_millis(150);
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
    let heard = Arc::<Mutex<Option<Instant>>>::default();
    let mut task = SequencerTask {
        sequencer,
        is_holder: is_holder.clone(),
        is_listening: is_listening.subscribe(),
        heard: heard.clone(),
        written: Announcer::new(WRITTEN_CHANNEL, WRITTEN_GAP),
        appended: Announcer::new(WAKE_CHANNEL, GAP),
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
        () = hear_writers(&log, is_holder.subscribe(), &is_listening, &heard) => {}
    }
    task.end().await;
}

struct SequencerTask {
    log: ActivityLog,
    sequencer: Sequencer,
    is_holder: watch::Sender<bool>,
    is_listening: watch::Receiver<bool>,
    /// When another gateway has last told that it had written.
    heard: Arc<Mutex<Option<Instant>>>,
    /// To the holder: there is something in the outbox.
    written: Announcer,
    /// To every gateway: there is something new in the log.
    appended: Announcer,
    /// Something may be public of which nobody was told: the last batch failed, perhaps after its commit, or its sequencer died.
    is_unsure: bool,
    /// As it was at the last look.
    next_position: i64,
}

impl SequencerTask {
    async fn run(&mut self) {
        let mut has_failed = false;
        loop {
            let turn = if self.sequencer.token().is_some() { self.lead().await } else { self.stand_by().await };
            if let Err(error) = &turn {
                self.is_unsure = true;
                // One line for each time that the database is away.
                if !has_failed {
                    tracing::warn!(%error, "new events wait for their positions in the activity log");
                }
                metrics::gauge!("gateway_activity_sequencer_standstill_seconds")
                    .set(self.log.standstill().as_secs_f64());
                tokio::time::sleep(RETRY).await;
            }
            has_failed = turn.is_err();
        }
    }

    /// Appends what is in the outbox, then waits for more.
    async fn lead(&mut self) -> Result<(), StorageError> {
        let begun = Instant::now();
        let Some(batch) = self.append().await? else {
            self.set_holder(false);
            tracing::warn!("another gateway sequences the activity log now");
            return Ok(());
        };
        if batch.is_full() {
            return Ok(());
        }
        let pause = if *self.is_listening.borrow() { RENEWAL } else { POLL };
        tokio::time::sleep_until(begun + if batch.taken < BUSY_EVENTS { GAP } else { BUSY_GAP }).await;
        while begun.elapsed() < pause {
            let follows = self.heard.lock().is_some_and(|heard| heard.elapsed() < FOLLOW);
            let wait = pause.saturating_sub(begun.elapsed());
            // An error means that the time is over.
            let is_written = timeout(if follows { wait.min(GAP) } else { wait }, self.log.writes()).await.is_ok();
            if is_written || follows && self.sequencer.has_waiting().await? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes the lease if it is free; else waits for a while, and passes on what is written here.
    async fn stand_by(&mut self) -> Result<(), StorageError> {
        let wait = match self.sequencer.acquire().await? {
            LeaseState::Standby { left, next_position } => {
                if std::mem::replace(&mut self.next_position, next_position) != next_position {
                    self.log.wake();
                }
                left.min(LOOK)
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
        while tokio::time::timeout_at(end, self.log.writes()).await.is_ok() {
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
struct Announcer {
    channel: &'static str,
    gap: Duration,
    requested: Arc<Notify>,
}

impl Announcer {
    fn new(channel: &'static str, gap: Duration) -> Self {
        Self { channel, gap, requested: Arc::default() }
    }

    fn request(&self) {
        self.requested.notify_one();
    }

    async fn run(&self, database: &Database) {
        loop {
            self.requested.notified().await;
            database.notify(self.channel).await;
            tokio::time::sleep(self.gap).await;
        }
    }
}

/// Takes what other gateways have written for written here, while this one has the lease.
async fn hear_writers(
    log: &ActivityLog,
    mut is_holder: watch::Receiver<bool>,
    is_listening: &watch::Sender<bool>,
    heard: &Mutex<Option<Instant>>,
) {
    // An error means that the task has ended.
    while is_holder.wait_for(|is_holder| *is_holder).await.is_ok() {
        if let Some(mut notifications) = log.database().listen(WRITTEN_CHANNEL).await {
            is_listening.send_replace(true);
            // Looks for what was written before.
            log.written();
            loop {
                tokio::select! {
                    _ = is_holder.wait_for(|is_holder| !is_holder) => break,
                    is_connected = notifications.next() => {
                        *heard.lock() = Some(Instant::now());
                        log.written();
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
