//! Every committed event has one position, without gaps, and appears in the order of positions. The same on both databases.

use super::{Engine, LogDatabase, Scope, assert_dense, named, statement, text};
use crate::crash::Dice;
use futures_util::future::join_all;
use plugin_api::abi::Value;
use rstest::rstest;
use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

const WRITERS: u64 = 64;
const TRANSACTIONS: u64 = 4;
/// The gateway's own migrations before events had an outbox.
const BEFORE_OUTBOX: usize = 17;

/// Writes in transactions of one to three events, some of which are rolled back. Returns the names of the committed ones.
async fn write_many(database: &LogDatabase, writer: u64, mut dice: Dice) -> Vec<String> {
    let mut committed = Vec::new();
    for turn in 0..TRANSACTIONS {
        let names: Vec<String> = (0..=dice.below(3)).map(|nth| format!("{writer}.{turn}.{nth}")).collect();
        let transaction = database.db.database.begin(Scope::Host);
        for name in &names {
            transaction.run(vec![database.event(name, None)]).await.unwrap();
        }
        if dice.below(3) == 0 {
            transaction.rollback().await;
            continue;
        }
        transaction.commit(Vec::new()).await.unwrap();
        database.log.notify_written();
        committed.extend(names);
    }
    committed
}

/// Reads row after row, each time from the position of the last one, until `is_over` and nothing more comes.
async fn read_one_by_one(database: &LogDatabase, is_over: &AtomicBool) -> Vec<i64> {
    let (mut seen, mut wake) = (Vec::new(), database.log.subscribe());
    loop {
        let was_over = is_over.load(Relaxed);
        let position = seen.last().copied().unwrap_or_default();
        match database.log.rows_after(position).await.unwrap().first() {
            Some(row) => seen.push(row.id),
            None if was_over => return seen,
            // Woken, or not: it looks again soon.
            None => drop(tokio::time::timeout(Duration::from_millis(20), wake.changed()).await),
        }
    }
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_resumes_at_any_position_misses_nothing_while_many_write(#[case] engine: Engine) {
    let database = LogDatabase::new(engine).await;
    let sequencing = LogDatabase::sequencing(&database.log, "one");
    let dice = Dice::new();
    // On SQLite it would be the only writer.
    let late = (engine == Engine::Postgres).then(|| database.db.database.begin(Scope::Host));
    if let Some(late) = &late {
        late.run(vec![database.event("late", None)]).await.unwrap();
    }
    let is_over = AtomicBool::new(false);
    let writes = async {
        let writers = (0..WRITERS).map(|writer| write_many(&database, writer, dice.fork(writer)));
        let mut committed = join_all(writers).await.concat();
        if let Some(late) = late {
            // Its place in the outbox is before those of all others, which are public by now.
            database.until_logged(committed.len()).await;
            late.commit(Vec::new()).await.unwrap();
            database.log.notify_written();
            committed.push("late".to_owned());
        }
        let logged = database.until_logged(committed.len()).await;
        is_over.store(true, Relaxed);
        (committed, logged)
    };
    let ((committed, logged), seen) = tokio::join!(writes, read_one_by_one(&database, &is_over));

    assert_dense(&logged, 1);
    assert!(
        engine == Engine::Sqlite || named(&logged).last() == Some(&"late"),
        "it is in the log after what was public before"
    );
    let names: BTreeSet<&str> = named(&logged).into_iter().collect();
    assert_eq!(names.len(), logged.len(), "an event is there twice");
    assert_eq!(names, committed.iter().map(String::as_str).collect());
    let positions: Vec<i64> = logged.iter().map(|(position, _)| *position).collect();
    assert_eq!(seen, positions, "a row appeared behind a reader");
    for (position, _) in &logged {
        let rest: Vec<i64> = database.log.rows_after(*position).await.unwrap().iter().map(|row| row.id).collect();
        let expected = positions.iter().copied().filter(|other| other > position).take(500);
        assert_eq!(rest, expected.collect::<Vec<_>>(), "after {position}");
    }
    sequencing.stop().await;
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn of_events_with_one_key_one_is_public_and_leaves_no_gap(#[case] engine: Engine) {
    let database = LogDatabase::new(engine).await;
    let before = ["a", "b", "c", "d", "e"];
    let keys = [Some("key"), None, Some("key"), Some("other"), Some("key")];
    for (name, key) in before.into_iter().zip(keys) {
        database.write(name, key).await;
    }
    let sequencing = LogDatabase::sequencing(&database.log, "one");
    database.log.notify_written();
    let logged = database.until_logged(3).await;
    assert_eq!(named(&logged), ["a", "b", "d"]);
    for (name, key) in [("f", Some("other")), ("g", Some("key")), ("h", Some("third"))] {
        database.write(name, key).await;
    }
    database.log.notify_written();
    let logged = database.until_logged(4).await;
    assert_eq!(named(&logged), ["a", "b", "d", "h"]);
    // SQLite uses up an id for what it drops.
    if engine == Engine::Postgres {
        assert_dense(&logged, 1);
    }
    sequencing.stop().await;
}

/// A database of an earlier version: its events keep their ids, which clients have seen.
#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn positions_begin_above_the_ids_of_an_earlier_version(#[case] engine: Engine) {
    let database = LogDatabase::migrated(engine, BEFORE_OUTBOX).await;
    let insert = |id: i64, name: &str| {
        let insert =
            "INSERT INTO host_activity (id, type, ts, ref_id, data, unique_key) VALUES ($1, 'a.b', 7, $2, '{}', $2)";
        statement(insert, [Value::Int(id), text(name)])
    };
    database.db.write(vec![insert(3, "old"), insert(41, "newest")]).await.unwrap();
    assert_eq!(database.db.migrate_host(usize::MAX).await.first(), Some(&18));
    let sequencing = LogDatabase::sequencing(&database.log, "one");
    database.write("new", None).await;
    database.write("known", Some("newest")).await;
    database.log.notify_written();
    let logged = database.until_logged(3).await;
    assert_eq!(logged, [(3, "old".to_owned()), (41, "newest".to_owned()), (42, "new".to_owned())]);
    sequencing.stop().await;
}

/// Whoever has the lease hears of it. Without that, each event would wait for a quarter of a second.
#[tokio::test]
async fn what_another_gateway_writes_is_public_soon() {
    let database = LogDatabase::new(Engine::Postgres).await;
    let holder = LogDatabase::sequencing(&database.log, "one");
    database.write("0", None).await;
    database.until_logged(1).await;
    let other_log = database.other_log();
    let other = LogDatabase::sequencing(&other_log, "two");
    let begun = Instant::now();
    for number in 1..=20 {
        database.write(&number.to_string(), None).await;
        other_log.notify_written();
        database.until_logged(number + 1).await;
    }
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    for task in [holder, other] {
        task.stop().await;
    }
}
