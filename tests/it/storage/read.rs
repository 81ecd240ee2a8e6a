//! Reads outside transactions.

use super::*;
use rstest::rstest;

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_read_sees_only_what_is_committed(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    let transaction = db.forum();
    transaction.run(vec![note(1, "one")]).await.unwrap();
    assert!(db.note_ids().await.is_empty());
    transaction.commit(vec![]).await.unwrap();
    assert_eq!(db.note_ids().await, [1]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_read_does_not_write(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    db.write(vec![note(1, "one")]).await.unwrap();
    for sql in [
        "DELETE FROM forum_notes",
        "INSERT INTO forum_notes (id) VALUES (9) RETURNING id",
        "WITH gone AS (DELETE FROM forum_notes RETURNING id) SELECT id FROM gone",
        "CREATE TABLE forum_x (id BIGINT)",
    ] {
        for scope in [Scope::Host, plugin_scope("forum")] {
            let answer = db.database.read(&scope, statement(sql, [])).await;
            assert!(matches!(answer, Err(StorageError::Statement(_))), "{sql}: {answer:?}");
        }
    }
    assert_eq!(db.note_ids().await, [1]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn dropping_a_read_stops_it(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes_tuned(engine, |settings| {
        settings.read_connections = 1;
        settings.pool_max = 2;
    })
    .await;
    // More of them than there are connections: each has to make room.
    for _ in 0..4 {
        let scope = plugin_scope("forum");
        let read = db.database.read(&scope, endless());
        let cut = tokio::time::timeout(Duration::from_millis(50), read).await;
        assert!(cut.is_err());
    }
    let started = Instant::now();
    assert!(db.note_ids().await.is_empty());
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    if engine == Engine::Postgres {
        // The server noticed too; this statement is the only one that runs.
        eventually("the statements stop on the server", || async {
            let running = db
                .rows(
                    "SELECT count(*) FROM pg_stat_activity
                     WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()",
                )
                .await;
            running == [[Value::Int(0)]]
        })
        .await;
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_takes_too_long_is_stopped(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::tuned(engine, |settings| settings.statement_timeout_ms = 200).await;
    let scope = plugin_scope("forum");
    let error = db.database.read(&scope, endless()).await.unwrap_err();
    assert_eq!(error, StorageError::SlowStatement(Duration::from_millis(200)));
    db.database.probe().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_waits_too_long_for_a_thread_is_answered_in_time() {
    let db = TestDatabase::tuned(Engine::Sqlite, |settings| {
        settings.read_connections = 1;
        settings.statement_timeout_ms = 500;
    })
    .await;
    let read = || async { db.database.read(&Scope::Host, endless()).await.unwrap_err().to_string() };
    let errors: [String; 4] = tokio::join!(read(), read(), read(), read()).into();
    let count = |text: &str| errors.iter().filter(|error| *error == text).count();
    let waited = count("the database is busy: all reader threads have been in use for more than 500ms");
    let slow = count("the database took too long: a statement ran for more than 500ms");
    // Both limits end at about the same moment: one of those that wait may still get the thread.
    assert!(matches!((waited, slow), (3, 1) | (2, 2)), "{errors:?}");
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_is_too_large_is_refused(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    let megabyte = "x".repeat(1024 * 1024);
    db.write(vec![note(1, &megabyte)]).await.unwrap();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
               SELECT body FROM n, forum_notes";
    let answer = db.database.read(&plugin_scope("forum"), statement(sql, [])).await;
    let error = answer.unwrap_err();
    assert!(matches!(&error, StorageError::Statement(text) if text.contains("LIMIT")), "{error:?}");
    let transaction = db.forum();
    let answer = transaction.run(vec![statement(sql, [])]).await;
    assert!(matches!(answer, Err(StorageError::Statement(_))), "{answer:?}");
    assert_eq!(db.note_ids().await, [1]);
}

/// PostgreSQL refuses a cached statement whose table got another shape; the reader must not notice.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_read_survives_a_change_of_the_table(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    db.write(vec![note(1, "one")]).await.unwrap();
    let all = "SELECT * FROM forum_notes";
    assert_eq!(db.rows(all).await[0].len(), 2);
    db.write(vec![statement("ALTER TABLE forum_notes ADD COLUMN extra BIGINT", [])]).await.unwrap();
    for _ in 0..3 {
        assert_eq!(db.rows(all).await, [[Value::Int(1), text("one"), Value::Null]]);
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_closed_database_says_so(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    db.database.probe().await.unwrap();
    db.database.close().await;
    let error = db.database.probe().await.unwrap_err();
    assert!(matches!(error, StorageError::Unavailable(_)), "{error:?}");
    let error = db.forum().run(vec![note(1, "late")]).await.unwrap_err();
    assert!(matches!(error, StorageError::Unavailable(_)), "{error:?}");
}

fn count_to(number: i64) -> Statement {
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) SELECT count(*) FROM n";
    statement(sql, [Value::Int(number)])
}

/// On one thread: a statement that has always been short runs on it, and must leave it when this time it is long.
#[tokio::test]
async fn a_statement_that_turns_long_leaves_the_thread_that_asks() {
    let db = TestDatabase::new(Engine::Sqlite).await;
    let scope = plugin_scope("forum");
    let count = async |number| values(&db.database.read(&scope, count_to(number)).await.unwrap());
    for number in 1..100 {
        assert_eq!(count(number).await, [[Value::Int(number)]]);
    }
    assert_eq!(count(300_000).await, [[Value::Int(300_000)]], "it begins anew, and ends");
    for number in 1..100 {
        assert_eq!(count(number).await, [[Value::Int(number)]]);
    }
    // The timer fires only if this thread is free.
    let endless = db.database.read(&scope, count_to(100_000_000_000));
    assert!(tokio::time::timeout(Duration::from_millis(50), endless).await.is_err());
    assert_eq!(count(7).await, [[Value::Int(7)]]);
}
