//! A reorganisation leaves no trace: not in tables, not in responses, not in the log.

use super::{
    CONTRACTS, Site,
    script::{
        PAUSED, RETIRED, agent, bond, completed, delivered, disputed, done, feedback, feedback_revoked, outcome,
        refunded, registered, requested, resolved, slashed, status, transferred, updated, validated,
        validation_requested,
    },
    sites,
};
use plugin_testing::{ScriptedLog, TestGateway};

const TABLES: [&str; 10] = [
    "agents_agents ORDER BY id",
    "agents_jobs ORDER BY id",
    "agents_payers ORDER BY agent_id, payer",
    "agents_validations ORDER BY request_hash",
    "agents_feedback ORDER BY agent_id, client, feedback_index",
    "agents_counts ORDER BY status",
    "agents_totals ORDER BY id",
    "agents_records ORDER BY agent_id",
    "agents_clients ORDER BY agent_id, client",
    "agents_validators ORDER BY agent_id, validator",
];

/// All derived rows as one text.
async fn derived(gateway: &TestGateway) -> String {
    let mut all = String::new();
    for table in TABLES {
        all += &format!("{table}\n{}\n", gateway.rows(&format!("SELECT * FROM {table}")).await.join("\n"));
    }
    all
}

/// The same from a new index that never saw another branch.
async fn derived_anew(site: &Site) -> String {
    let builder = match site.gateway.dialect() {
        "postgres" => TestGateway::postgres_builder().await.unwrap(),
        _ => TestGateway::builder(),
    };
    let fresh = builder.plugin(agents::plugin_module()).chain(&site.chain, &CONTRACTS).start().await;
    fresh.indexed(&site.chain).await;
    let derived = derived(&fresh).await;
    fresh.stop().await;
    derived
}

/// Agents and jobs for which every kind of event is possible.
fn before() -> Vec<ScriptedLog> {
    [
        agent(1),
        agent(2),
        agent(3),
        done(1, 1, 50, "10", 5),
        vec![requested(2, 1, 50, "20"), delivered(2, 2, "o")],
        vec![requested(3, 2, 51, "30")],
        vec![requested(4, 2, 51, "40"), delivered(4, 4, "o"), disputed(4)],
        vec![requested(5, 3, 51, "50")],
        vec![validation_requested(8, 1, "fmx://job/1", 1), feedback(1, 50, 1, "5")],
    ]
    .concat()
}

/// Each kind of event once.
fn moves() -> Vec<Vec<ScriptedLog>> {
    vec![
        registered(4, 9, "late", "https://l"),
        vec![updated(1, "https://n", "m", "9"), status(2, PAUSED), bond(1, "7"), slashed(1, "1")],
        vec![transferred(1, 1, 2), status(3, RETIRED)],
        vec![completed(2, "19", 3), outcome(1, true, 3)],
        vec![refunded(3, "30", true), outcome(2, false, 0), refunded(5, "50", false), outcome(3, false, 0)],
        vec![resolved(4, "20", "19"), outcome(2, true, 0)],
        vec![requested(6, 4, 52, "60"), delivered(6, 6, "o"), requested(7, 1, 52, "0")],
        vec![
            validated(8, 1, 1, 70),
            validation_requested(8, 2, "", 2),
            feedback(1, 50, 2, "6"),
            feedback_revoked(1, 50, 1),
        ],
    ]
}

#[tokio::test]
async fn every_event_is_undone() {
    for site in sites(vec![before()]).await {
        let original = derived(&site.gateway).await;
        for blocks in moves() {
            site.mine(blocks.clone()).await;
            assert_ne!(derived(&site.gateway).await, original, "{blocks:?}");
            site.chain.reorg(1);
            site.chain.mine_empty(2);
            site.gateway.indexed(&site.chain).await;
            assert_eq!(derived(&site.gateway).await, original, "{blocks:?}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn another_branch_is_followed_and_gives_what_a_new_index_gives() {
    for site in sites(vec![before()]).await {
        for blocks in moves() {
            site.mine(blocks).await;
        }
        site.chain.reorg(8);
        // The same agent id with another owner, the same job with another client.
        site.chain.mine(registered(4, 8, "another", ""));
        site.chain.mine([vec![requested(6, 4, 50, "61")], vec![delivered(6, 6, ""), completed(6, "60", 1)]].concat());
        site.chain.mine_empty(9);
        site.gateway.indexed(&site.chain).await;
        assert_eq!(derived(&site.gateway).await, derived_anew(&site).await);
        assert_eq!(site.read("/api/agents?q=another").await["total"], 1);
        assert_eq!(site.read("/api/agents?q=late").await["total"], 0);
        site.close().await;
    }
}

#[tokio::test]
async fn an_abandoned_branch_publishes_nothing() {
    for site in sites(vec![agent(1)]).await {
        site.mine(registered(2, 9, "never was", "")).await;
        site.chain.reorg(1);
        site.chain.mine(registered(2, 9, "was", ""));
        site.chain.mine_empty(5);
        site.gateway.indexed(&site.chain).await;
        let names: Vec<_> =
            site.gateway.events().await.into_iter().filter(|event| event.kind == "agent.registered").collect();
        let names: Vec<&str> = names.iter().map(|event| event.data["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["agent 1", "was"]);
        site.close().await;
    }
}
