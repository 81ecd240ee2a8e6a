//! Events of undone blocks that are committed and not yet public: whoever is first, the sequencer or the reorganisation, they are
//! withdrawn or found among the public ones.

use super::{Engine, LIMIT, LogDatabase, TestGateway, named, statement};
use crate::{
    chain::{builders, close, moved, opened, published, started},
    storage::int,
};
use gateway_activity::SequencedBatch;
use gateway_storage::Scope;
use plugin_api::sql;
use plugin_testing::ScriptedChain;
use secrecy::ExposeSecret as _;
use sqlx::{Connection as _, Executor as _, PgConnection};

const PUBLIC: &str = "SELECT id FROM host_activity WHERE unique_key = 'undone'";

#[tokio::test]
async fn the_sequencer_leaves_what_is_being_withdrawn() {
    let database = LogDatabase::new(Engine::Postgres).await;
    let mut sequencer = database.holder("one").await;
    database.write("undone", Some("undone")).await;
    database.write("stays", None).await;
    let withdrawal = || database.log.withdrawal_statement(sql("SELECT 'undone'")).unwrap();
    for ends_well in [false, true] {
        let undo = database.db.database.begin(Scope::Host);
        let outcomes = undo.run(vec![withdrawal(), statement(PUBLIC, [])]).await.unwrap();
        assert_eq!((outcomes[0].changes, outcomes[1].rows.row_count()), (1, 0));
        let batch = sequencer.sequence().await.unwrap().unwrap();
        assert_eq!(batch.appended, u64::from(!ends_well), "the other one only");
        if ends_well {
            undo.commit(Vec::new()).await.unwrap();
        } else {
            undo.rollback().await;
        }
    }
    assert_eq!(sequencer.sequence().await.unwrap(), Some(SequencedBatch::default()));
    assert_eq!(named(&database.logged().await), ["stays"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_sequencer_is_moving_is_found_among_the_public_events() {
    let database = LogDatabase::new(Engine::Postgres).await;
    let mut sequencer = database.holder("one").await;
    database.write("undone", Some("undone")).await;
    // The batch waits in the middle: it has deleted the row of the outbox, and its position is taken by a row that may be rolled
    // back.
    let block = database.db.database.begin(Scope::Host);
    let taken = "INSERT INTO host_activity (id, type, ts, data) VALUES (1, 'a.b', 7, '{}')";
    block.run(vec![statement(taken, [])]).await.unwrap();
    let blocked = async |count: i64| {
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
        let is_waiting = async || int(&database.db.rows(waiting).await[0][0]) == count;
        TestGateway::eventually(LIMIT, "it waits", is_waiting).await;
    };
    let undo = database.db.database.begin(Scope::Host);
    let undoing = async {
        blocked(1).await;
        let withdrawal = database.log.withdrawal_statement(sql("SELECT 'undone'")).unwrap();
        undo.run(vec![withdrawal, statement(PUBLIC, [])]).await.unwrap()
    };
    let unblocking = async {
        blocked(2).await;
        block.rollback().await;
    };
    let (batch, outcomes, ()) = tokio::join!(sequencer.sequence(), undoing, unblocking);
    assert_eq!(batch.unwrap(), Some(SequencedBatch { taken: 1, appended: 1 }));
    assert_eq!((outcomes[0].changes, outcomes[1].rows.row_count()), (0, 1), "public by now, so that it is retracted");
    undo.rollback().await;
}

async fn waiting(connection: &mut PgConnection) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM host_activity_outbox").fetch_one(connection).await.unwrap()
}

/// The sequencer stands still from before the event is published until the blocks are undone.
#[tokio::test]
async fn an_undone_event_that_has_no_position_never_becomes_public() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    let Some(builder) = builders(&chain).await.into_iter().nth(1) else { return };
    let gateway = started(builder, &chain).await;
    let url = gateway.gateway().config.database.url.clone().unwrap();
    let mut connection = PgConnection::connect(url.expose_secret()).await.unwrap();
    let mut lock = connection.begin().await.unwrap();
    lock.execute("SELECT 1 FROM host_activity_sequencer FOR UPDATE").await.unwrap();
    let mut other = PgConnection::connect(url.expose_secret()).await.unwrap();
    chain.mine(vec![moved(1, "1")]);
    chain.mine(vec![moved(1, "2")]);
    chain.mine_empty(5);
    gateway.indexed(&chain).await;
    assert_eq!(waiting(&mut other).await, 2);
    // The second one's block is undone, and another takes its place.
    chain.reorg(6);
    chain.mine(vec![moved(1, "3")]);
    chain.mine_empty(6);
    gateway.indexed(&chain).await;
    assert_eq!(waiting(&mut other).await, 2);
    let pages = &gateway.gateway().dispatcher.pages;
    let is_told = async || {
        let degraded = pages.degraded_services().await;
        degraded.iter().any(|(name, detail)| name == "db" && detail.starts_with("new events wait for their positions"))
    };
    TestGateway::eventually(LIMIT, "operators see that nobody sequences", is_told).await;
    lock.rollback().await.unwrap();
    connection.close().await.unwrap();
    other.close().await.unwrap();
    let amounts: Vec<_> = gateway.events().await.into_iter().map(|event| event.data["amount"].clone()).collect();
    assert_eq!(amounts, ["1", "3"], "nothing is to be retracted");
    assert_eq!(published(&gateway).await.len(), 2);
    close(gateway).await;
}
