//! What a run is asked for.

use clap::Parser;
use std::{path::PathBuf, time::Duration};

/// Measures the gateway beside its peers; without JOB all jobs, whose result becomes BENCHMARKS.md
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench")]
pub struct Options {
    /// Only these jobs; the result is printed
    #[arg(value_name = "JOB")]
    pub jobs: Vec<String>,

    /// Replace the sections of the jobs in BENCHMARKS.md; all jobs do so anyway
    #[arg(long)]
    pub write: bool,

    /// Rounds; in each, every server is measured once
    #[arg(long, default_value_t = 5)]
    pub rounds: usize,

    /// Seconds for one server in one round
    #[arg(long, default_value_t = 3.0)]
    pub seconds: f64,

    /// Connections that write [default: 64]
    #[arg(long, value_name = "N")]
    pub writers: Option<usize>,

    /// Most rows of each kind in `growth` [default: 1000000]
    #[arg(long, value_name = "N")]
    pub rows: Option<u64>,

    /// The gateway alone
    #[arg(long)]
    pub no_peers: bool,

    /// Every job once, for a moment and with little data: whether they work, not how fast anything is
    #[arg(long)]
    pub smoke: bool,

    /// The gateway to measure [default: the one linked into this program]
    #[arg(long, value_name = "FILE")]
    pub gateway: Option<PathBuf>,

    /// Another gateway, measured in the same rounds: what a change has made faster or slower
    #[arg(long, value_name = "FILE")]
    pub beside: Option<PathBuf>,

    /// Runs one of the servers instead (BENCH_LISTEN says where)
    #[arg(long, value_name = "NAME", hide = true)]
    pub serve: Option<String>,
}

/// How much of everything.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub rounds: usize,
    pub warm_up: Duration,
    pub duration: Duration,
    /// Connections that read, and that write.
    pub readers: usize,
    pub writers: usize,
    /// Threads in the forum, and in the large one.
    pub threads: u64,
    pub threads_many: u64,
    /// Plugins more than the gateway's own.
    pub plugin_copies: usize,
    /// Readers of a stream, few and many, and events sent to them in one round.
    pub streams: [usize; 2],
    pub events: usize,
    /// Agents and jobs of the economy on the chain, and how often each agent changes its price.
    pub economy: [u64; 3],
    /// Blocks that are followed in one round.
    pub blocks: usize,
    /// Payloads to read, small and large ones.
    pub payloads: [u64; 2],
    /// Pages of the knowledge base.
    pub pages: u64,
    /// Submissions to a challenge, and votes for them.
    pub submissions: u64,
    pub votes: u64,
    /// Endpoints of webhooks, and deliveries to each.
    pub deliveries: [u64; 2],
    /// Owners of webhooks, and webhooks of each.
    pub listeners: [u64; 2],
    /// Records of private memory in one batch.
    pub records: u64,
    /// Calls of agents after which the gateway's memory is read, and read again.
    pub proxied_calls: [u64; 2],
    /// Most rows of each kind, and requests for each read.
    pub growth: u64,
    pub growth_requests: usize,
}

impl Options {
    pub fn scale(&self) -> Scale {
        if self.smoke {
            return Scale {
                rounds: 1,
                warm_up: Duration::from_millis(50),
                duration: Duration::from_millis(200),
                readers: 4,
                writers: 8,
                threads: 200,
                threads_many: 2_000,
                plugin_copies: 0,
                streams: [5, 20],
                events: 32,
                economy: [10, 40, 2],
                blocks: 3,
                payloads: [16, 4],
                pages: 150,
                submissions: 10,
                votes: 100,
                deliveries: [4, 5],
                listeners: [2, 25],
                records: 16,
                proxied_calls: [100, 1000],
                growth: self.rows.unwrap_or(100),
                growth_requests: 3,
            };
        }
        Scale {
            rounds: self.rounds.max(1),
            warm_up: Duration::from_millis(500),
            duration: Duration::from_secs_f64(self.seconds.clamp(0.1, 600.0)),
            readers: 32,
            writers: self.writers.unwrap_or(64).max(1),
            threads: 10_000,
            threads_many: 1_000_000,
            plugin_copies: 18,
            streams: [500, 3_000],
            events: 64,
            economy: [1_000, 8_000, 72],
            blocks: 50,
            payloads: [1_000, 100],
            pages: 10_000,
            submissions: 200,
            votes: 10_000,
            deliveries: [64, 300],
            listeners: [10, 1_000],
            records: 4096,
            proxied_calls: [10_000, 100_000],
            growth: self.rows.unwrap_or(1_000_000),
            growth_requests: 15,
        }
    }
}
