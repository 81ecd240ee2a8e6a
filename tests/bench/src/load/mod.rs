//! The load: one thread, many kept-alive connections, each asking again as soon as it was answered. The same for every server.

pub mod connection;
pub mod streams;

use crate::pin::{self, PinnedRole};
use anyhow::{Context as _, Result, ensure};
use connection::Connection;
use futures_util::future::{select, try_join_all};
use std::{
    cell::{Cell, RefCell},
    net::SocketAddr,
    pin::pin,
    thread,
    time::{Duration, Instant},
};
use tokio::{
    runtime,
    sync::Notify,
    time::{sleep, sleep_until},
    try_join,
};

const FIRST_ANSWER_LIMIT: Duration = Duration::from_secs(60);
const FIRST_ANSWER_POLL: Duration = Duration::from_millis(10);

/// The n-th request, or nothing when there are no more.
pub type Requests<'a> = &'a (dyn Fn(u64) -> Option<Vec<u8>> + Sync);
pub type CpuClock<'a> = Meter<'a, Duration>;
/// What is read when counting begins and when it ends.
pub type Meter<'a, M> = &'a (dyn Fn() -> Result<M> + Sync);

pub struct Load<'a> {
    /// One server, or several that share the connections.
    pub addresses: &'a [SocketAddr],
    pub connections: usize,
    /// Time from one request of a connection to its next; without it the next follows the answer.
    pub pace: Option<Duration>,
    /// Answers in this time are checked, not counted.
    pub warm_up: Duration,
    pub duration: Duration,
    pub requests: Requests<'a>,
    /// Every answer must have this status, and a body of at least so many bytes.
    pub status: u16,
    pub body_bytes_min: usize,
}

#[derive(Clone, Debug, Default)]
pub struct LoadResult {
    pub operations: u64,
    pub took: Duration,
    /// Of the server.
    pub cpu: Duration,
    /// Sorted.
    pub latencies_us: Vec<u64>,
}

impl Load<'_> {
    /// Asks until the time is up or there are no more requests. A wrong answer ends the measurement.
    pub fn run(&self, cpu_time: CpuClock<'_>) -> Result<LoadResult> {
        let (counted, [before, after]) = self.run_metered(cpu_time)?;
        Ok(LoadResult { cpu: after.saturating_sub(before), ..counted })
    }

    /// The same, and what the meter showed when counting began and when it ended, instead of the CPU time.
    pub fn run_metered<M: Send>(&self, meter: Meter<'_, M>) -> Result<(LoadResult, [M; 2])> {
        let on_thread = || pin::on(PinnedRole::Load, || block_on(self.all(meter))).and_then(|done| done?);
        thread::scope(|scope| scope.spawn(on_thread).join()).map_err(|_| anyhow::anyhow!("the load panicked"))?
    }

    async fn all<M>(&self, meter: Meter<'_, M>) -> Result<(LoadResult, [M; 2])> {
        let run = LoadState::default();
        // Few requests may be answered before counting begins.
        run.is_counting.set(self.warm_up.is_zero());
        let connections = try_join_all((0..self.connections).map(|number| self.load_one(&run, number)));
        let (_, (mut counted, metered)) = try_join!(connections, self.count(&run, meter))?;
        counted.latencies_us = run.latencies_us.take();
        counted.latencies_us.sort_unstable();
        Ok((counted, metered))
    }

    async fn load_one(&self, run: &LoadState, number: usize) -> Result<()> {
        let address = self.addresses.get(number % self.addresses.len().max(1)).context("no server")?;
        let mut connection = Connection::open(*address).await?;
        let mut schedule = self.pace.map(|pace| Schedule::new(pace, number, self.connections));
        while !run.is_over.get() {
            let due = match &mut schedule {
                Some(schedule) => Some(schedule.next().await),
                None => None,
            };
            let number = run.asked.replace(run.asked.get() + 1);
            let Some(request) = (self.requests)(number) else {
                run.exhausted.notify_one();
                return Ok(());
            };
            let asked = due.unwrap_or_else(Instant::now);
            let answer = connection.ask(&request).await?;
            let is_good = answer.status == self.status && answer.body.len() >= self.body_bytes_min;
            ensure!(is_good, "{} instead of {}: {}", answer.status, self.status, String::from_utf8_lossy(answer.body));
            if run.is_counting.get() {
                run.latencies_us.borrow_mut().push(u64::try_from(asked.elapsed().as_micros()).unwrap_or(u64::MAX));
            }
        }
        Ok(())
    }

    async fn count<M>(&self, run: &LoadState, meter: Meter<'_, M>) -> Result<(LoadResult, [M; 2])> {
        sleep(self.warm_up).await;
        let (started, before) = (Instant::now(), meter()?);
        run.is_counting.set(true);
        select(pin!(sleep(self.duration)), pin!(run.exhausted.notified())).await;
        run.first_answer().await;
        run.is_counting.set(false);
        let (took, after) = (started.elapsed(), meter()?);
        run.is_over.set(true);
        let operations = u64::try_from(run.latencies_us.borrow().len())?;
        ensure!(operations > 0, "no answer within {took:?}");
        Ok((LoadResult { operations, took, ..LoadResult::default() }, [before, after]))
    }
}

