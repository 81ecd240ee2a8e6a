//! How the databases read the tables that grow for their lists: a page walks the index of its order, a search asks the index of its texts.
//!
//! The rule: the statements are those that the requests run. The gateway logs them at the level trace.

use super::{LIMIT, chain, setup};
use crate::{
    e2e::{Site, setup_with_all_plugins_on},
    storage::Engine,
};
use gateway_tests::process::{GatewayProcess, Setup};
use plugin_testing::{TestGateway, Value};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _, SqliteConnection};

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
    // By id, which is the order of the table itself.
    ("/api/agents", "FROM agents_agents a", &["SCAN a"]),
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

/// The same for the pages of PostgreSQL. It reads its indexes backward, too.
const ORDERS_ON_POSTGRES: [(&str, &str, &str); 5] = [
    ("/api/forum/threads", "FROM forum_threads t", "using forum_threads_active on forum_threads t"),
    ("/api/kb", "FROM kb_pages ORDER BY", "using kb_pages_updated on kb_pages"),
    ("/api/agents", "FROM agents_agents a", "using agents_agents_pkey on agents_agents a"),
    ("/api/bounties", "FROM bounties_bounties b ORDER BY", "using bounties_bounties_new on bounties_bounties b"),
    ("/api/artifacts", "FROM artifacts_artifacts a", "using artifacts_artifacts_new on artifacts_artifacts a"),
];

/// Reads for an agent's record: a text that only the statement has, and the step of its plan. What an agent did grows without a bound.
const RECORD: [(&str, &str); 10] = [
    ("FROM agents_records WHERE", "SEARCH agents_records USING INTEGER PRIMARY KEY"),
    ("FROM agents_validators WHERE", "SEARCH agents_validators USING "),
    ("FROM agents_jobs WHERE", "SEARCH agents_jobs USING INDEX agents_jobs_ended (agent_id=?)"),
    ("FROM agents_feedback f", "SEARCH f USING INDEX agents_feedback_newest (agent_id=?)"),
    ("FROM agents_validations WHERE", "SEARCH agents_validations USING INDEX agents_validations_agent (agent_id=?)"),
    ("FROM x402_payees WHERE", "SEARCH x402_payees USING "),
    ("FROM x402_paid WHERE", "SEARCH x402_paid USING "),
    ("FROM x402_settled WHERE payee", "SEARCH x402_settled USING INDEX x402_settled_payee_time (payee=?)"),
    ("FROM x402_settled WHERE payer", "SEARCH x402_settled USING INDEX x402_settled_payer_time (payer=?)"),
    ("FROM x402_vouchers WHERE payee", "SEARCH x402_vouchers USING INDEX x402_vouchers_unsettled (payee=?)"),
];
/// Tables with a row for each thing that an agent did.
const GROWING: [&str; 4] = ["FROM agents_jobs", "FROM agents_feedback", "FROM agents_validations", "FROM x402_settled"];

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
    let gateway = start(Engine::Sqlite).await;
    for (path, marker, steps) in LISTS {
        let mut plans = Vec::new();
        for page in pages_of(&gateway, path, marker).await {
            plans.push(plan(gateway.setup(), &page).await);
        }
        let has = |plan: &[String], step: &str| plan.iter().any(|found| found.starts_with(step));
        let is_costly = |found: &String| {
            let is_whole = WHOLE_TABLES.contains(&found.as_str()) && !steps.contains(&found.as_str());
            // A search may sort what it found.
            let sorts = found.starts_with("USE TEMP B-TREE") && !path.contains('?');
            is_whole || sorts
        };
        let is_right = |plan: &Vec<String>| steps.iter().all(|step| has(plan, step)) && !plan.iter().any(is_costly);
        assert!(plans.iter().any(is_right), "{path}: no plan has only {steps:?}: {plans:#?}");
    }
}

/// Searches: see `storage::search`.
#[tokio::test(flavor = "multi_thread")]
async fn pages_use_the_indexes_of_postgres() {
    let gateway = start(Engine::Postgres).await;
    for (path, marker, step) in ORDERS_ON_POSTGRES {
        let mut plans = Vec::new();
        for page in pages_of(&gateway, path, marker).await {
            plans.push(plan_on_postgres(gateway.setup(), &page).await);
        }
        assert!(plans.iter().any(|plan| plan.contains(step)), "{path}: no plan has {step}: {plans:#?}");
    }
}

