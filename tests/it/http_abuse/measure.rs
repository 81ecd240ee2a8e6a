//! The effect of abuse on other clients: `cargo xtask abuse` prints, for each abuse, the p99 of well-behaved clients
//! without it and with it, and keeps the table in BENCHMARKS.md.
//!
//! This is a measurement and not a test, because the result depends on the machine. In production abusive clients use
//! processors of other machines. Here the gateway has one processor and the clients another, on which abusers run only
//! while well-behaved clients are idle.

use super::{
    abuse::{ABUSES, ABUSIVE, Abuse, BEHAVED},
    neighbours::Neighbours,
};
use crate::e2e::setup;
use gateway_tests::process::{GatewayProcess, Setup};
use std::{
    fmt::Write as _,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    process::Command,
    thread,
    time::Duration,
};
use tokio::sync::oneshot;

const NEIGHBOURS: usize = 4;
const REST: Duration = Duration::from_millis(5);
const SECONDS: f64 = 5.0;
const ROUNDS: usize = 3;
const TASKSET_TRIES: u32 = 10;

/// Threads that each search of an abuser finds.
const STORED_THREADS: u32 = 50_000;
const WARM_UP_MAX: Duration = Duration::from_secs(1);

/// The 99th percentile of the latency of clients at an address within the time.
async fn p99(gateway: &GatewayProcess, address: IpAddr, time: Duration) -> Duration {
    let neighbours = Neighbours::start(gateway, address, NEIGHBOURS, REST);
    // The duration of the measurement.
    tokio::time::sleep(time).await;
    let mut latencies = neighbours.stop().await;
    latencies.sort_unstable();
    latencies[latencies.len() * 99 / 100]
}

/// Abusers on threads of their own with the lowest priority; dropping this ends them.
struct Abusers {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Abusers {
    fn begin(abuse: &'static Abuse, gateway: SocketAddr) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let work = move || {
            give_way();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let connections = abuse.begin(gateway, |_: &[u8]| {});
                // An error says that the sender is gone, which is what ends this.
                let _ = stopped.await;
                drop(connections);
            });
        };
        Self { stop: Some(stop), thread: Some(thread::spawn(work)) }
    }
}

impl Drop for Abusers {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Gives the calling thread the lowest priority.
fn give_way() {
    let own = std::fs::read_link("/proc/thread-self").unwrap();
    let thread = own.file_name().unwrap().to_str().unwrap();
    let niceness: i32 = said(&mut Command::new("nice")).trim().parse().unwrap();
    said(Command::new("renice").args(["-n", &(niceness + 10).to_string(), "-p", thread]));
}

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Pins this process, and processes that it starts later, to a processor. Does nothing on a machine with one processor.
fn run_on(processor: usize) {
    if has_two_processors() {
        let own = std::process::id().to_string();
        let mut taskset = Command::new("taskset");
        taskset.args(["-acp", &processor.to_string(), &own]);
        // It fails when a thread ends while it goes through them.
        let is_pinned = (0..TASKSET_TRIES).any(|_| taskset.output().is_ok_and(|output| output.status.success()));
        assert!(is_pinned, "{taskset:?}");
    }
}

fn has_two_processors() -> bool {
    std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.matches("processor\t").count() > 1)
}

/// p99 of one round.
#[derive(Clone, Copy, Debug)]
struct LatencyP99s {
    alone: Duration,
    at_another_address: Duration,
    at_the_same_address: Duration,
}

/// A new gateway for each, so that earlier abuse has no effect.
async fn started(setup: Setup, abuse: &Abuse) -> GatewayProcess {
    run_on(0);
    let gateway = setup.unset("http.tarpit_ms").start().await.unwrap();
    run_on(1);
    abuse.prepare(&gateway, STORED_THREADS).await;
    gateway
}

