//! The statements of random scripts: the forms that the gateway and its plugins use, on few rows, so that they meet.

use super::random::Random;
use plugin_api::{Sql, abi::Statement, sql};

#[derive(Clone, Debug)]
pub struct Scripted {
    pub statement: Statement,
    pub is_ordered: bool,
    /// Only the gateway's own statements may use it.
    pub is_host_only: bool,
}

/// The statement, whether its rows have an order, and whether only the gateway's own may use it.
type Generated = (Sql, bool, bool);
type Generator = fn(&mut Random) -> Generated;

const KINDS: [&str; 3] = ["a", "b", "Ä_%"];
const IDS: u64 = 3;

/// For transactions one after the other.
const ANY: [Generator; 24] = [
    insert,
    insert,
    upsert,
    upsert,
    |random| {
        let insert = "INSERT INTO forum_items (id, kind, n, note) VALUES ($1, $2, $3, $4) ON CONFLICT (note) DO NOTHING RETURNING id";
        (
            sql(insert).bind(id(random)).bind(kind(random)).bind(amount(random)).bind(*random.pick(&["x", "y"])),
            true,
            false,
        )
    },
    add,
    add,
    |random| {
        (sql("UPDATE forum_items SET n = n - $2 WHERE id >= $1").bind(id(random)).bind(amount(random)), true, false)
    },
    |random| {
        (
            sql("UPDATE forum_items SET kind = $2 WHERE n > $1 RETURNING id").bind(amount(random)).bind(kind(random)),
            false,
            false,
        )
    },
    |random| {
        (
            sql("UPDATE forum_items SET note = $2 WHERE id = $1").bind(id(random)).bind(*random.pick(&[
                None,
                Some("x"),
                Some("y"),
            ])),
            true,
            false,
        )
    },
    |random| (sql("DELETE FROM forum_items WHERE id = $1 RETURNING kind, n").bind(id(random)), true, false),
    |random| {
        let move_out = "WITH gone AS (DELETE FROM forum_items WHERE id = ANY (ARRAY(SELECT id FROM forum_items WHERE n < $1 \
             ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED)) RETURNING id, kind), \
             named AS (SELECT id, kind, row_number() OVER (ORDER BY id DESC) AS place FROM gone), \
             changed AS (INSERT INTO host_changes (owner) SELECT 'forum' FROM gone LIMIT 1) \
             INSERT INTO forum_log (item, text) SELECT id, kind || place FROM named ORDER BY id RETURNING id, item, text";
        (sql(move_out).bind(amount(random)), false, true)
    },
    log,
    |random| {
        (
            sql("INSERT INTO forum_log (item) SELECT id FROM forum_items WHERE n >= $1 ORDER BY id")
                .bind(amount(random)),
            true,
            false,
        )
    },
    |_| (sql("SELECT id, kind, n, note FROM forum_items ORDER BY n DESC, id"), true, false),
    |_| (sql("SELECT id, note FROM forum_items ORDER BY note, id"), true, false),
    |_| (sql("SELECT id, note FROM forum_items ORDER BY note DESC, id LIMIT 3"), true, false),
    |_| (sql("SELECT kind, row_count FROM forum_items_counts ORDER BY kind"), true, false),
    |_| {
        (
            sql(
                "SELECT count(*), CAST(coalesce(sum(n), 0) AS BIGINT), min(kind), max(note), count(*) FILTER (WHERE n > 5) FROM forum_items",
            ),
            true,
            false,
        )
    },
    |random| {
        (
            sql("SELECT 10 / n, -7 / (n + 2), (n + 3) % 2, CAST(n AS TEXT) || kind FROM forum_items WHERE id = $1")
                .bind(id(random)),
            true,
            false,
        )
    },
    |random| {
        (
            sql("SELECT id FROM forum_items WHERE kind LIKE $1 OR lower(kind) LIKE 'A%' ORDER BY id")
                .bind(*random.pick(&["%", "_", "Ä\\_%", "%\\%"])),
            true,
            false,
        )
    },
    |random| {
        (sql("SELECT greatest(n, $1, 4), least(n, $1) FROM forum_items ORDER BY id").bind(amount(random)), true, true)
    },
    |random| (sql("SELECT 1 FROM forum_items WHERE id = $1 FOR UPDATE").bind(id(random)), true, true),
    |random| {
        (
            sql("INSERT INTO forum_items (id, kind, n) SELECT n + 10, $1, 1 FROM forum_items WHERE kind IS NOT NULL")
                .bind(kind(random)),
            true,
            false,
        )
    },
];

/// For transactions at the same time: what a statement did to a row that another one wrote shows in its result.
const OVERLAPPING: [Generator; 8] = [
    upsert,
    add,
    add,
    log,
    |random| {
        (
            sql("INSERT INTO forum_items (id, kind, n) VALUES ($1, $2, 1) RETURNING id")
                .bind(id(random))
                .bind(kind(random)),
            true,
            false,
        )
    },
    |random| (sql("DELETE FROM forum_items WHERE id = $1 RETURNING kind, n").bind(id(random)), true, false),
    |random| (sql("SELECT id, kind, n FROM forum_items WHERE id = $1").bind(id(random)), true, false),
    |random| (sql("SELECT kind, n FROM forum_items WHERE id < $1 ORDER BY id").bind(id(random)), true, false),
];

fn insert(random: &mut Random) -> Generated {
    let insert = sql("INSERT INTO forum_items (id, kind, n) VALUES ($1, $2, $3)");
    (insert.bind(id(random)).bind(kind(random)).bind(amount(random)), true, false)
}

fn upsert(random: &mut Random) -> Generated {
    let upsert = "INSERT INTO forum_items (id, kind, n) VALUES ($1, $2, $3) \
         ON CONFLICT (id) DO UPDATE SET n = forum_items.n + excluded.n WHERE forum_items.n < 20 RETURNING id, kind, n";
    (sql(upsert).bind(id(random)).bind(kind(random)).bind(amount(random)), true, false)
}

fn add(random: &mut Random) -> Generated {
    let add = "UPDATE forum_items SET n = n + $2 WHERE id = $1 RETURNING id, kind, n";
    (sql(add).bind(id(random)).bind(amount(random)), true, false)
}

fn log(random: &mut Random) -> Generated {
    (sql("INSERT INTO forum_log (item, text) VALUES ($1, 'ä''x') RETURNING item, text").bind(id(random)), true, false)
}

fn id(random: &mut Random) -> i64 {
    random.number(IDS) + 1
}

fn kind(random: &mut Random) -> &'static str {
    random.pick::<&str>(&KINDS)
}

fn amount(random: &mut Random) -> i64 {
    random.number(8)
}

pub fn any(random: &mut Random) -> Scripted {
    scripted(*random.pick(&ANY), random)
}

pub fn overlapping(random: &mut Random) -> Scripted {
    scripted(*random.pick(&OVERLAPPING), random)
}

fn scripted(generate: Generator, random: &mut Random) -> Scripted {
    let (statement, is_ordered, is_host_only) = generate(random);
    Scripted { statement: statement.into(), is_ordered, is_host_only }
}
