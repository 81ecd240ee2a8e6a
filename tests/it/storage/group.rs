//! Transactions that share one commit on SQLite: each gets its own result.

use super::*;
use rstest::rstest;

/// Each result with the id of the note that its transaction inserted.
type GroupResults = Vec<(i64, Result<Vec<StatementResult>, StorageError>)>;

/// Lets all transactions wait behind one that holds the writer, so that they are served together.
async fn together(db: &TestDatabase, members: Vec<(i64, Vec<Statement>)>) -> GroupResults {
    let holder = db.forum();
    holder.run(vec![statement("SELECT 1", [])]).await.unwrap();
    let mut running = Vec::new();
    for (id, statements) in members {
        let last = statements.into_iter().map(CommitStatement::new).collect();
        let commit = |transaction: Arc<Transaction>| async move { transaction.commit(last).await };
        running.push((id, queued(db.database.begin(Scope::Host), commit).await));
    }
    holder.rollback().await;
    let mut results = Vec::new();
    for (id, task) in running {
        results.push((id, task.await.unwrap()));
    }
    results
}

/// Starts the call and waits until it is queued for the writer.
async fn queued<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    transaction: Transaction,
    call: impl FnOnce(Arc<Transaction>) -> F,
) -> tokio::task::JoinHandle<T> {
    let transaction = Arc::new(transaction);
    let task = tokio::spawn(call(Arc::clone(&transaction)));
    eventually("the call is queued", || async { transaction.has_begun() }).await;
    task
}

/// The rule: an acknowledged write is stored, and any other is not.
async fn assert_consistent(db: &TestDatabase, results: &GroupResults) {
    let found = db.note_ids().await;
    for (id, result) in results {
        assert_eq!(found.contains(id), result.is_ok(), "note {id}: {result:?}");
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_failing_member_does_not_hurt_the_others(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    let members = (0..40)
        .map(|id| match id % 4 {
            0 => (id, vec![note(id, "x"), note(id, "twice")]),
            1 => (id, vec![note(id, "x"), statement("SELECT nope", [])]),
            _ => (id, vec![note(id, "x")]),
        })
        .collect();
    let results = together(&db, members).await;
    for (id, result) in &results {
        assert_eq!(result.is_ok(), id % 4 > 1, "{id}: {result:?}");
    }
    assert_consistent(&db, &results).await;
}

/// Runs rounds of one bad member between good ones until a good one went down with the bad one.
async fn until_neighbours_fail(db: &TestDatabase, bad: impl Fn(i64) -> Vec<Statement>) {
    for round in 0..50_i64 {
        let first = 1000 + round * 10;
        let members = (first..first + 5)
            .map(|id| match id - first {
                2 => (id, bad(id)),
                _ => (id, vec![note(id, "good")]),
            })
            .collect();
        let results = together(db, members).await;
        assert_consistent(db, &results).await;
        assert!(results[2].1.is_err());
        let failed: Vec<_> = results.iter().filter_map(|(_, result)| result.as_ref().err()).collect();
        if failed.len() > 1 {
            let neighbour = results.iter().find(|(id, result)| *id != first + 2 && result.is_err());
            let error = neighbour.unwrap().1.as_ref().unwrap_err();
            assert!(matches!(error, StorageError::Unavailable(_)), "{error:?}");
            // The writer continues by itself.
            db.write(vec![note(first + 9, "after")]).await.unwrap();
            return;
        }
    }
    panic!("the members never shared a commit");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_fails_fails_for_every_member() {
    let db = TestDatabase::with_notes(Engine::Sqlite).await;
    // Migrations refuse such a table, because its constraint fails at COMMIT.
    db.write(vec![statement(
        "CREATE TABLE forum_children (note BIGINT REFERENCES forum_notes (id) DEFERRABLE INITIALLY DEFERRED)",
        [],
    )])
    .await
    .unwrap();
    until_neighbours_fail(&db, |id| {
        vec![note(id, "bad"), statement("INSERT INTO forum_children (note) VALUES (-1)", [])]
    })
    .await;
}

/// SQLite rolls back the whole transaction by itself when the file cannot grow: the members that were served before in
/// the same group have lost their work although each of their statements succeeded.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_fails_every_member_of_the_group() {
    let db = TestDatabase::with_notes(Engine::Sqlite).await;
    db.write(vec![statement("PRAGMA max_page_count = 60", [])]).await.unwrap();
    let large = "x".repeat(1024 * 1024);
    until_neighbours_fail(&db, |id| vec![note(id, &large)]).await;
    // Space comes back: no restart is needed.
    let error = db.write(vec![note(1, &large)]).await.unwrap_err();
    assert!(matches!(error, StorageError::Unavailable(_)), "{error:?}");
    db.write(vec![statement("PRAGMA max_page_count = 100000", [])]).await.unwrap();
    db.write(vec![note(1, &large)]).await.unwrap();
}

/// A write that is stopped by its time limit makes SQLite roll back everything as well.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_write_fails_every_member_of_the_group() {
    let db = TestDatabase::with_notes_tuned(Engine::Sqlite, |settings| settings.statement_timeout_ms = 300).await;
    until_neighbours_fail(&db, |id| {
        vec![
            note(id, "bad"),
            statement(
                "INSERT INTO forum_notes (id)
                 WITH RECURSIVE n(i) AS (SELECT 100000 UNION ALL SELECT i + 1 FROM n)
                 SELECT i FROM n",
                [],
            ),
        ]
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_whose_caller_left_does_not_hurt_the_others() {
    let db = TestDatabase::with_notes(Engine::Sqlite).await;
    let holder = db.forum();
    holder.run(vec![note(1, "one")]).await.unwrap();
    let left = db.forum();
    let call = left.commit(last(note(2, "never")));
    assert!(tokio::time::timeout(Duration::from_millis(20), call).await.is_err());
    let stays = db.forum();
    let call = tokio::spawn(async move { stays.commit(last(note(3, "three"))).await });
    holder.commit(vec![]).await.unwrap();
    call.await.unwrap().unwrap();
    assert_eq!(db.note_ids().await, [1, 3]);
}

/// Stopping its write at once would make SQLite roll back the whole group: it is finished, then undone.
#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_leaves_during_its_write_does_not_hurt_the_others() {
    let db = TestDatabase::with_notes(Engine::Sqlite).await;
    let holder = db.forum();
    holder.run(vec![note(1, "one")]).await.unwrap();
    let commit = |stays: Arc<Transaction>| async move { stays.commit(last(note(2, "two"))).await };
    let stays = queued(db.forum(), commit).await;
    let long = statement(
        "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 1500000)
         INSERT INTO forum_notes (id) SELECT i FROM n",
        [],
    );
    let run = |leaves: Arc<Transaction>| async move {
        let call = leaves.run(vec![long]);
        tokio::time::timeout(Duration::from_millis(200), call).await
    };
    let leaves = queued(db.forum(), run).await;
    holder.commit(vec![]).await.unwrap();
    let left = leaves.await.unwrap();
    assert!(left.is_err(), "the write was too short for this test");
    stays.await.unwrap().unwrap();
    assert_eq!(db.note_ids().await, [1, 2]);
}