/// When a connection sends, whatever the server does: the connections take turns.
struct Schedule {
    pace: Duration,
    next: Instant,
}

impl Schedule {
    fn new(pace: Duration, number: usize, connections: usize) -> Self {
        let part = number as f64 / connections.max(1) as f64;
        Self { pace, next: Instant::now() + pace.mul_f64(part) }
    }

    /// Waits for the next request's time and answers what its latency begins with. A request that is late, because the one
    /// before took longer than the pace, waited since its time.
    async fn next(&mut self) -> Instant {
        let due = self.next;
        self.next = due + self.pace;
        if due <= Instant::now() {
            return due;
        }
        sleep_until(due.into()).await;
        Instant::now()
    }
}

#[derive(Default)]
struct LoadState {
    asked: Cell<u64>,
    is_counting: Cell<bool>,
    is_over: Cell<bool>,
    exhausted: Notify,
    latencies_us: RefCell<Vec<u64>>,
}

impl LoadState {
    /// A slow server gets the time for one answer at least, and so do fewer requests than connections.
    async fn first_answer(&self) {
        let begun = Instant::now();
        while self.latencies_us.borrow().is_empty() && begun.elapsed() < FIRST_ANSWER_LIMIT {
            sleep(FIRST_ANSWER_POLL).await;
        }
    }
}

impl LoadResult {
    pub fn cpu_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.operations as f64
    }

    pub fn per_s(&self) -> f64 {
        self.operations as f64 / self.took.as_secs_f64()
    }

    /// The latency at a quantile, such as 0.99.
    pub fn within_us(&self, part: f64) -> f64 {
        let last = self.latencies_us.len().saturating_sub(1);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index within the list")]
        let index = (last as f64 * part).round() as usize;
        self.latencies_us.get(index).copied().unwrap_or_default() as f64
    }
}

/// Runs one future on a runtime of the calling thread.
pub fn block_on<T>(future: impl Future<Output = T>) -> Result<T> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("no runtime")?;
    Ok(runtime.block_on(future))
}

/// One request on a connection of its own; answers status, ETag and body.
pub fn ask(address: SocketAddr, request: &[u8]) -> Result<(u16, Option<String>, Vec<u8>)> {
    block_on(async {
        let mut connection = Connection::open(address).await?;
        let answer = connection.ask(request).await?;
        Ok((answer.status, answer.etag.map(ToOwned::to_owned), answer.body.to_vec()))
    })?
}

pub fn get(address: SocketAddr, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: {address}\r\naccept: application/json\r\n\r\n").into_bytes()
}

/// The same, and gzip is accepted.
pub fn get_gzip(address: SocketAddr, path: &str) -> Vec<u8> {
    let accept = "accept: application/json\r\naccept-encoding: gzip";
    format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{accept}\r\n\r\n").into_bytes()
}

/// JSON by POST.
pub fn post(address: SocketAddr, path: &str, body: &[u8]) -> Vec<u8> {
    send(address, &format!("POST {path}"), "application/json", body)
}

/// A body by this method, to this path.
pub fn send(address: SocketAddr, what: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "{what} HTTP/1.1\r\nhost: {address}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_goes_on_while_a_server_is_late() -> Result<()> {
        const PACE: Duration = Duration::from_millis(40);
        block_on(async {
            let begun = Instant::now();
            let mut schedule = Schedule::new(PACE, 1, 2);
            let first = schedule.next().await;
            assert!(first.duration_since(begun) >= PACE / 2);
            // As long as a server that answers late.
            sleep(PACE * 3).await;
            let (second, third) = (schedule.next().await, schedule.next().await);
            assert!(second <= first + PACE && third <= first + PACE * 2, "latency begins with the time of the request");
        })
    }
}
