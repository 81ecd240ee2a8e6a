//! A database that is there and slow: the error says so, and what was waited for.

use super::*;
use rstest::rstest;

/// Transactions may be idle for as long as the test needs, statements may not run long.
fn patient(settings: &mut DatabaseSettings) {
    settings.statement_timeout_ms = 200;
    settings.transaction_timeout_ms = 60_000;
    settings.transaction_idle_ms = 60_000;
    settings.pool_max = 2;
}

#[rstest]
#[case(Engine::Sqlite, "other transactions have been writing for more than 5.2s")]
#[case(Engine::Postgres, "as many transactions as there may be have been open for more than 5.2s")]
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_waits_too_long_says_for_what(#[case] engine: Engine, #[case] reason: &str) {
    let db = TestDatabase::with_notes_tuned(engine, patient).await;
    let open = db.database.begin(Scope::Host);
    open.run(vec![note(1, "first")]).await.unwrap();
    let waiting = db.database.begin(Scope::Host);
    let error = waiting.run(vec![note(2, "second")]).await.unwrap_err();
    assert_eq!(error, StorageError::Busy(reason.into()));
    assert!(db.database.write_failure_within(Duration::from_secs(60)).is_none(), "it is not away");
    open.commit(vec![]).await.unwrap();
    db.write(vec![note(3, "third")]).await.unwrap();
    assert_eq!(db.note_ids().await, [1, 3]);
}

/// The transactions of one plugin run one after the other.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_waits_for_another_one_of_its_plugin_says_so() {
    let tune = |settings: &mut DatabaseSettings| {
        patient(settings);
        settings.pool_max = 8;
    };
    let db = TestDatabase::with_notes_tuned(Engine::Postgres, tune).await;
    let open = db.forum();
    open.run(vec![note(1, "first")]).await.unwrap();
    let error = db.forum().run(vec![note(2, "second")]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the database is busy: another transaction of the plugin has been open for more than 200ms"
    );
    open.commit(vec![]).await.unwrap();
    assert_eq!(db.note_ids().await, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_gets_no_connection_says_so() {
    let db = TestDatabase::with_notes_tuned(Engine::Postgres, patient).await;
    let pools = [db.database.begin(Scope::Host)];
    pools[0].run(vec![note(1, "holds a connection")]).await.unwrap();
    let database = db.database.clone();
    let slow = tokio::spawn(async move { database.read(&Scope::Host, endless()).await });
    // The slow one may begin later than this one: then it is the one that waits.
    let mut said = [db.database.read(&Scope::Host, endless()).await, slow.await.unwrap()].map(|read| read.unwrap_err());
    said.sort_by_key(ToString::to_string);
    assert!(
        said.iter().all(|error| matches!(
            error,
            StorageError::Timeout(_) | StorageError::SlowStatement(_) | StorageError::Busy(_)
        )),
        "{said:?}"
    );
}
