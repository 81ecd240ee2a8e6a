//! Who has a database open: what a restore asks before it begins, a gateway on SQLite before it starts, and an operator of several
//! gateways.

use super::*;
use gateway_storage::{GatewayDescription, RegisteredGateway, is_in_use};

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

fn description(name: &str, state: &str) -> GatewayDescription {
    let plugins = [(r#"it's "odd\"#.to_owned(), state.to_owned())].into();
    GatewayDescription { name: name.to_owned(), version: "1.2.3".to_owned(), plugins }
}

async fn listed(database: &Database) -> Vec<RegisteredGateway> {
    database.registered_gateways().await.unwrap()
}

async fn open_described(db: &TestDatabase, name: &str) -> Database {
    let database = Database::open(db.settings.clone()).await.unwrap();
    database.describe_gateway(description(name, "serving"));
    eventually("it is listed", || async {
        listed(&db.database).await.iter().any(|gateway| gateway.description.name == name)
    })
    .await;
    database
}

#[tokio::test(flavor = "multi_thread")]
async fn gateways_tell_each_other_what_they_are() {
    let db = TestDatabase::new(Engine::Postgres).await;
    assert!(listed(&db.database).await.is_empty(), "a command tells nothing of itself");
    let (first, second) = (open_described(&db, r"a\'b:1").await, open_described(&db, "c:1").await);
    let all = listed(&second).await;
    let descriptions: Vec<&GatewayDescription> = all.iter().map(|gateway| &gateway.description).collect();
    assert_eq!(descriptions, [&description(r"a\'b:1", "serving"), &description("c:1", "serving")]);
    assert_eq!((all[0].is_this, all[1].is_this), (false, true));
    for gateway in &all {
        assert!(
            !gateway.is_silent && gateway.since_ms <= gateway.seen_ms && gateway.seen_ago_ms < 15_000,
            "{gateway:?}"
        );
    }

    let changed = Instant::now();
    first.describe_gateway(description(r"a\'b:1", "fenced"));
    let is_told = || async { listed(&second).await[0].description == description(r"a\'b:1", "fenced") };
    eventually("the change is told", is_told).await;
    assert!(changed.elapsed() < Duration::from_millis(1_500), "it waited for the heartbeat: {:?}", changed.elapsed());
    first.close().await;
    assert_eq!(listed(&second).await.len(), 1, "who leaves is not listed any more");
}

/// Times are the database's, whose clock the test moves by moving the row.
#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_says_nothing_is_silent_and_later_forgotten() {
    let db = TestDatabase::new(Engine::Postgres).await;
    drop(open_described(&db, "dead:1").await);
    let after = async |ago: &str| {
        let update =
            format!("UPDATE host_gateways SET seen_at = clock_timestamp() - interval '{ago}' WHERE name = 'dead:1'");
        db.write(vec![statement(&update, [])]).await.unwrap();
        listed(&db.database).await
    };
    eventually("its last heartbeat is over", || async { after("16 seconds").await[0].is_silent }).await;
    assert!((16_000..60_000).contains(&listed(&db.database).await[0].seen_ago_ms));
    assert!(!after("14 seconds").await[0].is_silent);
    assert!(after("61 minutes").await.is_empty(), "it is listed for an hour");
    let rows = async || {
        Database::open(db.settings.clone()).await.unwrap().close().await;
        int(&db.rows("SELECT count(*) FROM host_gateways WHERE name = 'dead:1'").await[0][0])
    };
    assert_eq!(rows().await, 1);
    after("25 hours").await;
    assert_eq!(rows().await, 0, "the next gateway deletes it");
}

/// One that stands still, or whose machine is away, has its connection; one that leaves has no row.
#[tokio::test(flavor = "multi_thread")]
async fn the_others_learn_of_a_gateway_that_ended_without_a_word() {
    let db = TestDatabase::new(Engine::Postgres).await;
    let stands_still = "INSERT INTO host_gateways (instance, seen_at, pid)
        SELECT 'still', clock_timestamp() - interval '1 minute', pid FROM host_gateways";
    db.write(vec![statement(stands_still, [])]).await.unwrap();
    let (leaves, ends) =
        (Database::open(db.settings.clone()).await.unwrap(), Database::open(db.settings.clone()).await.unwrap());
    let instance = ends.gateway_instance().unwrap().to_owned();
    leaves.close().await;
    drop(ends);
    let ended = db.database.ended_gateways().unwrap();
    eventually("it is known", || async { ended.borrow().contains(&instance) }).await;
    assert_eq!(ended.borrow().len(), 1, "{:?}", ended.borrow());
}

/// Before they do so.
#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_learns_that_the_others_may_take_it_for_ended() {
    let db = TestDatabase::new(Engine::Postgres).await;
    let while_it_is_heard = tokio::time::timeout(Duration::from_secs(7), db.database.absence()).await;
    assert!(while_it_is_heard.is_err());
    // Its heartbeats find no row any more.
    db.write(vec![statement("UPDATE host_gateways SET seen_at = '-infinity'", [])]).await.unwrap();
    tokio::time::timeout(Duration::from_secs(7), db.database.absence()).await.unwrap();
}

/// It may have been asleep: if its row were deleted, it would come back with the next heartbeat.
#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_was_locked_out_stays_so_when_others_come() {
    let db = TestDatabase::new(Engine::Postgres).await;
    drop(open_described(&db, "asleep:1").await);
    let lock_out = "UPDATE host_gateways SET seen_at = '-infinity' WHERE name = 'asleep:1'";
    let locked_out = "SELECT count(*) FROM host_gateways WHERE name = 'asleep:1' AND seen_at = '-infinity'";
    db.write(vec![statement(lock_out, [])]).await.unwrap();
    Database::open(db.settings.clone()).await.unwrap().close().await;
    assert_eq!(int(&db.rows(locked_out).await[0][0]), 1);
}

/// An earlier version made the table without what gateways tell; one that runs goes on when it is there.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_an_earlier_version_gets_what_it_lacks() {
    let db = TestDatabase::new(Engine::Postgres).await;
    let first = open_described(&db, "a:1").await;
    let drop_columns =
        ["opened_at", "name", "version", "plugins"].map(|column| format!("DROP COLUMN {column}")).join(", ");
    db.database.execute_batch(&format!("ALTER TABLE host_gateways {drop_columns}")).await.unwrap();
    let second = open_described(&db, "b:1").await;
    eventually("the first tells again", || async { listed(&second).await.len() == 2 }).await;
    first.close().await;
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
