//! Acknowledged means durable, once.

use super::*;
use gateway_storage::decode_rows;
use rstest::rstest;
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn what_64_writers_were_told_is_there_after_reopening(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    const WRITERS: i64 = 64;
    const EACH: i64 = 10;
    let mut db = TestDatabase::with_notes(engine).await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let database = db.database.clone();
            tokio::spawn(async move {
                for number in 0..EACH {
                    let transaction = database.begin(plugin_scope("forum"));
                    let id = writer * EACH + number;
                    if number % 2 == 0 {
                        transaction.run(vec![note(id, "body")]).await.unwrap();
                        transaction.commit(vec![]).await.unwrap();
                    } else {
                        transaction.commit(last(note(id, "body"))).await.unwrap();
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    db.reopen().await;
    let expected: Vec<i64> = (0..WRITERS * EACH).collect();
    assert_eq!(db.note_ids().await, expected);
}

#[rstest]
#[tokio::test]
async fn one_statement_of_the_gateway_is_durable_when_it_has_returned(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let mut db = TestDatabase::with_notes(engine).await;
    let insert = statement("INSERT INTO forum_notes (id, body) VALUES (1, 'a'), (2, 'b') RETURNING id", []);
    let inserted = db.database.execute(insert).await.unwrap();
    assert_eq!((inserted.changes, decode_rows::<i64>(&inserted.rows).unwrap()), (2, vec![1, 2]));
    let again = statement("INSERT INTO forum_notes (id, body) VALUES (3, 'c'), (1, 'd')", []);
    let error = db.database.execute(again).await.unwrap_err();
    assert!(matches!(error, StorageError::Constraint(_)), "{error:?}");
    db.reopen().await;
    assert_eq!(db.note_ids().await, [1, 2]);
}

/// Read, decide, write: of concurrent additions none is lost.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn transactions_of_one_plugin_follow_each_other(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    const WRITERS: i64 = 16;
    let db = TestDatabase::with_notes(engine).await;
    db.write(vec![note(0, "counter")]).await.unwrap();
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let transaction = db.forum();
            tokio::spawn(async move {
                let count = statement("SELECT max(id) FROM forum_notes", []);
                let outcomes = transaction.run(vec![count]).await.unwrap();
                let highest = int(&values(&outcomes[0].rows)[0][0]);
                transaction.run(vec![note(highest + 1, "next")]).await.unwrap();
                transaction.commit(vec![]).await.unwrap();
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(db.note_ids().await, (0..=WRITERS).collect::<Vec<_>>());
}

const CHILD: &str = "GATEWAY_TEST_WRITE_UNTIL_KILLED";

/// Not a test of its own: the process that the test below kills. It prints each id after its commit was acknowledged.
#[tokio::test(flavor = "multi_thread")]
async fn write_until_killed() {
    let Ok(url) = std::env::var(CHILD) else {
        return;
    };
    let database = Database::open(DatabaseSettings::new(url)).await.unwrap();
    let writers: Vec<_> = (0..8_i64)
        .map(|writer| {
            let database = database.clone();
            tokio::spawn(async move {
                for number in 0..1_000_000_i64 {
                    let id = writer * 1_000_000 + number;
                    let transaction = database.begin(plugin_scope("forum"));
                    transaction.run(vec![note(id, "body")]).await.unwrap();
                    transaction.commit(vec![]).await.unwrap();
                    println!("acknowledged {id}");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_a_killed_process(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    use secrecy::ExposeSecret;
    const ENOUGH: usize = 200;
    let mut db = TestDatabase::with_notes(engine).await;
    db.database.close().await;
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["storage::commit::write_until_killed", "--exact", "--nocapture"])
        .env(CHILD, db.settings.url.expose_secret())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = BTreeSet::new();
    let mut killed = false;
    // After the kill, its last output is still in the pipe.
    while let Some(Ok(line)) = lines.next() {
        if let Some((_, id)) = line.split_once("acknowledged ")
            && let Ok(id) = id.parse::<i64>()
        {
            acknowledged.insert(id);
        }
        if acknowledged.len() >= ENOUGH && !killed {
            child.kill().unwrap();
            killed = true;
        }
    }
    child.wait().unwrap();
    assert!(killed, "it ended by itself");
    db.reopen().await;
    let found: BTreeSet<i64> = db.note_ids().await.into_iter().collect();
    let lost: Vec<_> = acknowledged.difference(&found).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
}
