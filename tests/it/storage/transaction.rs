//! A transaction from its first statement to its end.

use super::*;
use rstest::rstest;

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn what_is_committed_is_there_and_what_is_rolled_back_is_not(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let db = TestDatabase::with_notes(engine).await;
    let kept = db.forum();
    assert!(!kept.has_begun());
    kept.run(vec![note(1, "one"), note(2, "two")]).await.unwrap();
    assert!(kept.has_begun());
    kept.commit(last(note(3, "three"))).await.unwrap();

    let undone = db.forum();
    undone.run(vec![note(4, "four")]).await.unwrap();
    undone.rollback().await;
    let dropped = db.forum();
    dropped.run(vec![note(5, "five")]).await.unwrap();
    drop(dropped);

    assert_eq!(db.note_ids().await, [1, 2, 3]);
    // The locks of those that did not commit are gone.
    db.write(vec![note(4, "again"), note(5, "again")]).await.unwrap();
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn outcomes_tell_rows_and_changes(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    let transaction = db.forum();
    let outcomes = transaction
        .run(vec![
            statement(
                "INSERT INTO forum_notes (id) VALUES ($2), ($1) RETURNING id, body",
                [Value::Int(1), Value::Int(2)],
            ),
            statement("INSERT INTO forum_notes (id) VALUES (1) ON CONFLICT DO NOTHING", []),
            statement("UPDATE forum_notes SET body = $1 WHERE id < 100", [text("x")]),
            statement("SELECT id, body FROM forum_notes ORDER BY id", []),
            statement("DELETE FROM forum_notes WHERE id = 7 RETURNING id", []),
            statement("WITH old AS (SELECT 1 AS id) DELETE FROM forum_notes WHERE id IN (SELECT id FROM old)", []),
        ])
        .await
        .unwrap();
    let changes: Vec<u64> = outcomes.iter().map(|outcome| outcome.changes).collect();
    assert_eq!(changes, [2, 0, 2, 0, 0, 1]);
    let inserted = &outcomes[0].rows;
    assert_eq!(inserted.columns().unwrap(), ["id", "body"]);
    assert_eq!(values(inserted), [[Value::Int(2), Value::Null], [Value::Int(1), Value::Null]]);
    // A result without rows still names its columns; a statement without result has none.
    assert_eq!(outcomes[4].rows.columns().unwrap(), ["id"]);
    assert!(outcomes[4].rows.is_empty());
    assert!(outcomes[2].rows.columns().unwrap().is_empty());
}

#[rstest]
#[case::constraint(note(1, "twice"), |e: &StorageError| matches!(e, StorageError::Constraint(_)))]
#[case::unknown_column(statement("INSERT INTO forum_notes (nope) VALUES (1)", []), |e: &StorageError| matches!(e, StorageError::Statement(_)))]
#[case::not_allowed(statement("DELETE FROM agents_cards", []), |e: &StorageError| matches!(e, StorageError::Statement(_)))]
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_statement_ends_the_transaction(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
    #[case] bad: Statement,
    #[case] expected: fn(&StorageError) -> bool,
) {
    let db = TestDatabase::with_notes(engine).await;
    db.write(vec![note(1, "one")]).await.unwrap();
    let transaction = db.forum();
    transaction.run(vec![note(2, "two")]).await.unwrap();
    let error = transaction.run(vec![note(3, "three"), bad]).await.unwrap_err();
    assert!(expected(&error), "{error:?}");
    for answer in [
        transaction.run(vec![note(4, "four")]).await,
        transaction.commit(vec![]).await,
        transaction.commit(last(note(5, "five"))).await,
    ] {
        assert!(matches!(answer, Err(StorageError::Closed(_))), "{answer:?}");
    }
    assert_eq!(db.note_ids().await, [1]);
    db.write(vec![note(2, "free again")]).await.unwrap();
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_committed_transaction_is_over(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    let transaction = db.forum();
    transaction.commit(last(note(1, "one"))).await.unwrap();
    let again = transaction.commit(last(note(2, "two"))).await;
    assert!(matches!(again, Err(StorageError::Closed(_))));
    let empty = db.forum();
    assert!(empty.commit(vec![]).await.unwrap().is_empty());
    assert!(!empty.has_begun());
    assert_eq!(db.note_ids().await, [1]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_final_statement_without_its_row_rejects_everything(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let db = TestDatabase::with_notes(engine).await;
    db.write(vec![note(1, "guard")]).await.unwrap();
    let guard = |id: i64| {
        CommitStatement::expecting_row(statement(
            "INSERT INTO forum_notes (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id",
            [Value::Int(id)],
        ))
    };
    let replayed = db.forum();
    replayed.run(vec![note(2, "two")]).await.unwrap();
    let answer = replayed.commit(vec![CommitStatement::new(note(3, "three")), guard(1)]).await;
    assert_eq!(answer.unwrap_err(), StorageError::Rejected(1));
    assert_eq!(db.note_ids().await, [1]);

    let first = db.forum();
    first.run(vec![note(2, "two")]).await.unwrap();
    let outcomes = first.commit(vec![guard(10), CommitStatement::new(note(3, "three"))]).await.unwrap();
    assert_eq!(values(&outcomes[0].rows), [[Value::Int(10)]]);
    assert_eq!(db.note_ids().await, [1, 2, 3, 10]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn the_gateways_last_statements_are_not_bound_to_the_plugins_tables(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let db = TestDatabase::with_notes(engine).await;
    db.write(vec![statement("CREATE TABLE activity (id BIGINT)", [])]).await.unwrap();
    let publish = || statement("INSERT INTO activity (id) VALUES (1)", []);
    let refused = db.forum().run(vec![publish()]).await;
    assert!(matches!(refused, Err(StorageError::Statement(_))));
    let transaction = db.forum();
    transaction.run(vec![note(1, "one")]).await.unwrap();
    transaction.commit(last(publish())).await.unwrap();
    assert_eq!(db.rows("SELECT id FROM activity").await, [[Value::Int(1)]]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_hung_transaction_is_cut_and_the_next_proceeds(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes_tuned(engine, |settings| settings.transaction_idle_ms = 200).await;
    let hung = db.forum();
    hung.run(vec![note(1, "never")]).await.unwrap();
    let started = Instant::now();
    db.forum().commit(last(note(1, "mine"))).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(5));
    let late = hung.commit(vec![]).await;
    assert!(matches!(late, Err(StorageError::Expired(_))), "{late:?}");
    assert_eq!(db.rows("SELECT body FROM forum_notes").await, [[text("mine")]]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn writers_that_wait_leave_room_for_reads(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes_tuned(engine, |settings| {
        settings.pool_max = 4;
        settings.transaction_idle_ms = 9_000;
    })
    .await;
    let holder = db.forum();
    holder.run(vec![note(0, "zero")]).await.unwrap();
    let waiting: Vec<_> = (1..20)
        .map(|id| {
            let transaction = db.forum();
            tokio::spawn(async move { transaction.commit(last(note(id, "next"))).await })
        })
        .collect();
    let started = Instant::now();
    for _ in 0..20 {
        assert!(db.note_ids().await.is_empty());
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    holder.commit(vec![]).await.unwrap();
    for writer in waiting {
        writer.await.unwrap().unwrap();
    }
    assert_eq!(db.note_ids().await.len(), 20);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_busy_transaction_is_cut_by_the_total_limit(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes_tuned(engine, |settings| settings.transaction_timeout_ms = 300).await;
    let busy = db.forum();
    busy.run(vec![note(1, "never")]).await.unwrap();
    let started = Instant::now();
    let error = loop {
        match busy.run(vec![statement("SELECT 1", [])]).await {
            Ok(_) => assert!(started.elapsed() < Duration::from_secs(5), "never cut"),
            Err(error) => break error,
        }
    };
    // The limit may fall into a statement or between two.
    assert!(
        matches!(error, StorageError::Expired(_) | StorageError::Timeout(_) | StorageError::SlowStatement(_)),
        "{error:?}"
    );
    assert!(db.note_ids().await.is_empty());
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn dropping_a_call_rolls_its_transaction_back(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    let transaction = db.forum();
    transaction.run(vec![note(1, "never")]).await.unwrap();
    let call = transaction.run(vec![endless()]);
    let cut = tokio::time::timeout(Duration::from_millis(100), call).await;
    assert!(cut.is_err());
    let started = Instant::now();
    db.write(vec![note(1, "mine")]).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let late = transaction.run(vec![note(2, "late")]).await;
    assert!(matches!(late, Err(StorageError::Closed(_))), "{late:?}");
    assert_eq!(db.note_ids().await, [1]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_takes_too_long_ends_the_transaction(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let db = TestDatabase::with_notes_tuned(engine, |settings| settings.statement_timeout_ms = 200).await;
    let transaction = db.forum();
    transaction.run(vec![note(1, "never")]).await.unwrap();
    let error = transaction.run(vec![endless()]).await.unwrap_err();
    assert_eq!(error, StorageError::SlowStatement(Duration::from_millis(200)));
    db.write(vec![note(1, "mine")]).await.unwrap();
}
