//! Transactions without triggers, on SQLite: all others run with them.

use super::*;

/// Every row of `forum_notes` is counted, and one is refused.
const TRIGGER: &str = "CREATE TABLE host_seen (id BIGINT NOT NULL); \
     CREATE TRIGGER host_see AFTER INSERT ON forum_notes BEGIN \
     SELECT RAISE(ABORT, 'refused') WHERE NEW.body = 'refused'; INSERT INTO host_seen (id) VALUES (NEW.id); END";

async fn guarded() -> TestDatabase {
    let db = TestDatabase::with_notes(Engine::Sqlite).await;
    db.database.execute_batch(TRIGGER).await.unwrap();
    db
}

async fn seen(db: &TestDatabase) -> Vec<i64> {
    let rows = db.rows("SELECT id FROM host_seen ORDER BY id").await;
    rows.iter().map(|row| int(&row[0])).collect()
}

fn without(db: &TestDatabase) -> Transaction {
    db.database.begin(plugin_scope("forum").unjournaled())
}

#[tokio::test]
async fn they_run_again_after_a_commit() {
    let db = guarded().await;
    // Fast statements run on another thread than those whose speed is not known yet.
    for id in 0..20 {
        let transaction = without(&db);
        transaction.run(vec![note(id, "refused")]).await.unwrap();
        transaction.commit(vec![]).await.unwrap();
    }
    assert!(seen(&db).await.is_empty());
    db.write(vec![note(20, "x")]).await.unwrap();
    assert!(db.write(vec![note(21, "refused")]).await.is_err());
    assert_eq!(seen(&db).await, [20]);
}

#[tokio::test]
async fn they_run_again_after_a_rollback_and_a_failure() {
    let db = guarded().await;
    let transaction = without(&db);
    transaction.run(vec![note(1, "x")]).await.unwrap();
    transaction.rollback().await;
    db.write(vec![note(1, "x")]).await.unwrap();
    let transaction = without(&db);
    transaction.run(vec![note(1, "twice")]).await.unwrap_err();
    db.write(vec![note(2, "x")]).await.unwrap();
    drop(without(&db));
    let transaction = without(&db);
    transaction.run(vec![note(3, "x")]).await.unwrap();
    drop(transaction);
    db.write(vec![note(3, "x")]).await.unwrap();
    assert_eq!(seen(&db).await, [1, 2, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn they_run_for_the_others_of_a_group_and_for_definitions() {
    let db = guarded().await;
    let holder = db.forum();
    holder.run(vec![statement("SELECT 1", [])]).await.unwrap();
    let mut running = Vec::new();
    for id in 0..30 {
        let transaction = Arc::new(if id % 3 == 0 { without(&db) } else { db.forum() });
        let waiting = transaction.clone();
        running.push(tokio::spawn(async move {
            transaction.run(vec![note(id, "x")]).await?;
            transaction.commit(vec![]).await
        }));
        eventually("the call is queued", || async { waiting.has_begun() }).await;
    }
    holder.rollback().await;
    for one in running {
        one.await.unwrap().unwrap();
    }
    let expected: Vec<i64> = (0..30).filter(|id| id % 3 != 0).collect();
    assert_eq!(seen(&db).await, expected);
    let refused = "INSERT INTO forum_notes (id, body) VALUES (99, 'refused')";
    assert!(db.database.execute_batch(refused).await.is_err());
}
