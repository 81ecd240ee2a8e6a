//! The effect of abuse on other clients: `cargo xtask abuse` prints, for each abuse, the p99 of well-behaved clients
//! without it and with it, and keeps the table in BENCHMARKS.md.
//!
//! This is a measurement and not a test, because the result depends on the machine. In production abusive clients use
//! processors of other machines. Here the gateway has one processor and the clients another, on which abusers run only
//! while well-behaved clients are idle.

use super::{
    abuse::{ABUSES, Abuse, BEHAVED},
    neighbours::Neighbours,
};
use crate::e2e::setup;
use gateway_tests::process::GatewayProcess;
use std::{fmt::Write as _, net::SocketAddr, path::PathBuf, process::Command, thread, time::Duration};
use tokio::sync::oneshot;

const NEIGHBOURS: usize = 4;
const REST: Duration = Duration::from_millis(5);
const SECONDS: u64 = 5;
const ROUNDS: usize = 3;

/// The 99th percentile of the neighbours' latency within the time.
async fn p99(gateway: &GatewayProcess, time: Duration) -> Duration {
    let neighbours = Neighbours::start(gateway, BEHAVED, NEIGHBOURS, REST);
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
                let lanes = abuse.begin(gateway, |_: &[u8]| {});
                // An error says that the sender is gone, which is what ends this.
                let _ = stopped.await;
                drop(lanes);
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
        said(Command::new("taskset").args(["-acp", &processor.to_string(), &own]));
    }
}

fn has_two_processors() -> bool {
    std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.matches("processor\t").count() > 1)
}

/// p99 without and with the abuse, of each round.
async fn measure(abuse: &'static Abuse, rounds: usize, time: Duration) -> Vec<(Duration, Duration)> {
    let mut measured = Vec::new();
    for _ in 0..rounds {
        // A new gateway for each, so that earlier abuse has no effect; with the default limits.
        run_on(0);
        let gateway = setup().unset("http.tarpit_ms").start().await.unwrap();
        run_on(1);
        p99(&gateway, Duration::from_secs(1)).await;
        let without = p99(&gateway, time).await;
        let abusers = Abusers::begin(abuse, gateway.address().parse().unwrap());
        measured.push((without, p99(&gateway, time).await));
        drop(abusers);
    }
    measured
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
    let time = Duration::from_secs(seconds);
    let mut measured = Vec::new();
    for abuse in &ABUSES {
        let rounds = measure(abuse, rounds, time).await;
        println!("{}: {rounds:?}", abuse.name);
        measured.push((abuse.name, rounds));
    }
    // The measurements without abuse are all alike, so their median is the latency without abuse.
    let alone = median(measured.iter().flat_map(|(_, rounds)| rounds.iter().map(|(without, _)| *without)));
    let mut table = format!("| none | {} µs | 1 |\n", alone.as_micros());
    for (name, rounds) in measured {
        let with = median(rounds.into_iter().map(|(_, with)| with));
        let _ =
            writeln!(table, "| {name} | {} µs | {:.2} |", with.as_micros(), with.as_secs_f64() / alone.as_secs_f64());
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
fn write_into(report: PathBuf, rounds: usize, seconds: u64, table: &str) {
    let section = format!(
        "{TITLE}\n\nMade by `cargo xtask abuse {seconds}`: the p99 of {NEIGHBOURS} clients, each with a request every {} ms or so, \
         without abuse (all rounds of the table together) and with one kind of it from another address; medians of {rounds} rounds of {seconds} s. The gateway has one \
         processor with the limits it has by default; clients have another, where abusers run only while those who behave have \
         nothing to do. Goal: at most 2.\n\n| abuse | p99 | ratio |\n|---|---:|---:|\n{table}\n*Gateway {} at {}, {}.*\n",
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