/// A record of an agent that did very much costs what one of an agent that did little costs: no statement reads all rows.
#[tokio::test(flavor = "multi_thread")]
async fn a_record_reads_the_beginnings_of_indexes() {
    let chain = chain().await;
    let gateway = setup(&chain).set("log.level", "info,gateway_storage=trace").start().await.unwrap();
    let site = Site::of(&gateway);
    let is_issued = || async { site.get("/api/cv/1").await.status == 200 };
    TestGateway::eventually(LIMIT, "a credential is issued", is_issued).await;
    let before = gateway.setup().log().len();
    // The record of the first agent is in memory now.
    assert_eq!(site.get("/api/cv/2").await.status, 200);
    let has_all = || async { RECORD.iter().all(|(marker, _)| has(&statements(gateway.setup(), before), marker)) };
    TestGateway::eventually(LIMIT, "the statements are logged", has_all).await;
    let read = statements(gateway.setup(), before);
    for (marker, step) in RECORD {
        let sql = read.iter().find(|sql| sql.contains(marker)).unwrap();
        let plan = plan(gateway.setup(), sql).await;
        let sorts = plan.iter().any(|found| found.starts_with("USE TEMP B-TREE"));
        assert!(plan.iter().any(|found| found.starts_with(step)) && !sorts, "{sql}: {plan:#?}");
    }
    // What the owner published is in counters; the log is read behind their cursor only.
    let counting = read.iter().find(|sql| sql.contains("FROM aicv_event_counts WHERE actor")).unwrap();
    let steps = plan(gateway.setup(), counting).await;
    let behind = "SEARCH host_activity USING INDEX host_activity_actor (actor=? AND id>? AND id<?)";
    assert!(steps.iter().any(|step| step == behind), "{steps:#?}");
    // Jobs of plugins may read at the same time.
    let is_of_agent = |sql: &&String| ["agent_id = $1", "payee = $1", "payer = $1"].iter().any(|one| sql.contains(one));
    let is_growing = |sql: &&String| GROWING.iter().any(|table| sql.contains(table));
    for sql in read.iter().filter(is_of_agent).filter(is_growing) {
        assert!(sql.contains(" LIMIT "), "it reads all rows: {sql}");
    }
}

fn has(statements: &[String], marker: &str) -> bool {
    statements.iter().any(|sql| sql.contains(marker))
}

async fn start(engine: Engine) -> GatewayProcess {
    setup_with_all_plugins_on(engine).await.set("log.level", "info,gateway_storage=trace").start().await.unwrap()
}

/// The statements with the marker that read a page for this request.
async fn pages_of(gateway: &GatewayProcess, path: &str, marker: &str) -> Vec<String> {
    let before = gateway.setup().log().len();
    let answer = Site::of(gateway).get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    let found = || pages(gateway.setup(), before, marker);
    TestGateway::eventually(LIMIT, path, || async { !found().is_empty() }).await;
    found()
}

/// The statements with the marker that read a page, of the log from that byte on.
fn pages(setup: &Setup, from: usize, marker: &str) -> Vec<String> {
    statements(setup, from).into_iter().filter(|sql| sql.contains(marker) && sql.contains(" LIMIT ")).collect()
}

fn statements(setup: &Setup, from: usize) -> Vec<String> {
    let log = setup.log();
    let lines = log.get(from..).unwrap_or_default().lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| Some(line["sql"].as_str()?.to_owned())).collect()
}

async fn plan(setup: &Setup, sql: &str) -> Vec<String> {
    let file = setup.folder().join("data/gateway.db");
    let mut connection = SqliteConnection::connect(&format!("sqlite:{}", file.display())).await.unwrap();
    let explain = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}")));
    let rows = explain.fetch_all(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    rows.iter().map(|row| row.get("detail")).collect()
}

/// The plan for any values, of a database that would rather take any index than none: so small tables need none.
async fn plan_on_postgres(setup: &Setup, sql: &str) -> String {
    let mut connection = PgConnection::connect(setup.get("database.url").unwrap()).await.unwrap();
    let prepare = format!("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan; PREPARE page AS {sql}");
    connection.execute(AssertSqlSafe(prepare)).await.unwrap();
    let values = (1..).take_while(|number| sql.contains(&format!("${number}"))).map(|_| "NULL").collect::<Vec<_>>();
    let values = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
    let rows = connection.fetch_all(AssertSqlSafe(format!("EXPLAIN EXECUTE page{values}"))).await.unwrap();
    connection.close().await.unwrap();
    rows.iter().map(|row| row.get::<String, _>(0)).collect::<Vec<_>>().join("\n")
}
