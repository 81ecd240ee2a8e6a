//! What the transparency log costs for each event: leaves, tiles and signed checkpoints of an activity log that has none.

use crate::{
    bench::{Bench, FORUM, Synchronous},
    load,
    server::{Server, Site},
};
use anyhow::{Context as _, Result, ensure};
use rusqlite::Connection;
use std::{
    thread,
    time::{Duration, Instant},
};

const CHECKPOINT: &str = "/api/log/checkpoint";
const GOAL_US: f64 = 5.0;
const LIMIT: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(20);
/// What an idle gateway costs is taken off.
const IDLE: Duration = Duration::from_secs(5);
const TABLES: [&str; 4] =
    ["transparency_leaves", "transparency_tiles", "transparency_checkpoints", "transparency_origins"];

pub fn run(bench: &Bench) -> Result<Vec<String>> {
    let mut us = Vec::new();
    let mut events = 0;
    for _ in 0..bench.scale.rounds {
        let (of_event, count) = round(bench)?;
        println!("  {of_event:.2} µs CPU for each of {count} events");
        us.push(of_event);
        events = count;
    }
    us.sort_by(f64::total_cmp);
    let median = us.get(us.len() / 2).copied().unwrap_or(f64::NAN);
    let reached = if median <= GOAL_US { "reached" } else { "**missed**" };
    Ok(vec![format!(
        "## Appending {events} events to the transparency log\n\nThe log begins with an activity log of {events} events: each is read, \
         encoded and hashed as a leaf, tiles and signed checkpoints are committed 2,000 events at a time, `synchronous=FULL`. CPU time of \
         the process until the last checkpoint, without that of an idle gateway; the median of {} rounds. Goal: {GOAL_US} µs, {reached}.\n\n\
         | µs of CPU for one event |\n|---:|\n| {median:.2} |\n",
        us.len()
    )])
}

/// µs of CPU for one event, and the number of events.
fn round(bench: &Bench) -> Result<(f64, u64)> {
    let site = Site::new()?;
    let database = Connection::open(bench.copy_of_forum(site.folder.path())?)?;
    for table in TABLES {
        database.execute(&format!("DELETE FROM {table}"), [])?;
    }
    // What the plugin aicv makes of the same events is not measured.
    database.execute("UPDATE aicv_event_cursor SET event_id = (SELECT coalesce(max(id), 0) FROM host_activity)", [])?;
    let events: i64 = database.query_row("SELECT count(*) FROM host_activity", [], |row| row.get(0))?;
    let events = u64::try_from(events)?;
    drop(database);
    ensure!(site.folder.path().join(FORUM).is_file(), "the forum was just copied");
    let gateway = bench.gateway_in(site, &[Synchronous::Full.setting()])?;
    let (begun, cpu) = (Instant::now(), gateway.cpu_time()?);
    while size(&gateway)? < events {
        ensure!(begun.elapsed() < LIMIT, "the log has {} of {events} events: {}", size(&gateway)?, gateway.log());
        thread::sleep(POLL);
    }
    let (took, used) = (begun.elapsed(), gateway.cpu_time()?.saturating_sub(cpu));
    let cpu = gateway.cpu_time()?;
    let idle_since = Instant::now();
    while idle_since.elapsed() < IDLE {
        size(&gateway)?;
        thread::sleep(POLL);
    }
    let idle = gateway.cpu_time()?.saturating_sub(cpu).as_secs_f64() / idle_since.elapsed().as_secs_f64();
    let appended_s = used.as_secs_f64() - idle * took.as_secs_f64();
    #[allow(clippy::cast_precision_loss, reason = "a count of events")]
    Ok((appended_s.max(0.0) * 1e6 / events as f64, events))
}

/// Leaves of the newest checkpoint.
fn size(gateway: &Server) -> Result<u64> {
    let (status, _, body) = load::ask(gateway.address(), &load::get(gateway.address(), CHECKPOINT))?;
    if status != 200 {
        return Ok(0);
    }
    let note = String::from_utf8(body)?;
    note.lines().nth(1).and_then(|line| line.parse().ok()).context("a checkpoint has a size in its second line")
}
