//! A restored database says so: payments wait for it (`plugins/x402/tests/it/disabled.rs`).

use super::{Tables, back_up, restore, run, small_setup_on};
use crate::{e2e::Site, storage::Engine};
use gateway_clock::Clock;
use gateway_tests::process::{LIMIT, Setup};
use plugin_testing::json;
use rstest::rstest;
use sqlx::{Connection as _, Executor as _, PgConnection, SqliteConnection};

/// The times of the restores that the database knows.
async fn restores(setup: &Setup) -> Vec<i64> {
    let rows = Tables::read(setup).await;
    let digits = |row: &String| row.trim_matches(['(', ')']).parse().unwrap();
    rows.rows("host_restores").iter().map(digits).collect()
}

/// Makes the database one of a gateway that had no such table.
async fn make_older(setup: &Setup) {
    let text = "DROP VIEW host_activity_retracted_v1; DROP INDEX host_activity_retracted_actor; \
        ALTER TABLE host_activity_retracted DROP COLUMN actor; ALTER TABLE host_activity_retracted DROP COLUMN type; \
        DROP VIEW host_activity_with_retracted_v1; DROP VIEW host_chain_positions_v1; DROP INDEX host_activity_actor_type; \
        ALTER TABLE host_tx_lanes DROP COLUMN blocked_reason; DROP TABLE IF EXISTS host_attempts; DROP TABLE host_restores; DELETE FROM _migrations WHERE plugin = 'host' AND version >= 20";
    if let Some(url) = setup.get("database.url").filter(|url| url.starts_with("postgres")) {
        PgConnection::connect(url).await.unwrap().execute(text).await.unwrap();
    } else {
        let file = format!("sqlite:{}", setup.folder().join("data/gateway.db").display());
        let mut connection = SqliteConnection::connect(&file).await.unwrap();
        connection.execute(text).await.unwrap();
        connection.close().await.unwrap();
    }
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn a_restore_records_its_time(#[case] engine: Engine) {
    let setup = small_setup_on(engine).await;
    let mut gateway = setup.start().await.unwrap();
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
    assert!(restores(&setup).await.is_empty());
    let new = back_up(&setup, "new").await;
    make_older(&setup).await;
    let old = back_up(&setup, "old").await;

    let fresh = small_setup_on(engine).await;
    for (file, flags) in [(old, &[][..]), (new, &["--force"][..])] {
        let before_ms = Clock::System.now_ms();
        let ended = restore(&fresh, &file, flags).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let restored = restores(&fresh).await;
        assert!(restored.len() == 1 && (before_ms..=Clock::System.now_ms()).contains(&restored[0]), "{restored:?}");
        // It is a database like any other.
        let mut gateway = fresh.start().await.unwrap();
        assert!(gateway.terminate(LIMIT).await.unwrap().success());
        assert_eq!(restores(&fresh).await, restored);
    }
    // A backup of it keeps what was, and its restore adds to it.
    let file = back_up(&fresh, "again").await;
    let third = small_setup_on(engine).await;
    assert_eq!(restore(&third, &file, &[]).await.code, Some(0));
    assert_eq!(restores(&third).await.len(), 2);
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn an_operator_records_what_another_program_has_restored(#[case] engine: Engine) {
    let setup = small_setup_on(engine).await;
    let mut gateway = setup.start().await.unwrap();
    let refused = run(&setup, &["mark-restored"]).await;
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.contains("stop it first"), "{refused:?}");
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
    make_older(&setup).await;

    let before_ms = Clock::System.now_ms();
    let ended = run(&setup, &["mark-restored"]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let restored = restores(&setup).await;
    assert!(restored.len() == 1 && (before_ms..=Clock::System.now_ms()).contains(&restored[0]), "{restored:?}");
    let gateway = setup.start().await.unwrap();
    let audit = Site::at(gateway.admin_url()).get("/audit").await.json();
    assert_eq!(audit[0]["action"], json!("mark-restored"), "{audit}");
}
