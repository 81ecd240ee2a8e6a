//! Statements that have been fast run on the calling thread, by the same rules as on the writer thread.

use super::*;
use rstest::rstest;

const GUARD: &str = "INSERT INTO forum_notes (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id";

fn guard(id: i64) -> CommitStatement {
    CommitStatement::expecting_row(statement(GUARD, [Value::Int(id)]))
}

/// Runs the statements of these tests until they are known to be fast, and leaves no rows.
async fn with_known_statements(engine: Engine) -> TestDatabase {
    let db = TestDatabase::with_notes(engine).await;
    for _ in 0..40 {
        let transaction = db.forum();
        transaction.run(vec![note(-1, "x")]).await.unwrap();
        transaction
            .commit(vec![guard(-2), CommitStatement::new(statement("DELETE FROM forum_notes", []))])
            .await
            .unwrap();
    }
    db
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_are_told_the_truth(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = with_known_statements(engine).await;
    db.write(vec![note(-1, "taken")]).await.unwrap();
    let one = async |id: i64| {
        let transaction = db.forum();
        let ran = transaction.run(vec![note(id, "x")]).await;
        match id % 5 {
            // A key that is taken, in the handler's own statement.
            0 => transaction.run(vec![note(-1, "twice")]).await.map(drop),
            // A guard that was used, in the gateway's last statements.
            1 => transaction.commit(vec![guard(-1)]).await.map(drop),
            // The caller changes its mind.
            2 => {
                transaction.rollback().await;
                Err(StorageError::Rejected(0))
            }
            3 => transaction.commit(vec![guard(1000 + id)]).await.map(drop),
            _ => transaction.commit(vec![]).await.map(drop),
        }
        .and(ran.map(drop))
    };
    let answers = futures_util::future::join_all((0..200).map(one)).await;
    let kept = db.note_ids().await;
    for (id, answer) in (0..).zip(&answers) {
        assert_eq!(answer.is_ok(), id % 5 > 2, "{id}: {answer:?}");
        assert_eq!(kept.contains(&id), answer.is_ok(), "{id}: {answer:?}");
        assert_eq!(kept.contains(&(1000 + id)), id % 5 == 3, "the guard of {id}");
    }
}

/// Dropping a transaction between two calls must release the write lock for the next one.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_is_dropped_leaves_no_trace(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = with_known_statements(engine).await;
    for id in 0..20 {
        let dropped = db.forum();
        dropped.run(vec![note(id, "never")]).await.unwrap();
        let waiting = db.forum();
        let next = waiting.run(vec![note(100 + id, "kept")]);
        let (ran, ()) = tokio::join!(next, async { drop(dropped) });
        ran.unwrap();
        waiting.commit(vec![]).await.unwrap();
    }
    assert_eq!(db.note_ids().await, (100..120).collect::<Vec<_>>());
}

/// A transaction may have to request the commit of its group: when it is dropped at that point, the others must not
/// wait.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_that_nobody_waits_for_are_made(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = with_known_statements(engine).await;
    for id in 0..50 {
        let left = db.forum();
        left.run(vec![note(id, "maybe")]).await.unwrap();
        // Polled once: its work is done, and its answer not awaited.
        let polled = futures_util::FutureExt::now_or_never(left.commit(vec![]));
        assert!(polled.is_none_or(|answer| answer.is_ok()));
        db.write(vec![note(100 + id, "kept")]).await.unwrap();
    }
    let kept = db.note_ids().await;
    assert!((100..150).all(|id| kept.contains(&id)), "{kept:?}");
}
