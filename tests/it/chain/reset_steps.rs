//! An index of many rows is reset in steps, between which every other transaction has its turn.

use super::{activity::retracted, builders, close, derived, moved, opened, published, started};
use gateway::lifecycle::OperatorAction;
use plugin_testing::{ScriptedChain, TestGateway};
use std::time::Duration;

/// Notes the rows that are left, and whether the index has a position, whenever a transaction marks the index.
const WATCH: &str = "CREATE TABLE reset_steps (shape TEXT NOT NULL, next_block BIGINT NOT NULL, hash TEXT NOT NULL, accounts BIGINT NOT NULL); ";
const WATCH_ON_SQLITE: &str = "CREATE TRIGGER reset_watch AFTER UPDATE OF shape ON host_chain_index \
    BEGIN INSERT INTO reset_steps SELECT new.shape, new.next_block, new.hash, count(*) FROM ledger_accounts; END;";
const WATCH_ON_POSTGRES: &str = "CREATE FUNCTION reset_watch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
    INSERT INTO reset_steps SELECT new.shape, new.next_block, new.hash, count(*) FROM ledger_accounts; RETURN new; END $$; \
    CREATE TRIGGER reset_watch AFTER UPDATE OF shape ON host_chain_index FOR EACH ROW EXECUTE FUNCTION reset_watch();";

#[tokio::test]
async fn a_reset_commits_every_few_thousand_rows() {
    let chain = ScriptedChain::start().await;
    chain.mine((40_000..40_999).map(opened).collect());
    chain.mine_empty(100);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let before = derived(&gateway).await;
        let watch = if gateway.dialect() == "sqlite" { WATCH_ON_SQLITE } else { WATCH_ON_POSTGRES };
        gateway.gateway().database.execute_batch(&format!("{MORE_ACCOUNTS} {WATCH}{watch}")).await.unwrap();
        gateway.gateway().plugins.operate(OperatorAction::Reindex, "ledger", "test").await.unwrap();
        let is_reset = async || gateway.rows("SELECT accounts FROM reset_steps WHERE shape <> ''").await == ["Int(0)"];
        TestGateway::eventually(Duration::from_secs(60), "the reset ends", is_reset).await;
        // The operator's mark, and one for each step but the last.
        let steps = gateway.rows("SELECT accounts FROM reset_steps WHERE shape = '' ORDER BY accounts DESC").await;
        assert_eq!(steps, ["Int(11000)", "Int(6000)", "Int(1000)"]);
        // Whoever reads rows that are not all there must not take them for those of the last block.
        let positions = "SELECT accounts FROM reset_steps WHERE shape = '' AND (hash <> '' OR next_block <> 0)";
        assert_eq!(gateway.rows(positions).await, ["Int(11000)"], "the operator's mark alone deletes no row");
        gateway.indexed(&chain).await;
        assert_eq!(derived(&gateway).await, before);
        close(gateway).await;
    }
}

/// 10,001 rows, more than one step deletes, written as the index does, and not derived from events: that many are slow.
pub(super) const MORE_ACCOUNTS: &str = "INSERT INTO host_chain_turn (plugin, chain, block) VALUES ('ledger', 'main', -1); \
    WITH RECURSIVE ids (id) AS (SELECT 20000 UNION ALL SELECT id + 1 FROM ids WHERE id < 30000) \
    INSERT INTO ledger_accounts (id, owner, name, balance, moves, changed_s) SELECT id, '', '', '0', 0, 0 FROM ids; \
    DELETE FROM host_chain_turn;";

#[tokio::test]
async fn a_reset_in_steps_retracts_the_events_of_blocks_that_are_gone() {
    let chain = ScriptedChain::start().await;
    for builder in builders(&chain).await {
        let builder = builder.configure(|config| config.chains.get_mut("main").unwrap().deploy_block = Some(1));
        chain.mine(vec![opened(1), moved(1, "1")]);
        chain.mine_empty(4);
        let gateway = started(builder, &chain).await;
        let before = gateway.events().await;
        assert_eq!(published(&gateway).await.len(), 1);
        gateway.gateway().database.execute_batch(MORE_ACCOUNTS).await.unwrap();
        // Nothing of so young a chain stays.
        chain.reorg(5);
        chain.mine(vec![opened(5)]);
        chain.mine(vec![moved(5, "3")]);
        chain.mine_empty(3);
        gateway.indexed(&chain).await;
        let after = gateway.events().await;
        let kinds: Vec<&str> = after.iter().map(|event| event.kind.as_str()).collect();
        assert_eq!(kinds, ["chain.retracted", "ledger.moved"]);
        assert_eq!(retracted(&after[0]), [before[0].id]);
        assert_eq!(gateway.rows("SELECT id FROM ledger_accounts").await, ["Int(5)"]);
        chain.reorg(5);
        close(gateway).await;
    }
}
