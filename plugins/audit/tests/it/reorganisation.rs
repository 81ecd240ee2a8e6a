//! A reorganisation removes the lines of the branch, and what the plugin derived from it.

use super::{Site, owner, script, sites_with, unnumbered};
use plugin_testing::{ScriptedLog, Value, json};

fn branch() -> Vec<ScriptedLog> {
    vec![
        script::bond(1, "9"),
        script::requested_by(8, 2, owner(1).address(), "7", "x"),
        script::delivered(8, 1, "y"),
        ScriptedLog::new(
            "x402Vault",
            "Withdrawn(address indexed to, uint256 amount)",
            &[json!(owner(2).address()), json!("1")],
        ),
    ]
}

async fn tables(site: &Site) -> Vec<Vec<String>> {
    let mut tables = Vec::new();
    for (table, key) in
        [("audit_logs", "block, log_index"), ("audit_log_addresses", "address, block, log_index"), ("audit_jobs", "id")]
    {
        tables.push(site.gateway.rows(&format!("SELECT * FROM {table} ORDER BY {key}")).await);
    }
    tables
}

#[tokio::test]
async fn an_abandoned_branch_leaves_nothing() {
    for site in sites_with(|builder| builder).await {
        let before = tables(&site).await;
        let lines = site.export(2, "").await.lines;
        for log in branch() {
            site.mine(vec![log]).await;
        }
        assert_eq!(site.export(2, "").await.names()[3..], ["JobRequested", "JobDelivered", "Withdrawn"]);
        for (now, before) in tables(&site).await.iter().zip(&before) {
            assert_ne!(now, before, "each table has heard of the branch");
        }
        site.chain.reorg(4);
        site.chain.mine_empty(5);
        site.gateway.indexed(&site.chain).await;
        assert_eq!(tables(&site).await, before);
        let after: Vec<Value> = site.export(2, "").await.lines.iter().map(unnumbered).collect();
        assert_eq!(after, lines.iter().map(unnumbered).collect::<Vec<_>>());
        site.finish().await;
    }
}

#[tokio::test]
async fn logs_that_come_again_have_their_new_place() {
    for site in sites_with(|builder| builder).await {
        site.mine(branch()).await;
        let first = site.export(1, "from=2").await;
        let logs = site.chain.reorg(1);
        site.chain.mine_empty(1);
        site.chain.mine(logs.into_iter().rev().collect());
        site.gateway.indexed(&site.chain).await;
        let again = site.export(1, "from=2").await;
        let place = |export: &super::Export| (export.lines[0]["block"].clone(), export.lines[0]["logIndex"].clone());
        assert_eq!((place(&first), place(&again)), ((json!(2), json!(0)), (json!(3), json!(3))));
        assert_eq!(first.lines[0]["tx"], again.lines[0]["tx"]);
        // The request now comes after the delivery, so nothing says yet whose job was delivered.
        assert_eq!(site.export(2, "from=3").await.names(), ["Withdrawn", "JobRequested"]);
        site.finish().await;
    }
}
