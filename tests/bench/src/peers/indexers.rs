//! ponder and subsquid, from npm: processes that derive a row for each event and write it to PostgreSQL.

use crate::{rounds::Sample, server};
use anyhow::{Context as _, Result, ensure};
use gateway_tests::{devnet::Devnet, postgres::PrivatePostgres};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use sqlx::{Connection as _, PgConnection};
use std::{
    fs::File,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

const LIMIT: Duration = Duration::from_secs(900);
const POLL: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexer {
    /// Serves when the past is in.
    Ponder,
    /// Ends when the past is in.
    Subsquid,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/indexers")
}

pub fn are_installed() -> bool {
    folder().join("node_modules/ponder").is_dir()
}

/// A running process; dropping it ends it.
struct Running {
    child: Child,
    cpu: Duration,
    rss_kib: u64,
}

impl Running {
    /// Reads what it used so far; false once it has ended, of which the last reading counts.
    fn look(&mut self) -> Result<bool> {
        if let Some(status) = self.child.try_wait()? {
            ensure!(status.success(), "it ended with {status}");
            return Ok(false);
        }
        if let Ok((cpu, rss_kib)) = server::usage(self.child.id()) {
            (self.cpu, self.rss_kib) = (cpu, rss_kib);
        }
        Ok(true)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        let _ = self.child.wait();
    }
}

impl Indexer {
    /// From its start until the rows of all events are in.
    #[allow(clippy::cast_precision_loss, reason = "counts are small")]
    pub fn measure(
        self,
        runtime: &Runtime,
        devnet: &Devnet,
        database: &PrivatePostgres,
        last_block: u64,
        events: usize,
    ) -> Result<Sample> {
        let url = runtime.block_on(database.create_database())?;
        let scratch = tempfile::tempdir()?;
        let log = scratch.path().join("log");
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut command = self.command(port);
        command
            .current_dir(folder())
            .env("INDEXER_RPC", &devnet.facts.anvil_url)
            .env("INDEXER_CHAIN_ID", devnet.facts.chain_id.to_string())
            .env("INDEXER_REGISTRY", devnet.facts.contracts["registry"].to_string())
            .env("INDEXER_ESCROW", devnet.facts.contracts["escrow"].to_string())
            .env("INDEXER_LAST_BLOCK", last_block.to_string())
            .env("INDEXER_DATABASE", &url)
            .stdin(Stdio::null())
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?);
        let begun = Instant::now();
        let child = command.spawn().context("node cannot be started")?;
        let mut running = Running { child, cpu: Duration::ZERO, rss_kib: 0 };
        while running.look().with_context(|| std::fs::read_to_string(&log).unwrap_or_default())? {
            if self == Self::Ponder && server::is_ready((Ipv4Addr::LOCALHOST, port).into(), "/ready") {
                break;
            }
            ensure!(begun.elapsed() < LIMIT, "not all is in after {LIMIT:?}");
            thread::sleep(POLL);
        }
        let took = begun.elapsed();
        let rows = runtime.block_on(self.rows(&url))?;
        ensure!(usize::try_from(rows)? == events, "it has {rows} rows of {events}");
        let (cpu, count) = (running.cpu, events as f64);
        Ok(Sample {
            cpu_us: cpu.as_secs_f64() * 1e6 / count,
            per_s: count / took.as_secs_f64(),
            p50_us: f64::NAN,
            p99_us: f64::NAN,
            rss_kib: running.rss_kib,
        })
    }

    fn command(self, port: u16) -> Command {
        let mut node = Command::new("node");
        match self {
            Self::Subsquid => node.arg("subsquid.mjs"),
            Self::Ponder => {
                node.args(["node_modules/ponder/dist/esm/bin/ponder.js", "start", "--schema", "peer", "--port"]);
                node.arg(port.to_string()).env("PONDER_TELEMETRY_DISABLED", "1")
            }
        };
        node
    }

    async fn rows(self, url: &str) -> Result<i64> {
        let table = match self {
            Self::Ponder => "SELECT count(*) FROM peer.steps",
            Self::Subsquid => "SELECT count(*) FROM steps",
        };
        Ok(sqlx::query_scalar(table).fetch_one(&mut PgConnection::connect(url).await?).await?)
    }
}
