//! A write that was acknowledged is in every answer to a request that begins afterwards.

use super::{NOTES, add_note, builder, count, notebook, test_gateway};
use crate::storage::Engine;
use gateway_tests::postgres;
use plugin_testing::TestGateway;
use rstest::rstest;
use sqlx::{Connection as _, Executor as _};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering::SeqCst},
    },
    time::Duration,
};

#[rstest]
#[case(Engine::Sqlite, 1_000)]
#[case(Engine::Postgres, 200)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_after_each_of_many_writes_sees_it(#[case] engine: Engine, #[case] writes: i64) {
    let gateway = test_gateway(engine).await;
    let mut tag = gateway.get(NOTES).await.header("etag").to_owned();
    for number in 1..=writes {
        add_note(&gateway, "one more").await;
        // Twice: the second response comes from the cache, and must be as new.
        for _ in 0..2 {
            let list = gateway.send("GET", NOTES, &[("if-none-match", &tag)], "").await;
            assert_eq!(count(&list), number);
            let next = list.header("etag").to_owned();
            assert!(!next.is_empty() && next != tag);
            let again = gateway.send("GET", NOTES, &[("if-none-match", &next)], "").await;
            assert_eq!((again.status, again.body.len()), (304, 0));
        }
        tag = gateway.get(NOTES).await.header("etag").to_owned();
    }
    gateway.stop().await;
}

/// Writers record what was acknowledged. A reader notes that before its request; the response must be at least as new.
async fn write_and_read_at_once(gateways: Vec<Arc<TestGateway>>, writes_of_each: i64) {
    let acknowledged = Arc::new(AtomicI64::new(0));
    let done = Arc::new(AtomicBool::new(false));
    let writer = |gateway: Arc<TestGateway>| {
        let acknowledged = acknowledged.clone();
        tokio::spawn(async move {
            for _ in 0..writes_of_each {
                add_note(&gateway, "x").await;
                acknowledged.fetch_add(1, SeqCst);
            }
        })
    };
    let reader = |gateway: Arc<TestGateway>| {
        let (acknowledged, done) = (acknowledged.clone(), done.clone());
        tokio::spawn(async move {
            let (mut reads, mut seen, mut changes, mut tag) = (0, -1, 0, String::new());
            while !done.load(SeqCst) {
                let at_least = acknowledged.load(SeqCst).max(seen);
                let list = gateway.get(NOTES).await;
                let now = count(&list);
                assert!(now >= at_least, "{now} notes after {at_least} were acknowledged or seen");
                assert_eq!(list.json()["last"], now);
                // The tag follows the bytes.
                assert_eq!(now == seen, list.header("etag") == tag, "{now} {seen} {tag}");
                changes += i64::from(now != seen);
                (reads, seen, tag) = (reads + 1, now, list.header("etag").to_owned());
                tokio::task::yield_now().await;
            }
            (reads, changes)
        })
    };
    let readers: Vec<_> = gateways.iter().chain(&gateways).cloned().map(reader).collect();
    let writers: Vec<_> = gateways.iter().chain(&gateways).cloned().map(writer).collect();
    let expected = writes_of_each * i64::try_from(writers.len()).unwrap();
    for writer in writers {
        writer.await.unwrap();
    }
    done.store(true, SeqCst);
    for reader in readers {
        let (reads, changes) = reader.await.unwrap();
        assert!(reads > 10 && changes > 1, "{reads} reads saw {changes} states");
    }
    for gateway in gateways {
        assert_eq!(count(&gateway.get(NOTES).await), expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_reader_gets_an_older_list_than_what_was_acknowledged_before() {
    write_and_read_at_once(vec![Arc::new(test_gateway(Engine::Sqlite).await)], 500).await;
}

pub async fn replicas() -> Vec<Arc<TestGateway>> {
    let url = postgres::fresh_database().await.unwrap();
    let mut gateways = Vec::new();
    for _ in 0..2 {
        let builder = TestGateway::builder().plugin(notebook::plugin_module());
        let builder = builder.configure(|config| config.database.url = Some(url.clone().into()));
        gateways.push(Arc::new(builder.start().await));
    }
    gateways
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_reader_of_two_replicas_gets_an_older_list_than_what_was_acknowledged_before() {
    let gateways = replicas().await;
    // Both compact the rows of changes meanwhile, as often as there are enough of them.
    let compact = |gateway: &Arc<TestGateway>| {
        let gateway = gateway.clone();
        tokio::spawn(async move {
            loop {
                gateway.gateway().database.compact_versions().await.unwrap();
                tokio::task::yield_now().await;
            }
        })
    };
    let compactions: Vec<_> = gateways.iter().map(compact).collect();
    write_and_read_at_once(gateways.clone(), 100).await;
    for compaction in compactions {
        compaction.abort();
        assert!(compaction.await.unwrap_err().is_cancelled(), "no compaction failed");
    }
    let compacted = gateways[0].rows("SELECT version FROM host_versions WHERE owner = 'notebook'").await;
    assert_eq!(compacted.len(), 1, "there was a compaction while they wrote: {compacted:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_alternates_between_replicas_sees_each_of_its_writes() {
    let gateways = replicas().await;
    for number in 1..=200_usize {
        let (here, there) = (&gateways[number % 2], &gateways[(number + 1) % 2]);
        add_note(here, "x").await;
        let (one, other) = (there.get(NOTES).await, here.get(NOTES).await);
        assert_eq!(count(&one), i64::try_from(number).unwrap());
        assert_eq!((&one.body, one.header("etag")), (&other.body, other.header("etag")));
        let known = there.send("GET", NOTES, &[("if-none-match", other.header("etag"))], "").await;
        assert_eq!(known.status, 304);
    }
}

#[tokio::test]
async fn a_write_of_another_process_is_noticed() {
    let gateway = builder(Engine::Sqlite).await.start().await;
    assert_eq!(count(&gateway.get(NOTES).await), 0);
    let file = gateway.gateway().config.data_dir.join("gateway.db");
    let mut other = sqlx::SqliteConnection::connect(&format!("sqlite:{}", file.display())).await.unwrap();
    other.execute("INSERT INTO notebook_notes (body) VALUES ('from outside')").await.unwrap();
    let is_seen = async || count(&gateway.get(NOTES).await) == 1;
    TestGateway::eventually(Duration::from_secs(60), "the other's note is in the list", is_seen).await;
    other.close().await.unwrap();
    gateway.stop().await;
}
