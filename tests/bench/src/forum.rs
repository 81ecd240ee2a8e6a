//! The forum that servers are measured with: real threads, written through a gateway, then copied for each server.

use crate::{
    bench::{self, Bench, Synchronous},
    load,
    server::Server,
    signing,
};
use anyhow::{Context as _, Result, ensure};
use rusqlite::Connection;
use std::{net::SocketAddr, path::Path};

/// Writes the threads of this run's scale into a new database in `file`.
pub fn make(bench: &Bench, file: &Path) -> Result<()> {
    println!("  {} threads are written", bench.scale.threads);
    let gateway = bench.gateway(&[Synchronous::Normal.setting()])?;
    fill(bench, &gateway)?;
    let database = bench::keep(gateway, file)?;
    ensure!(count(&database)? == bench.scale.threads, "the forum has {} threads", count(&database)?);
    Ok(())
}

/// Writes the threads through a gateway, each by a wallet of its own.
pub fn fill(bench: &Bench, gateway: &Server) -> Result<()> {
    bench.write_signed(gateway, "thread.create", (bench.scale.threads, 201), signing::report, create_thread)
}

/// The request with this body.
pub fn create_thread(address: SocketAddr, _: u64, body: &[u8]) -> Vec<u8> {
    load::post(address, "/api/forum/threads", body)
}

/// Tables that grow with the forum, and their columns that number its rows.
const TABLES: [(&str, &[&str]); 4] = [
    ("forum_threads", &["id"]),
    ("forum_posts", &["id", "thread_id"]),
    ("forum_thread_tags", &["thread_id"]),
    ("host_activity", &["id"]),
];

/// Copies the rows of a forum until it is the large one.
pub fn enlarge(bench: &Bench, file: &Path) -> Result<()> {
    let database = Connection::open(file)?;
    database
        .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000; BEGIN")?;
    let (before, copies) = (bench.scale.threads, bench.scale.threads_many / bench.scale.threads);
    for (table, numbers) in TABLES {
        let columns = columns(&database, table)?;
        let renumbered = columns.iter().map(|column| {
            let is_number = numbers.contains(&column.as_str());
            if is_number { format!("t.{column} + {before} * copies.n") } else { format!("t.{column}") }
        });
        let renumbered = renumbered.collect::<Vec<_>>().join(", ");
        let copy = format!(
            "WITH RECURSIVE copies(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n + 1 < {copies}) \
             INSERT INTO {table} ({}) SELECT {renumbered} FROM copies CROSS JOIN {table} t",
            columns.join(", ")
        );
        database.execute(&copy, []).with_context(|| format!("copying the rows of {table}"))?;
    }
    database.execute_batch("COMMIT")?;
    merge_search_index(&database)?;
    database.execute_batch("PRAGMA journal_mode = WAL")?;
    ensure!(count(&database)? == before * copies, "the large forum has {} threads", count(&database)?);
    Ok(())
}

/// Until SQLite finds nothing more to merge: the copy leaves that to the writes after it.
fn merge_search_index(database: &Connection) -> Result<()> {
    let changes = || database.query_row("SELECT total_changes()", [], |row| row.get::<_, i64>(0));
    loop {
        let before = changes()?;
        database.execute("INSERT INTO forum_threads_search (forum_threads_search, rank) VALUES ('merge', 1000)", [])?;
        // The statement itself counts as one.
        if changes()? - before < 2 {
            return Ok(());
        }
    }
}

fn columns(database: &Connection, table: &str) -> Result<Vec<String>> {
    let mut statement = database.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

pub fn count(forum: &Connection) -> Result<u64> {
    let count: i64 = forum.query_row("SELECT count(*) FROM forum_threads", [], |row| row.get(0))?;
    Ok(u64::try_from(count)?)
}
