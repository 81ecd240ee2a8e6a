//! Who has a database open: what a restore asks before it begins, and a gateway on SQLite before it starts.

use super::*;
use gateway_storage::is_in_use;

#[tokio::test(flavor = "multi_thread")]
async fn a_database_is_in_use_until_the_last_gateway_closes_it() {
    let db = TestDatabase::new(Engine::Postgres).await;
    let other = Database::open(db.settings.clone()).await.unwrap();
    db.database.close().await;
    assert!(is_in_use(&db.settings).await.unwrap());
    other.close().await;
    assert!(!is_in_use(&db.settings).await.unwrap());
    // One that ends without a word is seen by its connection.
    drop(Database::open(db.settings.clone()).await.unwrap());
    eventually("its connection is closed", || async { !is_in_use(&db.settings).await.unwrap() }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_gateway_opens_a_database_that_is_being_restored() {
    let db = TestDatabase::new(Engine::Postgres).await;
    let restore = "INSERT INTO host_gateways SELECT 'restore', clock_timestamp(), pid FROM host_gateways";
    db.write(vec![statement(restore, [])]).await.unwrap();
    let error = Database::open(db.settings.clone()).await.err().unwrap();
    assert_eq!(error, StorageError::Unavailable("it is being restored".into()));
    db.write(vec![statement("DELETE FROM host_gateways WHERE instance = 'restore'", [])]).await.unwrap();
    Database::open(db.settings.clone()).await.unwrap().close().await;
}

/// A restore took it for dead, and locked it out.
#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_does_not_go_on_with_what_was_restored_meanwhile() {
    let db = TestDatabase::with_notes(Engine::Postgres).await;
    let reason = || async {
        match db.forum().commit(last(statement("SELECT 1", []))).await {
            Err(StorageError::Unavailable(reason)) => reason.contains("restart the gateway"),
            _ => false,
        }
    };
    assert!(!reason().await);
    db.write(vec![statement("UPDATE host_gateways SET seen_at = '-infinity'", [])]).await.unwrap();
    eventually("it serves nothing any more", reason).await;
}

/// Two gateways on one file took jobs from each other, and calls to others came twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_sqlite_file_is_for_one_gateway_and_for_commands() {
    let db = TestDatabase::new(Engine::Sqlite).await;
    let gateway = Database::open_as_gateway(db.settings.clone()).await.unwrap();
    let Err(StorageError::Unavailable(reason)) = Database::open_as_gateway(db.settings.clone()).await else {
        panic!("two gateways have the file")
    };
    assert!(reason.contains(&format!("already (process {} on ", std::process::id())), "{reason}");
    Database::open(db.settings.clone()).await.unwrap().close().await;
    gateway.close().await;
    Database::open_as_gateway(db.settings.clone()).await.unwrap().close().await;
}
