//! Statements that PostgreSQL answers together: with one Sync, once each of them has been fast often enough.

use super::*;
use gateway_storage::Isolation;
use gateway_tests::postgres_proxy::{PostgresProxy, RoundTrip};
use rstest::rstest;

fn forum(database: &Database, isolation: Isolation) -> Transaction {
    database.begin(plugin_scope("forum").with_isolation(isolation))
}

/// All share from the first run on, because nobody asks how long one takes.
async fn sharing() -> TestDatabase {
    let db = TestDatabase::with_notes_tuned(Engine::Postgres, |settings| {
        (settings.slow_statement_ms, settings.pool_max) = (0, 1);
    })
    .await;
    db.write(vec![note(10, "there")]).await.unwrap();
    db
}

/// Refuses the transaction by a division when there is such a note.
fn take(id: i64) -> CommitStatement {
    let sql = "INSERT INTO forum_notes (id, body) VALUES ($1, 'taken') \
               ON CONFLICT (id) DO UPDATE SET id = 1 / (excluded.id * 0)";
    CommitStatement::dividing(statement(sql, [Value::Int(id)]))
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn each_statement_gets_its_own_answer(
    #[values(Isolation::Serializable, Isolation::PluginLock)] isolation: Isolation,
) {
    let db = sharing().await;
    let transaction = forum(&db.database, isolation);
    transaction.require(vec![take(1), take(2)]);
    let read = |id: i64| statement("SELECT body FROM forum_notes WHERE id = $1", [Value::Int(id)]);
    let outcomes = transaction.run(vec![note(3, "three"), read(3), read(4), read(1)]).await.unwrap();
    let rows: Vec<_> = outcomes.iter().map(|outcome| values(&outcome.rows)).collect();
    assert_eq!(rows, [vec![], vec![vec![text("three")]], vec![], vec![vec![text("taken")]]]);
    assert_eq!(outcomes[0].changes, 1);
    let outcomes = transaction.commit(vec![CommitStatement::new(note(5, "five")), take(6)]).await.unwrap();
    assert_eq!(outcomes.iter().map(|outcome| outcome.changes).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(db.note_ids().await, [1, 2, 3, 5, 6, 10]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_by_division_names_its_statement_and_leaves_nothing(
    #[values(Isolation::Serializable, Isolation::PluginLock)] isolation: Isolation,
) {
    let db = sharing().await;
    let opened = forum(&db.database, isolation);
    opened.require(vec![take(1), take(10)]);
    let ran = opened.run(vec![note(2, "never")]).await.map(drop);
    assert_eq!((ran, opened.failed_precondition()), (Err(StorageError::Rejected(1)), Some(1)));
    let last = forum(&db.database, isolation);
    last.run(vec![note(3, "never")]).await.unwrap();
    let commit = vec![CommitStatement::new(note(4, "never")), take(10), take(5)];
    assert_eq!(last.commit(commit).await.unwrap_err(), StorageError::Rejected(1));
    assert_eq!(db.note_ids().await, [10]);
}

/// The one connection of the pool serves on after each of them.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn nothing_behind_a_statement_that_failed_runs(
    #[values(Isolation::Serializable, Isolation::PluginLock)] isolation: Isolation,
) {
    let db = sharing().await;
    for failing in 0..3 {
        let mut statements = vec![note(1, "never"), note(2, "never"), note(3, "never")];
        statements[failing] = note(10, "twice");
        let transaction = forum(&db.database, isolation);
        let error = transaction.run(statements.clone()).await.unwrap_err();
        assert!(matches!(error, StorageError::Constraint(_)), "{failing}: {error:?}");
        assert!(matches!(transaction.commit(vec![]).await, Err(StorageError::Closed(_))));

        let transaction = forum(&db.database, isolation);
        transaction.run(vec![note(4, "never")]).await.unwrap();
        let error = transaction.commit(statements.into_iter().map(CommitStatement::new).collect()).await.unwrap_err();
        assert!(matches!(error, StorageError::Constraint(_)), "{failing}: {error:?}");
        assert!(!transaction.has_unknown_outcome());
        assert_eq!(db.note_ids().await, [10], "{failing}");
    }
}

/// More statements than a connection keeps, so that some are closed while others run.
#[tokio::test(flavor = "multi_thread")]
async fn statements_that_are_forgotten_meanwhile_disturb_no_answer() {
    let db = sharing().await;
    let read = |number: i64| statement(&format!("SELECT {number} + $1"), [Value::Int(0)]);
    for round in 0..3 {
        let transaction = forum(&db.database, Isolation::Serializable);
        for first in (0..400).step_by(80) {
            let outcomes = transaction.run((first..first + 80).map(read).collect()).await.unwrap();
            let numbers: Vec<i64> = outcomes.iter().map(|outcome| int(&values(&outcome.rows)[0][0])).collect();
            assert_eq!(numbers, (first..first + 80).collect::<Vec<_>>());
        }
        transaction.commit(vec![CommitStatement::new(note(round, "kept"))]).await.unwrap();
    }
    assert_eq!(db.note_ids().await, [0, 1, 2, 10]);
}

/// What the server is sent: a Sync per statement while its time has to be known, and then one for all before COMMIT.
#[rstest]
#[case::serializable(Isolation::Serializable, 1)]
#[case::locked(Isolation::PluginLock, 2)]
#[tokio::test(flavor = "multi_thread")]
async fn statements_share_a_sync_once_each_has_been_fast_often_enough(
    #[case] isolation: Isolation,
    #[case] shared: usize,
) {
    let url = gateway_tests::postgres::fresh_database().await.unwrap();
    let proxy = PostgresProxy::start(&url).await.unwrap();
    let mut settings = DatabaseSettings::new(proxy.url().to_owned());
    (settings.slow_statement_ms, settings.pool_max) = (5_000, 1);
    let database = Database::open(settings).await.unwrap();
    let table = "CREATE TABLE forum_notes (id BIGINT PRIMARY KEY, body TEXT)";
    let schema = MigrationSet { scope: &plugin_scope("forum"), views: &[], migrations: &[migration(1, table)] };
    database.migrate(&schema).await.unwrap();
    let mut syncs = Vec::new();
    for number in 0..10 {
        let before = proxy.round_trips().len();
        let transaction = forum(&database, isolation);
        transaction.run(vec![note(2 * number, "a"), note(2 * number + 1, "b")]).await.unwrap();
        transaction.commit(vec![]).await.unwrap();
        let since = proxy.round_trips().split_off(before);
        let is_write = |one: &&RoundTrip| one.executed.iter().any(|sql| sql.contains("INSERT INTO forum_notes"));
        syncs.push(since.iter().find(is_write).unwrap().syncs);
    }
    // Two runs of one text in each of the first four transactions. A BEGIN that waits for a lock keeps an end of its own.
    assert_eq!(syncs, [[3; 4].as_slice(), &[shared; 6]].concat());
    database.close().await;
}
