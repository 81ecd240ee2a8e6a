//! What travels together: the statements that open a transaction, those of a call, those of a commit.

use super::*;
use gateway_storage::Isolation;
use rstest::rstest;

/// Inserts a note unless there is one.
fn guard(id: i64) -> CommitStatement {
    let sql = "INSERT INTO forum_notes (id, body) VALUES ($1, 'guard') ON CONFLICT (id) DO NOTHING RETURNING id";
    CommitStatement::expecting_row(statement(sql, [Value::Int(id)]))
}

/// On PostgreSQL the refusal comes with the first statement, on SQLite with the commit.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_opening_leaves_nothing(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    db.write(vec![note(2, "used up")]).await.unwrap();
    let refused = db.forum();
    refused.require(vec![guard(1), guard(2)]);
    let ran = refused.run(vec![note(3, "never")]).await.map(drop);
    let ended = match engine {
        Engine::Sqlite => refused.commit(vec![]).await.map(drop),
        Engine::Postgres => ran,
    };
    assert_eq!(ended, Err(StorageError::Rejected(1)));
    assert_eq!(refused.failed_precondition(), Some(1));
    assert!(matches!(refused.commit(vec![]).await, Err(StorageError::Closed(_))));
    assert_eq!(db.note_ids().await, [2]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn an_opening_counts_without_any_statement(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    let first = db.forum();
    first.require(vec![guard(1)]);
    assert!(first.commit(vec![]).await.unwrap().is_empty());
    let again = db.forum();
    again.require(vec![guard(1)]);
    assert_eq!(again.commit(last(note(2, "never"))).await.unwrap_err(), StorageError::Rejected(0));
    assert_eq!(again.failed_precondition(), Some(0));
    assert_eq!(db.note_ids().await, [1]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn an_opening_goes_before_everything_else(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    let transaction = db.forum();
    transaction.require(vec![guard(1)]);
    transaction.defer(note(2, "deferred")).unwrap();
    let read = statement("SELECT count(*) FROM forum_notes WHERE id >= 2", []);
    let outcomes = transaction.run(vec![read]).await.unwrap();
    assert_eq!((outcomes.len(), values(&outcomes[0].rows)), (1, vec![vec![Value::Int(1)]]));
    transaction.defer(note(3, "deferred")).unwrap();
    let outcomes = transaction.commit(vec![guard(4), CommitStatement::new(note(5, "last"))]).await.unwrap();
    assert_eq!((outcomes.len(), values(&outcomes[0].rows)), (2, vec![vec![Value::Int(4)]]));
    assert_eq!(transaction.failed_precondition(), None);
    assert_eq!(db.note_ids().await, [1, 2, 3, 4, 5]);
}

/// A missing row is a division by zero on the wire, and not every division by zero is a missing row.
#[tokio::test(flavor = "multi_thread")]
async fn a_division_by_zero_of_a_plugin_is_its_own() {
    let db = TestDatabase::with_notes(Engine::Postgres).await;
    let transaction = db.forum();
    transaction.require(vec![guard(1)]);
    let error = transaction.run(vec![statement("SELECT 1 / 0", [])]).await.unwrap_err();
    assert!(matches!(&error, StorageError::Statement(text) if text.contains("22012")), "{error:?}");
    assert_eq!(transaction.failed_precondition(), None);
    assert!(db.note_ids().await.is_empty());
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn an_update_without_a_row_rejects_the_commit(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    db.write(vec![note(1, "one")]).await.unwrap();
    let rename = |id: i64| {
        let sql = "UPDATE forum_notes SET body = 'moved' WHERE id >= $1 RETURNING body;";
        CommitStatement::expecting_row(statement(sql, [Value::Int(id)]))
    };
    let none = db.forum();
    none.run(vec![note(2, "never")]).await.unwrap();
    let answer = none.commit(vec![CommitStatement::new(note(3, "never")), rename(100)]).await;
    assert_eq!(answer.unwrap_err(), StorageError::Rejected(1));
    let both = db.forum();
    both.run(vec![note(2, "two")]).await.unwrap();
    let outcomes = both.commit(vec![rename(1)]).await.unwrap();
    assert_eq!(values(&outcomes[0].rows), [[text("moved")], [text("moved")]]);
    assert_eq!(outcomes[0].changes, 2);
}

/// The commit must not have happened when something before it failed in the same message.
#[rstest]
#[case::constraint(note(1, "twice"))]
#[case::value(statement("INSERT INTO forum_notes (id, body) VALUES (cast($1 AS BIGINT), 'x')", [text("no number")]))]
#[tokio::test(flavor = "multi_thread")]
async fn a_failing_deferred_statement_keeps_the_commit_away(#[case] bad: Statement) {
    let db = TestDatabase::with_notes(Engine::Postgres).await;
    db.write(vec![note(1, "one")]).await.unwrap();
    for begin_before in [false, true] {
        let transaction = db.forum();
        if begin_before {
            transaction.run(vec![note(2, "never")]).await.unwrap();
        }
        transaction.defer(note(3, "never")).unwrap();
        transaction.defer(bad.clone()).unwrap();
        transaction.defer(note(4, "never")).unwrap();
        let error = transaction.commit(last(note(5, "never"))).await.unwrap_err();
        assert!(matches!(error, StorageError::Constraint(_) | StorageError::Statement(_)), "{error:?}");
        assert!(!transaction.has_unknown_outcome());
        assert_eq!(db.note_ids().await, [1]);
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_call_has_more_statements_than_a_connection_keeps(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    const COUNT: i64 = 700;
    let db = TestDatabase::with_notes(engine).await;
    let different = |id: i64| statement(&format!("INSERT INTO forum_notes (id) VALUES ({id})"), []);
    let transaction = db.forum();
    let outcomes = transaction.run((0..COUNT).map(different).collect()).await.unwrap();
    assert!(outcomes.len() == 700 && outcomes.iter().all(|outcome| outcome.changes == 1));
    if engine == Engine::Postgres {
        // The gateway may read the catalogue.
        let kept = transaction.run_as_host(vec![statement("SELECT count(*) FROM pg_prepared_statements", [])]).await;
        let kept = int(&values(&kept.unwrap()[0].rows)[0][0]);
        assert!((1..=256).contains(&kept), "{kept} statements are prepared");
    }
    transaction.commit(vec![]).await.unwrap();
    assert_eq!(db.note_ids().await, (0..COUNT).collect::<Vec<_>>());
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_statement_uses_what_an_earlier_one_defines(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::new(engine).await;
    let insert = |id: i64| statement("INSERT INTO made (id) VALUES ($1)", [Value::Int(id)]);
    db.write(vec![statement("CREATE TABLE made (id BIGINT)", []), insert(1), insert(2)]).await.unwrap();
    assert_eq!(db.rows("SELECT count(*) FROM made").await, [[Value::Int(2)]]);
}

/// A statement that travels with a BEGIN that fails would take effect alone, if the session let it.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_outside_of_a_transaction_does_not_write() {
    let db = TestDatabase::with_notes(Engine::Postgres).await;
    assert_eq!(db.rows("SELECT current_setting('default_transaction_read_only')").await, [[text("on")]]);
    db.write(vec![statement("CREATE SEQUENCE made", [])]).await.unwrap();
    let answer = db.database.read(&Scope::Host, statement("SELECT nextval('made')", [])).await;
    assert!(matches!(answer, Err(StorageError::Unavailable(_))), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_fails_in_the_commit_leaves_the_outcome_unknown() {
    let db = TestDatabase::with_notes(Engine::Postgres).await;
    let end_connection = || statement("SELECT pg_terminate_backend(pg_backend_pid())", []);
    let lost = db.forum();
    lost.run(vec![note(1, "never")]).await.unwrap();
    let error = lost.commit(last(end_connection())).await.unwrap_err();
    assert!(matches!(error, StorageError::Unavailable(_)), "{error:?}");
    assert!(lost.has_unknown_outcome());
    // Before the commit is sent, the outcome is known.
    let known = db.forum();
    known.run(vec![note(1, "never")]).await.unwrap();
    let error = known.run_as_host(vec![end_connection()]).await.unwrap_err();
    assert!(matches!(error, StorageError::Unavailable(_)), "{error:?}");
    assert!(!known.has_unknown_outcome());
    assert!(db.note_ids().await.is_empty());
    db.write(vec![note(1, "one")]).await.unwrap();
}

fn serializable(db: &TestDatabase) -> Transaction {
    db.database.begin(plugin_scope("forum").with_isolation(Isolation::Serializable))
}

/// Each reads what the other writes: one of the two may not be.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_serializable_transactions_that_conflict_one_is_refused() {
    let db = TestDatabase::with_notes(Engine::Postgres).await;
    let count = || statement("SELECT count(*) FROM forum_notes", []);
    let (first, second) = (serializable(&db), serializable(&db));
    first.run(vec![count(), note(1, "first")]).await.unwrap();
    second.run(vec![count(), note(2, "second")]).await.unwrap();
    first.commit(vec![]).await.unwrap();
    let error = second.commit(vec![]).await.unwrap_err();
    assert!(matches!(error, StorageError::Conflict(_)), "{error:?}");
    assert!(second.has_conflict() && !first.has_conflict());
    assert_eq!(db.note_ids().await, [1]);
    let again = serializable(&db);
    again.run(vec![count(), note(2, "second")]).await.unwrap();
    again.commit(vec![]).await.unwrap();
    assert_eq!(db.note_ids().await, [1, 2]);
}

/// Neither by a lock nor by a conflict, although the table is so small that it would be read whole.
#[tokio::test(flavor = "multi_thread")]
async fn serializable_transactions_of_different_rows_do_not_meet() {
    let db = TestDatabase::with_notes(Engine::Postgres).await;
    db.write(vec![note(1, "one"), note(1_000_000, "two")]).await.unwrap();
    let rewrite = |id: i64| {
        let read = statement("SELECT body FROM forum_notes WHERE id = $1", [Value::Int(id)]);
        vec![read, statement("UPDATE forum_notes SET body = 'new' WHERE id = $1", [Value::Int(id)])]
    };
    let open = serializable(&db);
    open.run(rewrite(1)).await.unwrap();
    let started = Instant::now();
    let other = serializable(&db);
    other.run(rewrite(1_000_000)).await.unwrap();
    other.commit(vec![]).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(5), "it waited {:?}", started.elapsed());
    open.commit(vec![]).await.unwrap();
}

/// As behind a pooler that knows no prepared statements.
#[tokio::test(flavor = "multi_thread")]
async fn statements_need_not_be_prepared() {
    let db = TestDatabase::with_notes_tuned(Engine::Postgres, |settings| settings.prepared = false).await;
    let transaction = db.forum();
    transaction.require(vec![guard(1)]);
    let insert = "INSERT INTO forum_notes (id, body) VALUES ($1, $2) RETURNING id, body";
    let outcomes = transaction.run(vec![statement(insert, [Value::Int(2), Value::Null])]).await.unwrap();
    assert_eq!(values(&outcomes[0].rows), [[Value::Int(2), Value::Null]]);
    assert_eq!(outcomes[0].rows.columns().unwrap(), ["id", "body"]);
    let kept = transaction.run_as_host(vec![statement("SELECT count(*) FROM pg_prepared_statements", [])]).await;
    assert_eq!(values(&kept.unwrap()[0].rows), [[Value::Int(0)]]);
    transaction.commit(vec![]).await.unwrap();
    let refused = db.forum();
    refused.require(vec![guard(1)]);
    assert_eq!(refused.run(vec![note(3, "never")]).await.unwrap_err(), StorageError::Rejected(0));
    assert_eq!(db.note_ids().await, [1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_listens_is_notified() {
    let db = TestDatabase::tuned(Engine::Postgres, |settings| settings.listen_url = Some(settings.url.clone())).await;
    let mut listener = db.database.listen("some channel").await.unwrap();
    db.database.notify("some channel").await;
    assert!(tokio::time::timeout(Duration::from_secs(10), listener.next()).await.unwrap());
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn nobody_listens_without_an_url_for_it(#[values(None, Some(""))] listen_url: Option<&str>) {
    let tuned = TestDatabase::tuned(Engine::Postgres, |settings| settings.listen_url = listen_url.map(Into::into));
    assert!(tuned.await.database.listen("some channel").await.is_none());
}
