//! Waits for locks: `pg_stat_activity`, sampled during a measurement on a connection of its own.

use anyhow::{Context as _, Result};
use sqlx::{Connection as _, PgConnection, Row as _};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::load;

const INTERVAL: Duration = Duration::from_millis(50);
const QUERY: &str = "SELECT DISTINCT wait_event FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'";
/// A lock on the end of a file, held while pages are added and not until the commit.
const MOMENTARY: &str = "extend";

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct LockWaits {
    pub samples: u64,
    /// Samples in which a backend waited, by the lock that it waited for.
    pub events: BTreeMap<String, u64>,
}

pub struct LockSampler {
    /// The backend that answers the samples.
    pub pid: i32,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<LockWaits>>,
}

impl LockSampler {
    /// Samples the backends of this database, on a connection to `url`.
    pub fn start(url: String, database: &'static str) -> Result<Self> {
        let is_over = Arc::<AtomicBool>::default();
        let (started, pid) = mpsc::channel();
        let end = is_over.clone();
        let thread = thread::spawn(move || load::block_on(sample(&url, database, &started, &end))?);
        match pid.recv() {
            Ok(pid) => Ok(Self { pid, is_over, thread }),
            Err(_) => Err(joined(thread).err().unwrap_or_else(|| anyhow::anyhow!("the sampler ended"))),
        }
    }

    pub fn stop(self) -> Result<LockWaits> {
        self.is_over.store(true, Relaxed);
        joined(self.thread)
    }
}

fn joined(thread: JoinHandle<Result<LockWaits>>) -> Result<LockWaits> {
    thread.join().map_err(|_| anyhow::anyhow!("the sampler of lock waits panicked"))?
}

async fn sample(
    url: &str,
    database: &'static str,
    started: &mpsc::Sender<i32>,
    is_over: &AtomicBool,
) -> Result<LockWaits> {
    let mut connection = PgConnection::connect(url).await.context("sampling lock waits")?;
    started.send(sqlx::query("SELECT pg_backend_pid()").fetch_one(&mut connection).await?.try_get(0)?)?;
    let mut waits = LockWaits::default();
    while !is_over.load(Relaxed) {
        waits.samples += 1;
        for row in sqlx::query(QUERY).bind(database).fetch_all(&mut connection).await? {
            *waits.events.entry(row.try_get(0)?).or_default() += 1;
        }
        tokio::time::sleep(INTERVAL).await;
    }
    connection.close().await?;
    Ok(waits)
}

impl LockWaits {
    pub fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        for (event, count) in &other.events {
            *self.events.entry(event.clone()).or_default() += count;
        }
    }

    /// Samples with a wait for a lock that is held until a commit, at most one per sample and kind of lock.
    pub fn between_transactions(&self) -> u64 {
        self.events.iter().filter(|(event, _)| *event != MOMENTARY).map(|(_, count)| count).sum()
    }

    /// As the table shows it.
    pub fn cell(&self) -> String {
        if self.samples == 0 {
            return "–".to_owned();
        }
        let events = self.events.iter().map(|(event, count)| format!("{event} in {count}"));
        let events = events.collect::<Vec<_>>().join(", ");
        let none = if events.is_empty() { "none" } else { "" };
        format!("{none}{events} of {}", self.samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_named_and_those_of_a_moment_are_not_between_transactions() {
        let seen = |event: &str, count| LockWaits { samples: 10, events: BTreeMap::from([(event.to_owned(), count)]) };
        let mut waits = seen("extend", 2);
        assert_eq!((waits.between_transactions(), waits.cell().as_str()), (0, "extend in 2 of 10"));
        waits.add(&seen("transactionid", 3));
        assert_eq!((waits.between_transactions(), waits.cell().as_str()), (3, "extend in 2, transactionid in 3 of 20"));
        let quiet = LockWaits { samples: 60, ..LockWaits::default() };
        assert_eq!((quiet.cell().as_str(), LockWaits::default().cell().as_str()), ("none of 60", "–"));
    }
}
