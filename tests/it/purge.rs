//! What keeps a plugin that is gone from being purged, and what stays of it, in the test's own process and on both databases.

use gateway::{Gateway, operators::PurgeError};
use gateway_storage::{Dialect, MigrationSet, Scope, ViewNames};
use plugin_api::{manifest::MigrationSpec, sql};
use plugin_testing::TestGateway;
use std::sync::Arc;

async fn migrate(gateway: &Gateway, plugin: &str, text: &str) {
    let readable = ViewNames::from(["agents_v1".to_owned()]);
    let scope = Scope::plugin(plugin, Arc::new(readable));
    let step = MigrationSpec { version: 1, name: "create".to_owned(), sql: text.to_owned(), postgres: None };
    let schema = MigrationSet { scope: &scope, views: &[format!("{plugin}_v1")], migrations: &[step] };
    gateway.database.migrate(&schema).await.unwrap();
}

async fn execute(gateway: &Gateway, text: &str) {
    gateway.database.execute_batch(text).await.unwrap();
}

async fn texts(gateway: &Gateway, select: &'static str) -> Vec<String> {
    let rows = gateway.database.read(&Scope::Host, sql(select).into()).await.unwrap();
    plugin_api::host::decode_rows(&rows).unwrap()
}

/// The words of the refusal.
async fn refused(gateway: &Gateway, plugin: &str) -> String {
    match gateway.plugins.purge(plugin, "the test").await {
        Err(error @ PurgeError::Refused(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// On each database, a gateway with what agents left: a table, a view and an index of a chain.
async fn left_behind() -> Vec<TestGateway> {
    let gateways = TestGateway::each_database(&[]).await;
    for running in &gateways {
        let text = "CREATE TABLE agents_registry (id {{id}}); CREATE VIEW agents_v1 AS SELECT id FROM agents_registry";
        migrate(running.gateway(), "agents", text).await;
        let index = "INSERT INTO host_chain_index (plugin, chain, shape, start_block, next_block, hash) VALUES ('agents', 'main', '', 0, 9, '')";
        execute(running.gateway(), index).await;
    }
    gateways
}

#[tokio::test]
async fn views_of_others_are_not_broken() {
    for running in left_behind().await {
        let gateway = running.gateway();
        migrate(gateway, "market", "CREATE VIEW market_v1 AS SELECT id FROM agents_v1").await;
        assert_eq!(refused(gateway, "agents").await, "views of other plugins read from it: market_v1");
        assert_eq!(texts(gateway, "SELECT plugin FROM host_chain_index").await, ["agents"], "nothing was dropped");
        // Its own view hinders nobody.
        gateway.plugins.purge("market", "the test").await.unwrap();
        let purged = gateway.plugins.purge("agents", "the test's operator").await.unwrap();
        assert_eq!((purged.views, purged.has_index), (vec!["agents_v1".to_owned()], true));
        assert_eq!(texts(gateway, "SELECT plugin FROM host_chain_index").await, Vec::<String>::new());
        let audited = "SELECT who || ': ' || action || ' ' || subject || ', ' || outcome FROM host_audit ORDER BY id";
        let agents = "the test's operator: purge agents, dropped tables agents_registry (0 rows); views agents_v1";
        assert_eq!(texts(gateway, audited).await, ["the test: purge market, dropped views market_v1", agents]);
        running.stop().await;
    }
}

/// The tables of `agents_cv` begin like those of `agents`.
#[tokio::test]
async fn tables_that_may_be_anothers_stay() {
    for running in left_behind().await {
        let gateway = running.gateway();
        migrate(gateway, "agents_cv", "CREATE TABLE agents_cv_entries (id {{id}})").await;
        for (plugin, other) in [("agents", "agents_cv"), ("agents_cv", "agents")] {
            assert_eq!(refused(gateway, plugin).await, format!("its tables cannot be told from those of {other}"));
        }
        running.stop().await;
    }
}

/// The journal of payments stays; under its old keys, a new installation would believe that it has paid already.
#[tokio::test]
async fn transactions_stay_and_free_their_keys() {
    for running in left_behind().await {
        let gateway = running.gateway();
        let insert = |name: &str, state: &str| {
            format!(
                "INSERT INTO host_tx_intents (plugin, role, name, chain, chain_id, target, value_wei, data, state, created_ms, \
                 changed_ms) VALUES ('agents', 'relayer', '{name}', 'main', 1, '0x', '0', '0x', '{state}', 0, 0)"
            )
        };
        execute(gateway, &format!("{}; {}", insert("claim 1", "failed"), insert("claim 2", "queued"))).await;
        let under_way = "transactions of it are under way (1): wait until they are final";
        assert_eq!(refused(gateway, "agents").await, under_way);
        execute(gateway, "UPDATE host_tx_intents SET state = 'failed'").await;
        let purged = gateway.plugins.purge("agents", "the test").await.unwrap();
        assert_eq!(purged.kept_transactions, 2);
        let names = texts(gateway, "SELECT name FROM host_tx_intents ORDER BY id").await;
        assert!(names.len() == 2 && names.iter().all(|name| name.starts_with("released ")), "{names:?}");
        assert!(names[0].ends_with(": claim 1"), "{names:?}");
        execute(gateway, &insert("claim 1", "queued")).await;
        running.stop().await;
    }
}

/// A gateway that shares the database may serve what this one has not.
#[tokio::test]
async fn a_plugin_that_another_gateway_runs_is_not_purged() {
    for running in left_behind().await {
        let gateway = running.gateway();
        let until_ms = format!("{} + 60000", gateway.database.dialect().now_ms());
        execute(gateway, &format!("UPDATE host_chain_index SET holder = 'another', lease_until_ms = {until_ms}")).await;
        if gateway.database.dialect() == Dialect::Postgres {
            let said = "another gateway runs a job or the index of it, or did moments ago: stop that one";
            assert_eq!(refused(gateway, "agents").await, said);
        } else {
            // Nobody else has a SQLite file: the lease is a dead gateway's.
            gateway.plugins.purge("agents", "the test").await.unwrap();
        }
        running.stop().await;
    }
}

/// The database's clock decides: that of the test's gateways stands still.
#[tokio::test]
async fn a_plugin_whose_job_another_gateway_runs_is_not_purged() {
    for running in left_behind().await {
        let gateway = running.gateway();
        let held = |left_ms: i64| {
            let until_ms = gateway_clock::Clock::System.now_ms() + left_ms;
            format!(
                "DELETE FROM host_job_runs; INSERT INTO host_job_runs (plugin, job, schedule, next_run_ms, lease_holder, \
                 lease_until_ms) VALUES ('agents', 'probe_cards', 'every 60 s', 0, 'another', {until_ms})"
            )
        };
        if gateway.database.dialect() == Dialect::Postgres {
            execute(gateway, &held(60_000)).await;
            assert!(refused(gateway, "agents").await.starts_with("another gateway runs a job"));
        }
        execute(gateway, &held(-1)).await;
        gateway.plugins.purge("agents", "the test").await.unwrap();
        running.stop().await;
    }
}
