//! Transactions of the index that PostgreSQL rolls back because of another one at the same time.

use super::{BANK, assert_as_anew, close, ledger, moved, opened, started};
use plugin_testing::{ScriptedChain, TestGateway};
use rstest::rstest;

/// The first three transactions that fire the trigger conflict.
const CONFLICT: &str = "CREATE SEQUENCE conflicts;
    CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('conflicts') <= 3 THEN RAISE serialization_failure; END IF; RETURN NULL; END $$;";
const AT_A_STATEMENT: &str = "CREATE TRIGGER conflict AFTER INSERT OR UPDATE OR DELETE ON ledger_moves \
    FOR EACH STATEMENT EXECUTE FUNCTION conflict()";
const AT_THE_COMMIT: &str = "CREATE CONSTRAINT TRIGGER conflict AFTER INSERT OR DELETE ON ledger_moves \
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION conflict()";

async fn assert_conflicted(gateway: &TestGateway) {
    let fired = gateway.rows("SELECT last_value FROM conflicts WHERE last_value > 3").await;
    assert_eq!(fired.len(), 1, "the trigger fired in {:?}", gateway.rows("SELECT last_value FROM conflicts").await);
}

#[rstest]
#[tokio::test]
async fn a_transaction_that_conflicts_runs_again_and_no_event_is_blamed(
    #[values(AT_A_STATEMENT, AT_THE_COMMIT)] trigger: &str,
) {
    let Some(builder) = TestGateway::postgres_builder().await else { return };
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1), opened(2)]);
    chain.mine_empty(70);
    let gateway = started(builder.plugin(ledger::module()).chain(&chain, &[BANK]), &chain).await;
    gateway.gateway().database.execute_batch(&format!("{CONFLICT} {trigger}")).await.unwrap();

    chain.mine(vec![moved(1, "5"), moved(2, "6"), opened(3)]);
    gateway.indexed(&chain).await;
    assert_conflicted(&gateway).await;
    assert_as_anew(&gateway, &chain).await;

    // What undoes a block conflicts as well.
    gateway.execute("SELECT setval('conflicts', 1, false)").await;
    chain.reorg(1);
    chain.mine_empty(2);
    gateway.indexed(&chain).await;
    assert_conflicted(&gateway).await;
    assert_eq!(gateway.rows("SELECT count(*) FROM ledger_moves").await, ["Int(0)"]);
    assert_as_anew(&gateway, &chain).await;
    close(gateway).await;
}
