//! A data folder of an earlier version, brought up to date: nothing that it holds is lost, and no signature counts twice.

use super::*;
use gateway::{migrations::migrations, views::views};
use plugin_testing::{TestGateway, Wallet, json};
use rstest::rstest;

/// The gateway's own migrations before guards were ordered by time.
const BEFORE: usize = 7;
const ALICE: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

impl TestDatabase {
    pub async fn migrate_host(&self, count: usize) -> Vec<u32> {
        let (own, views) = (migrations(), views());
        let schema = MigrationSet { scope: &Scope::Host, views: &views, migrations: &own[..count.min(own.len())] };
        self.database.migrate(&schema).await.unwrap().applied
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn the_tables_of_the_gateway_keep_their_rows(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::new(engine).await;
    db.migrate_host(BEFORE).await;
    let event = |kind: &str, key: &str| {
        let insert = "INSERT INTO host_activity (type, ts, actor, ref_kind, ref_id, data, unique_key) \
                      VALUES ($1, 7, $2, 'thread', '9', '{\"a\":1}', $3)";
        statement(insert, [text(kind), text(ALICE), if key.is_empty() { Value::Null } else { text(key) }])
    };
    let guard = "INSERT INTO host_replay_guard (address, digest, remember_until_s) VALUES ($1, 'd', 99)";
    let slot = "INSERT INTO host_write_slots (address, last_ms) VALUES ($1, 5)";
    let old = vec![
        event("a.b", ""),
        event("a.c", "key"),
        event("a.d", ""),
        statement(guard, [text(ALICE)]),
        statement(slot, [text(ALICE)]),
    ];
    db.write(old).await.unwrap();
    // Plugins have views of the log's view.
    db.database.execute_batch("CREATE VIEW forum_v1 AS SELECT id FROM host_activity_v1").await.unwrap();
    let log = "SELECT id, type, ts, actor, ref_kind, ref_id, data FROM host_activity_v1 ORDER BY id";
    let before = db.rows(log).await;

    let applied = db.migrate_host(usize::MAX).await;
    assert_eq!(applied.len(), migrations().len() - BEFORE);
    assert_eq!(db.rows(log).await, before);
    assert_eq!(db.rows("SELECT id FROM forum_v1").await.len(), before.len());
    assert_eq!(
        db.rows("SELECT address, digest, remember_until_s FROM host_replay_guard_1").await,
        [[text(ALICE), text("d"), Value::Int(99)]]
    );
    assert_eq!(db.rows("SELECT address, last_ms FROM host_write_slots").await, [[text(ALICE), Value::Int(5)]]);
    // Ids go on, and a key is still used once.
    let again = "INSERT INTO host_activity (type, ts, data, unique_key) VALUES ('a.e', 8, '{}', $1) \
                 ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING RETURNING id";
    let inserted = db.write(vec![statement(again, [text("key")]), statement(again, [Value::Null])]).await.unwrap();
    assert!(inserted[0].rows.is_empty());
    assert!(int(&values(&inserted[1].rows)[0][0]) > 3, "{:?}", values(&inserted[1].rows));
}

#[tokio::test]
async fn a_signature_of_an_earlier_version_is_refused() {
    for gateway in TestGateway::each_database(&[hello::plugin_module()]).await {
        let sign = async |wallet: &Wallet| {
            gateway.post_signed("/api/hello/guests", wallet, "hello.sign", json!({ "message": "again" })).await
        };
        let wallet = Wallet::new(1);
        assert_eq!(sign(&wallet).await.status, 201);
        let earlier = "INSERT INTO host_replay_guard_1 SELECT address, digest, remember_until_s FROM host_replay_guard";
        gateway.execute(earlier).await;
        gateway.execute("DELETE FROM host_replay_guard").await;
        gateway.execute("DELETE FROM host_write_slots").await;
        // The same second, so the same text and signature.
        let replayed = sign(&wallet).await;
        assert_eq!((replayed.status, replayed.code().as_str()), (409, "replay"), "{}", replayed.text());
        gateway.stop().await;
    }
}
