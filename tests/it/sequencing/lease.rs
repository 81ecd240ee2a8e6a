//! One sequencer at a time, whatever the others believe, and another one when it dies.

use super::{Engine, LIMIT, LeaseState, LogDatabase, TestGateway, assert_dense, named, statement};
use crate::storage::{int, text};
use futures_util::future::join_all;
use gateway_activity::{SequencedBatch, Sequencer};
use gateway_storage::Scope;
use std::{
    collections::BTreeSet,
    pin::pin,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    task::Poll,
    time::{Duration, Instant},
};

/// A dead sequencer delays streams by two seconds at most; a busy machine may take a little longer.
const TAKEOVER: Duration = Duration::from_secs(4);

#[tokio::test]
async fn the_fence_refuses_a_sequencer_that_lost_the_lease() {
    let database = LogDatabase::new(Engine::Postgres).await;
    let mut stale = database.holder("one").await;
    database.write("a", None).await;
    assert_eq!(stale.sequence().await.unwrap(), Some(SequencedBatch { taken: 1, appended: 1 }));
    let mut other = Sequencer::new(database.db.database.clone(), "two".to_owned(), Duration::from_secs(60));
    let standing = other.acquire().await.unwrap();
    assert!(
        matches!(standing, LeaseState::HeldByOther { left, next_position: 2 } if left > Duration::ZERO),
        "{standing:?}"
    );

    database.end_lease().await;
    assert_eq!(other.acquire().await.unwrap(), LeaseState::Holder);
    assert!(other.token() > stale.token() && stale.token().is_some(), "both believe to hold the lease");
    database.write("b", None).await;
    assert_eq!(stale.sequence().await.unwrap(), None);
    assert_eq!((database.waiting().await, database.logged().await.len(), stale.token()), (1, 1, None));
    assert!(matches!(stale.acquire().await.unwrap(), LeaseState::HeldByOther { .. }), "the other one has the lease");
    assert_eq!(other.sequence().await.unwrap(), Some(SequencedBatch { taken: 1, appended: 1 }));
    let logged = database.logged().await;
    assert_eq!((named(&logged), logged[1].0), (vec!["a", "b"], 2));

    other.release().await.unwrap();
    assert_eq!(stale.acquire().await.unwrap(), LeaseState::Holder, "at once");
}

/// Before the database's clock went back, a lease was given that would not end for an hour now.
#[tokio::test]
async fn a_lease_of_a_clock_that_went_back_holds_nobody_up() {
    let database = LogDatabase::new(Engine::Postgres).await;
    let _dead = database.holder("one").await;
    let prolong = "UPDATE host_activity_sequencer SET lease_until_ms = lease_until_ms + 3600000";
    database.db.write(vec![statement(prolong, [])]).await.unwrap();
    let mut other = Sequencer::new(database.db.database.clone(), "two".to_owned(), Duration::from_secs(60));
    assert_eq!(other.acquire().await.unwrap(), LeaseState::Holder);
}

/// What the future returns, or nothing when it is dropped at a poll.
async fn until_poll<F: Future>(future: F, mut polls: u32) -> Option<F::Output> {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| {
        if polls == 0 {
            return Poll::Ready(None);
        }
        polls -= 1;
        future.as_mut().poll(cx).map(Some)
    })
    .await
}

/// Killed at every step of a batch: before, between and after its statements.
#[tokio::test]
async fn a_sequencer_that_is_killed_loses_and_doubles_nothing() {
    let database = LogDatabase::new(Engine::Postgres).await;
    let (mut names, mut was_whole) = (Vec::new(), false);
    for polls in 1.. {
        for nth in 0..3 {
            let name = format!("{polls}.{nth}");
            database.write(&name, (nth == 1).then_some(&*name)).await;
            names.push(name);
        }
        let mut killed = database.holder("killed").await;
        was_whole = until_poll(killed.sequence(), polls).await.is_some();
        let mut next = database.holder("next").await;
        assert!(next.token() > killed.token());
        // Nothing is left of the killed one's transaction: its row is locked until then, and the lease with it.
        next.sequence().await.unwrap().unwrap();
        let logged = database.logged().await;
        assert_eq!((named(&logged), database.waiting().await), (names.iter().map(String::as_str).collect(), 0));
        assert_dense(&logged, 1);
        if was_whole {
            break;
        }
    }
    assert!(was_whole && names.len() > 3, "it was killed {} times", names.len() / 3);
}

