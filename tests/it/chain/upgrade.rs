//! An index that was made by a gateway before there were indexes of several chains.

use super::{builders, close, derived, derived_anew, moved, opened, published, started};
use plugin_testing::{ScriptedChain, TestGateway};

const BEFORE: &str = "
DROP VIEW host_activity_retracted_v1;
DROP INDEX host_activity_retracted_actor;
ALTER TABLE host_activity_retracted DROP COLUMN actor;
ALTER TABLE host_activity_retracted DROP COLUMN type;
DROP VIEW host_activity_with_retracted_v1;
DROP VIEW host_chain_positions_v1;
DROP INDEX host_activity_actor_type;
ALTER TABLE host_tx_lanes DROP COLUMN blocked_reason;
DROP TABLE IF EXISTS host_attempts;
CREATE TABLE now_index AS SELECT * FROM host_chain_index;
DROP TABLE host_chain_index;
CREATE TABLE host_chain_index (plugin TEXT NOT NULL PRIMARY KEY, shape TEXT NOT NULL, start_block BIGINT NOT NULL,
    next_block BIGINT NOT NULL, hash TEXT NOT NULL, stopped TEXT, holder TEXT, lease_until_ms BIGINT NOT NULL DEFAULT 0);
INSERT INTO host_chain_index (plugin, shape, start_block, next_block, hash, stopped)
    SELECT plugin, shape, start_block, next_block, hash, stopped FROM now_index;
DROP TABLE now_index;
CREATE TABLE now_blocks AS SELECT * FROM host_chain_blocks;
DROP TABLE host_chain_blocks;
CREATE TABLE host_chain_blocks (plugin TEXT NOT NULL, block BIGINT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (plugin, block));
INSERT INTO host_chain_blocks (plugin, block, hash) SELECT plugin, block, hash FROM now_blocks;
DROP TABLE now_blocks;
DROP TABLE host_chain_turn;
CREATE TABLE host_chain_turn (plugin TEXT NOT NULL PRIMARY KEY, block BIGINT NOT NULL);
DROP INDEX host_chain_journal_place;
ALTER TABLE host_chain_journal DROP COLUMN chain;
CREATE INDEX host_chain_journal_place ON host_chain_journal (plugin, block, id);
DROP INDEX host_chain_events_waiting;
DROP INDEX host_chain_events_block;
ALTER TABLE host_chain_events DROP COLUMN chain;
CREATE INDEX host_chain_events_waiting ON host_chain_events (block, log_index, plugin, id) WHERE is_public = 0;
CREATE INDEX host_chain_events_block ON host_chain_events (plugin, block);
CREATE TABLE now_publisher AS SELECT * FROM host_chain_publisher;
DROP TABLE host_chain_publisher;
CREATE TABLE host_chain_publisher (id BIGINT NOT NULL PRIMARY KEY, block BIGINT NOT NULL, version BIGINT NOT NULL);
INSERT INTO host_chain_publisher (id, block, version) SELECT 1, block, version FROM now_publisher;
DROP TABLE now_publisher;
ALTER TABLE host_replay_guard DROP COLUMN attempt;
DROP TABLE IF EXISTS host_activity_outbox;
DROP TABLE IF EXISTS host_activity_sequencer;
DROP TABLE IF EXISTS host_changes;
DROP TABLE IF EXISTS host_versions;
DELETE FROM _migrations WHERE plugin = 'host' AND version >= 16;
";
const TABLES: [&str; 2] = ["ledger_accounts", "ledger_moves"];

/// What the database of an earlier gateway has, with its triggers.
fn text_of_before(dialect: &str) -> String {
    let is_sqlite = dialect == "sqlite";
    let verbs: &[&str] = if is_sqlite { &["insert", "update", "delete"] } else { &[] };
    let sqlite =
        |table: &'static str| verbs.iter().map(move |verb| (format!("host_chain_{verb}_{table}"), *verb, table));
    let (mut drops, mut creates) = (String::new(), String::new());
    for (name, verb, table) in TABLES.into_iter().flat_map(sqlite) {
        drops.push_str(&format!("DROP TRIGGER {name}; "));
        creates.push_str(&format!(
            "CREATE TRIGGER {name} AFTER {verb} ON {table} BEGIN INSERT INTO host_chain_journal (plugin, block, tab) \
             SELECT plugin, block, '{table}' FROM host_chain_turn; END; "
        ));
    }
    for table in TABLES.into_iter().filter(|_| !is_sqlite) {
        drops.push_str(&format!("DROP TRIGGER host_chain_{table} ON {table}; "));
        creates.push_str(&format!(
            "CREATE TRIGGER host_chain_{table} AFTER INSERT OR UPDATE OR DELETE ON {table} \
             FOR EACH ROW EXECUTE FUNCTION host_chain_write('ledger'); "
        ));
    }
    format!("{drops}{BEFORE}{creates}")
}

#[tokio::test]
async fn an_index_of_an_earlier_gateway_goes_on() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1), moved(1, "1")]);
    chain.mine_empty(100);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let undone = chain.mine(vec![opened(2), moved(1, "2")]);
        gateway.indexed(&chain).await;
        let before = derived(&gateway).await;
        assert_eq!(published(&gateway).await.len(), 1, "the second waits for its confirmations");
        let gateway = as_of_before(gateway).await;
        gateway.indexed(&chain).await;
        assert_eq!(derived(&gateway).await, before);
        assert_eq!(gateway.gateway().indexes.reports()[0].events, 0, "no event was read again");
        let block = chain.mine(vec![moved(1, "3")]);
        chain.mine_empty(3);
        gateway.indexed(&chain).await;
        let blocks: Vec<u64> = published(&gateway).await.into_iter().map(|(block, _)| block).collect();
        assert_eq!(blocks, [1, undone, block], "also what waited");
        chain.reorg(5);
        chain.mine_empty(1);
        gateway.indexed(&chain).await;
        assert_eq!(derived(&gateway).await, derived_anew(&gateway, &chain).await, "by the undo log of both gateways");
        chain.reorg(1);
        close(gateway).await;
    }
}

/// The gateway after a restart on the database of an earlier one.
async fn as_of_before(gateway: TestGateway) -> TestGateway {
    let text = text_of_before(gateway.dialect());
    gateway.gateway().database.execute_batch(&text).await.unwrap();
    gateway.restart().await
}
