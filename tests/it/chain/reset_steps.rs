//! An index of many rows is reset in steps, between which every other transaction has its turn.

use super::{builders, close, derived, opened, started};
use gateway::lifecycle::OperatorAction;
use plugin_testing::{ScriptedChain, TestGateway};
use std::time::Duration;

/// Notes the rows that are left whenever a transaction marks the index.
const WATCH: &str = "CREATE TABLE reset_steps (shape TEXT NOT NULL, accounts BIGINT NOT NULL); ";
const WATCH_ON_SQLITE: &str = "CREATE TRIGGER reset_watch AFTER UPDATE OF shape ON host_chain_index \
    BEGIN INSERT INTO reset_steps SELECT new.shape, count(*) FROM ledger_accounts; END;";
const WATCH_ON_POSTGRES: &str = "CREATE FUNCTION reset_watch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
    INSERT INTO reset_steps SELECT new.shape, count(*) FROM ledger_accounts; RETURN new; END $$; \
    CREATE TRIGGER reset_watch AFTER UPDATE OF shape ON host_chain_index FOR EACH ROW EXECUTE FUNCTION reset_watch();";

#[tokio::test]
async fn a_reset_commits_every_few_thousand_rows() {
    let chain = ScriptedChain::start().await;
    for first in (20_000..31_000).step_by(1_000) {
        chain.mine((first..first + 1_000).map(opened).collect());
    }
    chain.mine_empty(100);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let before = derived(&gateway).await;
        let watch = if gateway.dialect() == "sqlite" { WATCH_ON_SQLITE } else { WATCH_ON_POSTGRES };
        gateway.gateway().database.execute_batch(&format!("{WATCH}{watch}")).await.unwrap();
        gateway.gateway().plugins.operate(OperatorAction::Reindex, "ledger", "test").await.unwrap();
        let is_reset = async || gateway.rows("SELECT accounts FROM reset_steps WHERE shape <> ''").await == ["Int(0)"];
        TestGateway::eventually(Duration::from_secs(60), "the reset ends", is_reset).await;
        // The operator's mark, and one for each step but the last.
        let steps = gateway.rows("SELECT accounts FROM reset_steps WHERE shape = '' ORDER BY accounts DESC").await;
        assert_eq!(steps, ["Int(11000)", "Int(6000)", "Int(1000)"]);
        gateway.indexed(&chain).await;
        assert_eq!(derived(&gateway).await, before);
        close(gateway).await;
    }
}
