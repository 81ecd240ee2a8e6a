//! pgbench, PostgreSQL's own load, with the statements of one write: what the server does when no gateway is in the way.

use super::{database::Database, statements};
use crate::{
    bench::Bench,
    load::LoadResult,
    pin::{self, PinnedRole},
};
use anyhow::{Context as _, Result, bail, ensure};
use gateway_clock::Clock;
use gateway_tests::postgres;
use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// For people, who adjust it to what a gateway sends.
pub const SCRIPT: &str = include_str!("thread.sql");
const BEGIN: &str = "\nBEGIN";
const COMMIT: &str = "\nCOMMIT;\n";
/// As often as a transaction is run before its write has failed.
const TRIES_MAX: &str = "20";
const COUNTED_MIN: Duration = Duration::from_secs(1);
const CONNECT_LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// How a script's statements travel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    RoundTrips,
    Pipeline,
}

pub struct Pgbench<'a> {
    pub bench: &'a Bench,
    pub database: Database<'a>,
    pub proxy: SocketAddr,
    pub form: Form,
}

pub fn program() -> Option<PathBuf> {
    postgres::programs().ok().map(|folder| folder.join("pgbench")).filter(|program| program.is_file())
}

fn script(form: Form) -> Result<String> {
    if form == Form::RoundTrips {
        return Ok(SCRIPT.to_owned());
    }
    let (variables, rest) = SCRIPT.split_once(BEGIN).context("the script has a BEGIN")?;
    let (statements, _) = rest.split_once(COMMIT).context("the script has a COMMIT")?;
    Ok(format!("{variables}\n\\startpipeline{BEGIN}{statements}{COMMIT}\\endpipeline\n"))
}

/// The changes that the script makes.
pub fn changes() -> Result<Vec<String>> {
    Ok(statements::changes(&statements::of_script(SCRIPT)?))
}

impl Pgbench<'_> {
    /// Runs it once; what the meter showed when counting began and ended is returned too.
    pub fn measure<M>(&self, meter: impl Fn() -> Result<M>) -> Result<(LoadResult, [M; 2])> {
        let folder = tempfile::tempdir_in(self.bench.folder())?;
        let file = folder.path().join("thread.sql");
        fs::write(&file, script(self.form)?)?;
        let mut program =
            pin::on(PinnedRole::Load, || self.command(folder.path(), &file)?.spawn().context("pgbench"))??;
        let counted = self.count(&mut program, &meter);
        if counted.is_err() {
            // It may have ended by itself.
            let _ = program.kill();
        }
        let output = program.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let (between_ms, metered) = counted.with_context(|| format!("pgbench: {said}"))?;
        ensure!(output.status.success(), "pgbench ended with {}: {said}", output.status);
        let mut latencies_us = written_between(folder.path(), between_ms)?;
        latencies_us.sort_unstable();
        let operations = u64::try_from(latencies_us.len())?;
        ensure!(operations > 0, "no transaction of pgbench in {:?}: {said}", self.duration());
        let took = Duration::from_millis((between_ms[1] - between_ms[0]).unsigned_abs());
        Ok((LoadResult { operations, took, latencies_us, ..LoadResult::default() }, metered))
    }

    /// A smoke test is shorter than the first transactions of a busy machine.
    fn duration(&self) -> Duration {
        self.bench.scale.duration.max(COUNTED_MIN)
    }

    fn command(&self, folder: &Path, script: &Path) -> Result<Command> {
        let scale = &self.bench.scale;
        // Its clients connect within this time, too.
        let seconds = (scale.warm_up + self.duration()).as_secs() + 3;
        let mut command = Command::new(program().context("pgbench is not installed")?);
        command
            .args(["--no-vacuum", "--protocol=prepared", "--jobs=1", "--log", "--max-tries", TRIES_MAX])
            .args(["--username", "postgres", "--host", &self.proxy.ip().to_string()])
            .args(["--port", &self.proxy.port().to_string()])
            .args(["--client", &scale.writers.to_string(), "--time", &seconds.to_string()])
            .arg("--file")
            .arg(script)
            .arg(format!("--log-prefix={}", folder.join("log").display()))
            .arg(self.database.name)
            .env("PGSSLMODE", "disable")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        Ok(command)
    }

    /// Reads the meter at both ends of the counted time; answers these, in Unix milliseconds, and the readings.
    fn count<M>(&self, program: &mut Child, meter: impl Fn() -> Result<M>) -> Result<([i64; 2], [M; 2])> {
        let scale = &self.bench.scale;
        let begun = Instant::now();
        while self.database.pgbench_clients()? < u64::try_from(scale.writers)? {
            if program.try_wait()?.is_some() || begun.elapsed() > CONNECT_LIMIT {
                bail!("pgbench does not connect all its clients");
            }
            sleep(POLL);
        }
        sleep(scale.warm_up);
        let (from_ms, before) = (Clock::System.now_ms(), meter()?);
        sleep(self.duration());
        let (to_ms, after) = (Clock::System.now_ms(), meter()?);
        Ok(([from_ms, to_ms], [before, after]))
    }
}

/// How long each transaction took that ended between these times.
fn written_between(folder: &Path, between_ms: [i64; 2]) -> Result<Vec<u64>> {
    let mut latencies_us = Vec::new();
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("log.")) {
            let log = fs::read_to_string(&path)?;
            latencies_us.extend(log.lines().filter_map(transaction).filter_map(|(ended_ms, latency_us)| {
                (between_ms[0] <= ended_ms && ended_ms < between_ms[1]).then_some(latency_us)
            }));
        }
    }
    Ok(latencies_us)
}

/// When a transaction ended and how long it took; nothing of one that failed.
fn transaction(line: &str) -> Option<(i64, u64)> {
    let columns: Vec<&str> = line.split(' ').collect();
    let [_client, _number, latency_us, _script, second, microsecond, ..] = columns[..] else { return None };
    let ended_ms = second.parse::<i64>().ok()? * 1000 + microsecond.parse::<i64>().ok()? / 1000;
    Some((ended_ms, latency_us.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_runs_as_round_trips_and_as_one() -> Result<()> {
        assert!(!script(Form::RoundTrips)?.contains("\n\\startpipeline"));
        let pipeline = script(Form::Pipeline)?;
        assert!(pipeline.ends_with("COMMIT;\n\\endpipeline\n"));
        // Variables are set before it begins.
        let at = |text: &str| pipeline.find(text);
        assert!(at("\n\\set digest") < at("\n\\startpipeline\nBEGIN"), "{pipeline}");
        assert_eq!(changes()?.first().map(String::as_str), Some("insert host_replay_guard"));
        Ok(())
    }

    #[test]
    fn failed_transactions_are_not_counted() {
        assert_eq!(transaction("0 2 2841 0 1795664451 559438 0"), Some((1_795_664_451_559, 2841)));
        assert_eq!(transaction("0 2 failed 0 1795664451 559438 19"), None);
        assert_eq!(transaction(""), None);
    }
}
