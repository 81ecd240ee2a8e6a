//! How SQLite reads the tables that grow for their lists: a page walks the index of its order, a search asks the index of its texts.
//!
//! The rule: the statements are those that the requests run. The gateway logs them at the level trace.

use super::LIMIT;
use crate::e2e::{self, Site};
use gateway_tests::process::Setup;
use plugin_testing::{TestGateway, Value};
use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};

/// A request, a text that only the statement of its page has, and steps of its plan.
const LISTS: [(&str, &str, &[&str]); 10] = [
    ("/api/forum/threads", "FROM forum_threads t", &["SCAN t USING INDEX forum_threads_active"]),
    (
        "/api/forum/threads?q=digging",
        "CROSS JOIN forum_threads t",
        &["SCAN forum_threads_search VIRTUAL TABLE INDEX 0:M", "SCAN forum_posts_search VIRTUAL TABLE INDEX 0:M"],
    ),
    ("/api/kb", "FROM kb_pages ORDER BY", &["SCAN kb_pages USING INDEX kb_pages_updated"]),
    ("/api/kb?q=digging", "bm25(kb_search", &["SCAN kb_search VIRTUAL TABLE INDEX 0:M"]),
    ("/api/agents", "FROM agents_agents a", &["SCAN a USING INDEX sqlite_autoindex_agents_agents_1"]),
    ("/api/agents?q=digging", "CROSS JOIN agents_agents a", &["SCAN agents_agents_search VIRTUAL TABLE INDEX 0:M"]),
    ("/api/bounties", "FROM bounties_bounties b ORDER BY", &["SCAN b USING INDEX bounties_bounties_new"]),
    (
        "/api/bounties?q=digging",
        "bounties_bounties_search MATCH",
        &["SCAN bounties_bounties_search VIRTUAL TABLE INDEX 0:M"],
    ),
    ("/api/artifacts", "FROM artifacts_artifacts a", &["SCAN a USING INDEX artifacts_artifacts_new"]),
    (
        "/api/artifacts?q=digging",
        "CROSS JOIN artifacts_artifacts a",
        &["SCAN artifacts_artifacts_search VIRTUAL TABLE INDEX 0:M"],
    ),
];

/// Steps that read a table from its first row to its last.
const WHOLE_TABLES: [&str; 9] = [
    "SCAN t",
    "SCAN a",
    "SCAN b",
    "SCAN forum_threads",
    "SCAN forum_posts",
    "SCAN kb_pages",
    "SCAN agents_agents",
    "SCAN bounties_bounties",
    "SCAN artifacts_artifacts",
];

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_searches_use_their_indexes() {
    let gateway = e2e::setup().set("log.level", "info,gateway_storage=trace").start().await.unwrap();
    let site = Site::of(&gateway);
    for (path, marker, steps) in LISTS {
        let before = gateway.setup().log().len();
        let answer = site.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let pages = || pages(gateway.setup(), before, marker);
        TestGateway::eventually(LIMIT, path, || async { !pages().is_empty() }).await;
        let mut plans = Vec::new();
        for page in pages() {
            plans.push(plan(gateway.setup(), &page).await);
        }
        let has = |plan: &[String], step: &str| plan.iter().any(|found| found.starts_with(step));
        let is_right = |plan: &Vec<String>| {
            steps.iter().all(|step| has(plan, step)) && !plan.iter().any(|found| WHOLE_TABLES.contains(&found.as_str()))
        };
        assert!(plans.iter().any(is_right), "{path}: no plan has only {steps:?}: {plans:#?}");
    }
}

/// The statements with the marker that read a page, of the log from that byte on.
fn pages(setup: &Setup, from: usize, marker: &str) -> Vec<String> {
    let log = setup.log();
    let lines = log.get(from..).unwrap_or_default().lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let statements = lines.filter_map(|line| Some(line["sql"].as_str()?.to_owned()));
    statements.filter(|sql| sql.contains(marker) && sql.contains(" LIMIT ")).collect()
}

async fn plan(setup: &Setup, sql: &str) -> Vec<String> {
    let file = setup.folder().join("data/gateway.db");
    let mut connection = SqliteConnection::connect(&format!("sqlite:{}", file.display())).await.unwrap();
    let explain = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}")));
    let rows = explain.fetch_all(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    rows.iter().map(|row| row.get("detail")).collect()
}