async fn measure(abuse: &'static Abuse, time: Duration) -> LatencyP99s {
    let gateway = started(setup(), abuse).await;
    p99(&gateway, BEHAVED, time.min(WARM_UP_MAX)).await;
    let alone = p99(&gateway, BEHAVED, time).await;
    let abusers = Abusers::begin(abuse, gateway.address().parse().unwrap());
    let at_another_address = p99(&gateway, BEHAVED, time).await;
    drop(abusers);
    // Those who share an address share its limit of requests: without it, what else they feel can be seen.
    let gateway = started(setup().set("limits.allow", "127.0.0.0/8"), abuse).await;
    p99(&gateway, ABUSIVE, time.min(WARM_UP_MAX)).await;
    let abusers = Abusers::begin(abuse, gateway.address().parse().unwrap());
    let at_the_same_address = p99(&gateway, ABUSIVE, time).await;
    drop(abusers);
    LatencyP99s { alone, at_another_address, at_the_same_address }
}

fn median(durations: impl IntoIterator<Item = Duration>) -> Duration {
    let mut durations: Vec<Duration> = durations.into_iter().collect();
    durations.sort_unstable();
    durations[durations.len() / 2]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: cargo xtask abuse"]
async fn p99_of_those_who_behave() {
    let seconds = std::env::var("ABUSE_SECONDS").map_or(SECONDS, |text| text.parse().unwrap());
    let rounds = std::env::var("ABUSE_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap());
    let time = Duration::from_secs_f64(seconds);
    let mut measured = Vec::new();
    for abuse in &ABUSES {
        let mut of_abuse = Vec::new();
        for _ in 0..rounds {
            of_abuse.push(measure(abuse, time).await);
        }
        println!("{}: {of_abuse:?}", abuse.name);
        measured.push((abuse.name, of_abuse));
    }
    // The measurements without abuse are all alike, so their median is the latency without abuse.
    let alone = median(measured.iter().flat_map(|(_, rounds)| rounds.iter().map(|round| round.alone)));
    let ratio = |p99: Duration| p99.as_secs_f64() / alone.as_secs_f64();
    let mut table = format!("| none | {} µs | 1 | {} µs | 1 |\n", alone.as_micros(), alone.as_micros());
    for (name, rounds) in measured {
        let other = median(rounds.iter().map(|round| round.at_another_address));
        let same = median(rounds.iter().map(|round| round.at_the_same_address));
        let [in_other, in_same] = [other, same].map(|p99| p99.as_micros());
        let _ = writeln!(table, "| {name} | {in_other} µs | {:.2} | {in_same} µs | {:.2} |", ratio(other), ratio(same));
    }
    print!("{table}");
    if let Ok(report) = std::env::var("ABUSE_REPORT") {
        write_into(PathBuf::from(report), rounds, seconds, &table);
    }
}

const TITLE: &str = "## What others feel of abuse";

fn printed(program: &str, arguments: &[&str]) -> String {
    let output = std::process::Command::new(program).args(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Replaces the section of the last run, or appends it.
fn write_into(report: PathBuf, rounds: usize, seconds: f64, table: &str) {
    let section = format!(
        "{TITLE}\n\nMade by `cargo xtask abuse {seconds}`: the p99 of {NEIGHBOURS} clients, each with a request every {} ms or so, \
         without abuse (all rounds of the table together) and with one kind of it, from another address and from their \
         own; medians of {rounds} rounds of {seconds} s. The gateway has one processor and its default limits, but none \
         of requests where the address is shared: those share it, too. Searches find each of {STORED_THREADS} threads. \
         Clients have another processor, where abusers run only while those who behave have nothing to do. Goal: at most \
         2.\n\n| abuse | p99, other address | ratio | p99, same address | ratio |\n|---|---:|---:|---:|---:|\n{table}\n\
         *Gateway {} at {}, {}.*\n",
        REST.as_millis(),
        env!("CARGO_PKG_VERSION"),
        printed("git", &["rev-parse", "--short=10", "HEAD"]),
        printed("date", &["-u", "+%Y-%m-%d"]),
    );
    let before = std::fs::read_to_string(&report).unwrap();
    let (head, rest) = before.split_once(TITLE).unwrap_or((&before, ""));
    let tail = rest.find("\n## ").map_or("", |start| &rest[start..]);
    std::fs::write(report, format!("{}\n\n{section}{tail}", head.trim_end())).unwrap();
}
