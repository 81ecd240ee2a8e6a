//! The stored rows, read directly from the database.

use super::load::THREAD;
use gateway_tests::process::{LIMIT, Setup};
use plugin_testing::{TestGateway, Value};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _, SqliteConnection};
use std::collections::{BTreeMap, BTreeSet};

/// How the opening post of a thread begins: it belongs to the thread's write.
pub const OPENING: &str = "opening ";

const POSTS: &str = "SELECT CAST(id AS TEXT), author, body FROM forum_posts ORDER BY forum_posts.id";
const THREADS: &str = "SELECT CAST(id AS TEXT), author, title FROM forum_threads ORDER BY forum_threads.id";
const EVENTS: &str = "SELECT CAST(id AS TEXT), type, actor, data FROM host_activity ORDER BY host_activity.id";
/// With those that have no position yet.
const EVENTS_ON_POSTGRES: &str = "SELECT coalesce(CAST(id AS TEXT), ''), type, actor, data FROM (
    SELECT id, type, actor, data FROM host_activity UNION ALL SELECT NULL, type, actor, data FROM host_activity_outbox
    ) logged ORDER BY logged.id";
const GUARDS: &str = "SELECT address, CAST(count(*) AS TEXT) FROM host_replay_guard GROUP BY address";
const SLOTS: &str = "SELECT address FROM host_write_slots";
const WRONG_COUNTS: &str = "SELECT CAST(id AS TEXT) FROM forum_threads t
    WHERE post_count <> (SELECT count(*) FROM forum_posts p WHERE p.thread_id = t.id)";

pub struct StoredRows {
    /// Author by text, of threads and replies.
    pub authors: BTreeMap<String, String>,
    /// Ids of the activity log.
    pub event_ids: Vec<i64>,
    openings: BTreeMap<String, String>,
    events: BTreeMap<String, String>,
    guards: BTreeMap<String, usize>,
    slots: BTreeSet<String>,
    wrong_counts: Vec<Vec<String>>,
}

impl StoredRows {
    /// Reads everything, and fails when something is there twice.
    pub async fn read(setup: &Setup) -> Self {
        let (mut authors, mut openings, mut events) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let put = |map: &mut BTreeMap<String, String>, text: &str, author: &str| {
            assert_eq!(map.insert(text.to_owned(), author.to_owned()), None, "{text} is there twice");
        };
        for row in query(setup, THREADS).await {
            put(&mut authors, &row[2], &row[1]);
        }
        for row in query(setup, POSTS).await {
            match row[2].strip_prefix(OPENING) {
                Some(title) => put(&mut openings, title, &row[1]),
                None => put(&mut authors, &row[2], &row[1]),
            }
        }
        let logged = query(setup, if is_postgres(setup) { EVENTS_ON_POSTGRES } else { EVENTS }).await;
        for row in &logged {
            let data: Value = serde_json::from_str(&row[3]).unwrap();
            let name = if row[1] == "thread.create" { "title" } else { "excerpt" };
            put(&mut events, data[name].as_str().unwrap(), &row[2]);
        }
        let guards = query(setup, GUARDS).await.into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap()));
        Self {
            authors,
            event_ids: logged.iter().filter(|row| !row[0].is_empty()).map(|row| row[0].parse().unwrap()).collect(),
            openings,
            events,
            guards: guards.collect(),
            slots: query(setup, SLOTS).await.concat().into_iter().collect(),
            wrong_counts: query(setup, WRONG_COUNTS).await,
        }
    }

    /// As [`Self::read`], when every committed event has its position: a gateway must be running.
    pub async fn read_sequenced(setup: &Setup) -> Self {
        sequenced(setup).await;
        Self::read(setup).await
    }

    /// Every write is whole: row, opening post, count, event, guard and slot.
    pub fn check(&self) {
        assert_eq!(self.events, self.authors, "each write has its event");
        let titles = self.authors.iter().filter(|(text, _)| text.starts_with(THREAD));
        let titles: BTreeMap<String, String> = titles.map(|(text, author)| (text.clone(), author.clone())).collect();
        assert_eq!(self.openings, titles, "each thread has its opening post");
        let mut by_author: BTreeMap<String, usize> = BTreeMap::new();
        for author in self.authors.values() {
            *by_author.entry(author.clone()).or_default() += 1;
        }
        assert_eq!(self.guards, by_author, "each write has used up its signature");
        assert_eq!(self.slots, by_author.into_keys().collect(), "each author has a slot");
        assert!(self.wrong_counts.is_empty(), "counts of posts: {:?}", self.wrong_counts);
    }
}

/// Waits until every committed event is in the activity log, while a gateway runs; at once on SQLite.
pub async fn sequenced(setup: &Setup) {
    if is_postgres(setup) {
        let is_empty =
            async || query(setup, "SELECT CAST(count(*) AS TEXT) FROM host_activity_outbox").await == [["0"]];
        TestGateway::eventually(LIMIT, "committed events become public", is_empty).await;
    }
}

fn is_postgres(setup: &Setup) -> bool {
    setup.get("database.url").is_some_and(|url| url.starts_with("postgres"))
}

/// Rows of texts.
pub async fn query(setup: &Setup, sql: &'static str) -> Vec<Vec<String>> {
    if let Some(url) = setup.get("database.url").filter(|_| is_postgres(setup)) {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let rows = sqlx::query(sql).fetch_all(&mut connection).await.unwrap();
        return rows.iter().map(|row| (0..row.len()).map(|index| row.get(index)).collect()).collect();
    }
    let mut connection = SqliteConnection::connect(&sqlite_url(setup)).await.unwrap();
    let rows = sqlx::query(sql).fetch_all(&mut connection).await.unwrap();
    rows.iter().map(|row| (0..row.len()).map(|index| row.get(index)).collect()).collect()
}

/// Ends what a gateway that was killed holds: its runs of jobs, and its nonce queues. They would run out by themselves, which takes as
/// long as a job may.
pub async fn expire_leases(setup: &Setup) {
    let jobs = "UPDATE host_job_runs SET lease_until_ms = 0 WHERE lease_holder IS NOT NULL";
    execute(setup, jobs.to_owned()).await;
    execute(setup, "UPDATE host_tx_lanes SET lease_until_ms = 0".to_owned()).await;
}

/// Changes rows without the gateway.
pub async fn execute(setup: &Setup, sql: String) {
    if let Some(url) = setup.get("database.url").filter(|_| is_postgres(setup)) {
        let mut connection = PgConnection::connect(url).await.unwrap();
        connection.execute(AssertSqlSafe(sql)).await.unwrap();
        return;
    }
    let mut connection = SqliteConnection::connect(&sqlite_url(setup)).await.unwrap();
    connection.execute(AssertSqlSafe(sql)).await.unwrap();
}

fn sqlite_url(setup: &Setup) -> String {
    let file = || format!("sqlite:{}", setup.folder().join("data/gateway.db").display());
    setup.get("database.url").map_or_else(file, str::to_owned)
}
