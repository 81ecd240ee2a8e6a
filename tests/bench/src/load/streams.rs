//! Readers of an event stream, and events sent to all of them: the next ones only when everyone has the last.

use super::{
    CpuClock, LoadResult, block_on,
    connection::{self, Connection},
};
use crate::pin::{self, PinnedRole};
use anyhow::{Context as _, Result, ensure};
use futures_util::future::{self, Either, try_join_all};
use std::{
    cell::{Cell, RefCell},
    net::SocketAddr,
    pin::pin,
    thread,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::{Notify, Semaphore},
    time::{sleep_until, timeout},
};

const DELIVERY_LIMIT: Duration = Duration::from_secs(60);
/// Connections that are being opened at a time.
const OPENING_MAX: usize = 64;
/// Every event has one such line, and nothing else in a stream begins a line like this.
const MARK: &[u8] = b"\ndata:";

pub struct Streams<'a> {
    pub address: SocketAddr,
    pub path: &'static str,
    pub readers: usize,
    /// Requests that publish one event each: a burst is sent at once, on connections of its own.
    pub bursts: &'a [Vec<Vec<u8>>],
    /// Time from one burst to the next, or more when it takes longer to reach everyone.
    pub pace: Duration,
}

impl Streams<'_> {
    /// Counts deliveries; without readers, what publishing alone takes (operations are zero then).
    pub fn run(&self, cpu_time: CpuClock<'_>) -> Result<LoadResult> {
        let on_thread = || pin::on(PinnedRole::Load, || block_on(self.all(cpu_time))).and_then(|done| done?);
        thread::scope(|scope| scope.spawn(on_thread).join()).map_err(|_| anyhow::anyhow!("the load panicked"))?
    }

    async fn all(&self, cpu_time: CpuClock<'_>) -> Result<LoadResult> {
        let wall = Wall::default();
        let opening = Semaphore::new(OPENING_MAX);
        let readers = try_join_all((0..self.readers).map(|_| self.read(&wall, &opening)));
        // Readers never end by themselves: what ends first is the publisher, or a reader that failed.
        match future::select(pin!(readers), pin!(self.publish(&wall, cpu_time))).await {
            Either::Left((failed, publisher)) => {
                failed?;
                // There are no readers.
                publisher.await
            }
            Either::Right((counted, _)) => counted,
        }
    }

    async fn read(&self, wall: &Wall, opening: &Semaphore) -> Result<()> {
        let mut stream = {
            let _turn = opening.acquire().await?;
            let mut stream = TcpStream::connect(self.address).await?;
            let (path, address) = (self.path, self.address);
            let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\naccept: text/event-stream\r\n\r\n");
            stream.write_all(request.as_bytes()).await?;
            let mut head = Vec::new();
            while !connection::is_complete_head(&head, 200)? {
                ensure!(stream.read_buf(&mut head).await? > 0, "the stream ended in its head");
            }
            stream
        };
        wall.count_open();
        // What may be the beginning of a mark stays for the next read.
        let mut bytes = Vec::with_capacity(16 * 1024);
        loop {
            ensure!(stream.read_buf(&mut bytes).await? > 0, "the stream ended");
            let found = bytes.windows(MARK.len()).filter(|window| *window == MARK).count();
            wall.count_delivered(found);
            let kept = bytes.len().min(MARK.len() - 1);
            bytes.drain(..bytes.len() - kept);
        }
    }

    async fn publish(&self, wall: &Wall, cpu_time: CpuClock<'_>) -> Result<LoadResult> {
        let widest = self.bursts.iter().map(Vec::len).max().unwrap_or_default();
        let mut publishers = Vec::new();
        for _ in 0..widest {
            publishers.push(Connection::open(self.address).await?);
        }
        wall.wait(|| wall.open.get() == self.readers).await.context("opening the streams")?;
        let cpu_before = cpu_time()?;
        let (mut took, mut expected) = (Duration::ZERO, 0);
        for burst in self.bursts {
            let started = Instant::now();
            wall.published.set(Some(started));
            let sent = publishers.iter_mut().zip(burst).map(|(publisher, event)| publish_one(publisher, event));
            try_join_all(sent).await?;
            expected += burst.len() * self.readers;
            wall.wait(|| wall.delivered.get() >= expected).await.context("delivering an event to every reader")?;
            ensure!(wall.delivered.get() == expected, "readers got more events than were published");
            took += started.elapsed();
            sleep_until((started + self.pace).into()).await;
        }
        let cpu = cpu_time()?.saturating_sub(cpu_before);
        let mut latencies_us = wall.latencies_us.take();
        latencies_us.sort_unstable();
        Ok(LoadResult { operations: u64::try_from(expected)?, took, cpu, latencies_us })
    }
}

async fn publish_one(publisher: &mut Connection, event: &[u8]) -> Result<()> {
    let answer = publisher.ask(event).await?;
    let text = String::from_utf8_lossy(answer.body);
    ensure!((200..300).contains(&answer.status), "publishing was answered with {}: {text}", answer.status);
    Ok(())
}

/// What all readers have seen.
#[derive(Default)]
struct Wall {
    open: Cell<usize>,
    delivered: Cell<usize>,
    published: Cell<Option<Instant>>,
    latencies_us: RefCell<Vec<u64>>,
    changed: Notify,
}

impl Wall {
    fn count_open(&self) {
        self.open.set(self.open.get() + 1);
        self.changed.notify_one();
    }

    fn count_delivered(&self, events: usize) {
        let Some(published) = self.published.get().filter(|_| events > 0) else { return };
        let latency_us = u64::try_from(published.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.latencies_us.borrow_mut().extend(std::iter::repeat_n(latency_us, events));
        self.delivered.set(self.delivered.get() + events);
        self.changed.notify_one();
    }

    async fn wait(&self, is_so: impl Fn() -> bool) -> Result<()> {
        let all = async {
            while !is_so() {
                self.changed.notified().await;
            }
        };
        timeout(DELIVERY_LIMIT, all).await.with_context(|| {
            format!(
                "{} streams open, {} events delivered after {DELIVERY_LIMIT:?}",
                self.open.get(),
                self.delivered.get()
            )
        })
    }
}
