//! `cargo xtask bench`: first figures. The load generator shares the machine with the gateway, so requests per second
//! are of this machine only; CPU time per request is the figure to compare between versions.

mod client;
mod report;
mod server;

use crate::{Failure, process, repository};
use client::Load;
use server::Server;
use std::time::Duration;

/// Reads that need no data: the way through host and plugin, with and without the database.
const PATHS: [&str; 3] = ["/api/health", "/api/hello/world", "/api/forum/threads"];
const CONNECTIONS: usize = 16;
const SECONDS: u64 = 5;
const WARM_UP: Duration = Duration::from_secs(1);

/// One row of the table.
pub struct Figure {
    pub path: &'static str,
    pub requests_per_s: f64,
    pub cpu_us_per_request: f64,
    pub median_us: u64,
    pub p99_us: u64,
}

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let seconds = match arguments {
        [] => SECONDS,
        [seconds] => seconds.parse().map_err(|error| format!("{seconds:?} is no number of seconds: {error}"))?,
        _ => return Err("usage: cargo xtask bench [SECONDS]".to_owned()),
    };
    let root = repository::root()?;
    process::run(process::cargo().current_dir(&root).args(["build", "--release"]))?;
    let server = Server::start(&root)?;
    let mut figures = Vec::new();
    for path in PATHS {
        println!("GET {path} for {seconds} s on {CONNECTIONS} connections");
        figures.push(measure(&server, path, Duration::from_secs(seconds.max(1)))?);
    }
    drop(server);
    let text = report::write(&root, &figures, CONNECTIONS, seconds.max(1))?;
    println!("\n{text}");
    Ok(())
}

fn measure(server: &Server, path: &'static str, duration: Duration) -> Result<Figure, Failure> {
    let load = Load { address: server.address(), path, connections: CONNECTIONS };
    load.run(WARM_UP)?;
    let cpu_before = server.cpu_time()?;
    let answers = load.run(duration)?;
    let cpu = server.cpu_time()?.saturating_sub(cpu_before);
    let count = answers.latencies_us.len();
    if count == 0 {
        return Err(format!("GET {path}: no answer within {} s", duration.as_secs()));
    }
    Ok(Figure {
        path,
        requests_per_s: count as f64 / answers.took.as_secs_f64(),
        cpu_us_per_request: cpu.as_secs_f64() * 1e6 / count as f64,
        median_us: answers.latencies_us[count / 2],
        p99_us: answers.latencies_us[count * 99 / 100],
    })
}
