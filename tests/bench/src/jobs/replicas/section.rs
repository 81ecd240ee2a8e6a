//! The section of BENCHMARKS.md: what was measured, the table, the goals, and the statements of one write.

use super::{
    database::Server,
    pgbench, statements,
    table::{self, Entry},
};
use crate::bench::Bench;
use anyhow::Result;
use std::{process::Command, thread};

const TITLE: &str = "Signed writes on PostgreSQL, one and three replicas";
/// On fewer processors the contestants would take each other's time, and writes per second would say little.
const CORES_MIN: usize = 8;

pub fn section(bench: &Bench, server: &Server, entries: &[Entry], statements: &[String]) -> Result<String> {
    let lines = [&table::verdicts(entries)[..], &[same_changes(statements)?]].concat();
    Ok(format!(
        "## {TITLE}\n\n{}\n\n{}\n{}\n\nThe statements of one write of a gateway, a message a line, as PostgreSQL logs them:\n\n\
         ```sql\n{};\n```\n",
        how(bench, server)?,
        table::table(entries),
        lines.join("\n"),
        statements.join(";\n"),
    ))
}

/// Whether the script of pgbench does what the gateway does.
fn same_changes(statements: &[String]) -> Result<String> {
    let (own, of_script) = (statements::changes(statements), pgbench::changes()?);
    let verdict = if own == of_script {
        "**met**".to_owned()
    } else {
        format!("**not met**: the gateway does {}; the script {}", own.join(", "), of_script.join(", "))
    };
    Ok(format!("- pgbench changes the same tables in the same order as a gateway: {verdict}."))
}

fn how(bench: &Bench, server: &Server) -> Result<String> {
    let connections = bench.scale.writers;
    let mut text = format!(
        "`POST /api/forum/threads` on {connections} connections, signed and by a wallet of its own each, on databases that began with the \
         same {} threads. PostgreSQL {} is on the same machine, with its own configuration but for 200 connections: a commit is on \
         the disk ({}) before it is acknowledged. *1 ms* is a proxy of the benchmark that takes 0.5 ms each way and limits nothing \
         else; it counts a round trip when something is sent after the answer to all before. With three gateways each serves a \
         third of the connections. pgbench runs the changes of one write (`tests/bench/src/jobs/replicas/thread.sql`) on as many \
         connections to PostgreSQL; one gateway has 16 and three have 5 each. CPU time has all processes of each side in it, with background \
         work, and is without the proxy's. *Aborted* is what PostgreSQL rolled back, of all attempts to write over the whole \
         run; a gateway and pgbench repeat these. Waits for locks are samples of `pg_stat_activity` every 50 ms that found a \
         backend waiting; `extend` is held while a table's file grows and not until a commit. Half load is half of the writes \
         per second before it, at equal distances. Gateways run on one processor, the load, the proxy and pgbench on another, \
         PostgreSQL on both.",
        bench.scale.threads,
        server.version()?,
        file_system(&server.folder()?),
    );
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if cores < CORES_MIN {
        text.push_str(&format!(
            " All share the {cores} processors of this machine, so three gateways cannot write more than one here: what they add \
             elsewhere follows from the CPU time, as `docs/scale.md` calculates."
        ));
    }
    Ok(text)
}

fn file_system(folder: &str) -> String {
    let output = Command::new("stat").args(["--file-system", "--format=%T", folder]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}
