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

/// A table that grows with the forum.
struct Table {
    name: &'static str,
    /// Its columns that number rows.
    numbers: &'static [&'static str],
    /// Its rows are copied one by one, as writes come. A search index that grows by a million texts at once leaves its large
    /// segments where the next small ones are merged with them, and every write after it pays for that.
    has_search_index: bool,
}

const TABLES: [Table; 4] = [
    Table { name: "forum_threads", numbers: &["id"], has_search_index: true },
    Table { name: "forum_posts", numbers: &["id", "thread_id"], has_search_index: true },
    Table { name: "forum_thread_tags", numbers: &["thread_id"], has_search_index: false },
    Table { name: "host_activity", numbers: &["id"], has_search_index: false },
];

/// Copies the rows of a forum until it is the large one.
pub fn enlarge(bench: &Bench, file: &Path) -> Result<()> {
    let database = Connection::open(file)?;
    database
        .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000; BEGIN")?;
    let (before, copies) = (bench.scale.threads, bench.scale.threads_many / bench.scale.threads);
    for table in TABLES {
        copy_rows(&database, &table, before, copies).with_context(|| format!("copying the rows of {}", table.name))?;
    }
    database.execute_batch("COMMIT; PRAGMA journal_mode = WAL")?;
    ensure!(count(&database)? == before * copies, "the large forum has {} threads", count(&database)?);
    Ok(())
}

/// `copies` counts the rows that are there.
fn copy_rows(database: &Connection, table: &Table, before: u64, copies: u64) -> Result<()> {
    let Table { name, numbers, has_search_index } = table;
    let columns = columns(database, name)?;
    let renumbered = columns.iter().map(|column| {
        let is_number = numbers.contains(&column.as_str());
        if is_number { format!("t.{column} + {before} * copies.n") } else { format!("t.{column}") }
    });
    let (columns, renumbered) = (columns.join(", "), renumbered.collect::<Vec<_>>().join(", "));
    if !has_search_index {
        let copy = format!(
            "WITH RECURSIVE copies(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n + 1 < {copies}) \
             INSERT INTO {name} ({columns}) SELECT {renumbered} FROM copies CROSS JOIN {name} t"
        );
        database.execute(&copy, [])?;
        return Ok(());
    }
    let mut ids = database.prepare(&format!("SELECT id FROM {name} ORDER BY id"))?;
    let ids: Vec<i64> = ids.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut copy = database.prepare(&format!(
        "INSERT INTO {name} ({columns}) SELECT {renumbered} FROM {name} t CROSS JOIN (SELECT ?1 AS n) copies WHERE t.id = ?2"
    ))?;
    for number in 1..copies {
        for id in &ids {
            // The search index writes a segment at each savepoint, as at each transaction.
            database.execute_batch("SAVEPOINT one")?;
            copy.execute((number.cast_signed(), id))?;
            database.execute_batch("RELEASE one")?;
        }
    }
    Ok(())
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