/// Two tasks, and somebody who takes the lease from whoever has it, again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lease_changes_hands_while_many_write() {
    let database = LogDatabase::new(Engine::Postgres).await;
    let tasks = [("one", database.log.clone()), ("two", database.other_log())];
    let tasks = tasks.map(|(holder, log)| LogDatabase::sequencing(&log, holder));
    let is_over = AtomicBool::new(false);
    let write = async |writer: u64| {
        for turn in 0..25 {
            database.write(&format!("{writer}.{turn}"), None).await;
            database.log.notify_written();
        }
    };
    let writes = async {
        join_all((0..8).map(write)).await;
        is_over.store(true, Relaxed);
    };
    let thief = async {
        let steal = "UPDATE host_activity_sequencer SET token = token + 1, holder = NULL";
        for stolen in 1.. {
            database.db.write(vec![statement(steal, [])]).await.unwrap();
            if is_over.load(Relaxed) && stolen > 20 {
                return;
            }
            // Time to take it, and to be in the middle of a batch.
            tokio::time::sleep(Duration::from_millis(stolen % 7)).await;
        }
    };
    tokio::join!(writes, thief);
    let logged = database.until_logged(200).await;
    assert_dense(&logged, 1);
    let names: BTreeSet<&str> = named(&logged).into_iter().collect();
    assert_eq!((names.len(), logged.len()), (200, 200));
    for task in tasks {
        task.stop().await;
    }
}

/// It died after the commit of a batch and before it told anybody: the next one does.
#[tokio::test]
async fn what_a_dead_sequencer_has_told_nobody_is_told() {
    let database = LogDatabase::new(Engine::Postgres).await;
    let mut dead = database.holder("one").await;
    database.write("a", None).await;
    assert_eq!(dead.sequence().await.unwrap(), Some(SequencedBatch { taken: 1, appended: 1 }));
    let log = database.other_log();
    let mut readers = log.subscribe();
    let waiting = LogDatabase::sequencing(&log, "two");
    // Also at its first look, while the dead one still has the lease.
    let holder = async || database.db.rows("SELECT holder FROM host_activity_sequencer").await[0][0].clone();
    let told = async {
        readers.changed().await.unwrap();
        while holder().await != text("two") {
            readers.changed().await.unwrap();
        }
    };
    tokio::time::timeout(LIMIT, told).await.expect("readers are woken");
    waiting.stop().await;
}

#[tokio::test]
async fn another_gateway_goes_on_when_the_sequencer_dies() {
    let database = LogDatabase::new(Engine::Postgres).await;
    let first = LogDatabase::sequencing(&database.log, "one");
    database.write("before", None).await;
    database.log.notify_written();
    database.until_logged(1).await;
    let second = LogDatabase::sequencing(&database.other_log(), "two");
    drop(first);
    let died = Instant::now();
    database.write("after", None).await;
    database.until_logged(2).await;
    assert!(died.elapsed() < TAKEOVER, "{:?}", died.elapsed());

    // One that stops gives the lease back, and leaves nothing in the outbox.
    database.write("last", None).await;
    second.stop().await;
    assert_eq!(named(&database.logged().await), ["before", "after", "last"]);
    let held = database.db.rows("SELECT count(*) FROM host_activity_sequencer WHERE holder IS NOT NULL").await;
    assert_eq!(int(&held[0][0]), 0);
}

/// Each is a transaction of its own, and wakes every gateway. None is lost: the last one comes after the last write.
#[tokio::test]
async fn many_writes_beside_the_holder_are_a_few_notifications() {
    let database = LogDatabase::new(Engine::Postgres).await;
    let holder = LogDatabase::sequencing(&database.log, "one");
    database.write("first", None).await;
    database.log.notify_written();
    database.until_logged(1).await;
    let other_log = database.other_log();
    let other = LogDatabase::sequencing(&other_log, "two");
    let mut notifications = database.db.database.listen("gateway_activity_outbox").await.unwrap();
    let (begun, mut writes) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_millis(400) {
        other_log.notify_written();
        writes += 1;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let took_ms = begun.elapsed().as_millis();
    let mut heard = 0;
    while tokio::time::timeout(Duration::from_millis(300), notifications.next()).await.is_ok() {
        heard += 1;
    }
    assert!((2..=took_ms / 20 + 2).contains(&heard), "{heard} notifications of {writes} writes in {took_ms} ms");
    for task in [holder, other] {
        task.stop().await;
    }
}

/// A transaction that was open for longer than any may be is late and not lost, although scans begin behind its place.
#[tokio::test]
async fn what_is_committed_very_late_is_found() {
    let database = LogDatabase::new(Engine::Postgres).await;
    let late = database.db.database.begin(Scope::Host);
    late.run(vec![database.event("late", None)]).await.unwrap();
    let mut sequencer = Sequencer::new(database.db.database.clone(), "one".to_owned(), Duration::ZERO);
    assert_eq!(sequencer.acquire().await.unwrap(), LeaseState::Holder);
    for name in ["a", "b", "c"] {
        database.write(name, None).await;
        assert_eq!(sequencer.sequence().await.unwrap(), Some(SequencedBatch { taken: 1, appended: 1 }));
    }
    late.commit(Vec::new()).await.unwrap();
    assert_eq!(sequencer.sequence().await.unwrap(), Some(SequencedBatch::default()), "the scan begins behind it");
    let sequencer = tokio::sync::Mutex::new(sequencer);
    let is_found = async || sequencer.lock().await.sequence().await.unwrap().unwrap().appended == 1;
    TestGateway::eventually(LIMIT, "the late event is public", is_found).await;
    assert_eq!(named(&database.logged().await), ["a", "b", "c", "late"]);
}
