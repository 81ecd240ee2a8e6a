//! The faults of the simulated server: what is acknowledged is there once, what has an unknown outcome at most once, the rest never; and
//! a seed gives the same run again.

use super::{Server, forum, rows_of};
use gateway_storage::{Faults, Isolation, Scope, SimulationCounts, StorageError};
use plugin_api::sql;
use std::time::Duration;

const WRITES: i64 = 400;

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Acknowledged,
    Unknown,
    Refused,
}

/// Each write adds a row of its own, in two calls.
async fn write(server: &Server, item: i64) -> Outcome {
    let transaction = server.client.begin(forum(Isolation::Serializable));
    let read = sql("SELECT count(*) FROM forum_items WHERE id < $1").bind(item);
    if transaction.run(vec![read.into()]).await.is_err() {
        return Outcome::Refused;
    }
    let insert = "INSERT INTO forum_log (item) VALUES ($1)";
    transaction.defer(sql(insert).bind(item).into()).unwrap();
    match transaction.commit(Vec::new()).await {
        Ok(_) => Outcome::Acknowledged,
        Err(_) if transaction.has_unknown_outcome() => Outcome::Unknown,
        Err(StorageError::Conflict(_)) => {
            assert!(transaction.has_conflict());
            Outcome::Refused
        }
        Err(error) => panic!("{error}"),
    }
}

async fn run(seed: u64, faults: Faults) -> (Vec<Outcome>, Vec<i64>, SimulationCounts, u64) {
    let server = Server::simulated(seed).await;
    let simulated = server.simulated.clone().unwrap();
    simulated.set_faults(faults);
    let mut outcomes = Vec::new();
    for item in 0..WRITES {
        outcomes.push(write(&server, item).await);
    }
    let late_max = faults.commit_late_max;
    simulated.set_faults(Faults::default());
    tokio::time::sleep(late_max).await;
    let read = sql("SELECT item FROM forum_log ORDER BY item");
    let rows = server.observer.read(&Scope::Host, read.into()).await.unwrap();
    let items = rows_of(&rows).iter().map(|item| item.parse().unwrap()).collect();
    (outcomes, items, simulated.counts(), simulated.trace_hash())
}

const FAULTS: Faults = Faults {
    conflict: 100,
    connection_lost: 50,
    commit_answer_lost: 100,
    commit_lost: 100,
    commit_late: 0,
    commit_late_max: Duration::ZERO,
    commit_forgotten: 0,
    notification_lost: 500,
    notification_late_max: Duration::ZERO,
    latency_max: Duration::ZERO,
};

#[tokio::test]
async fn an_acknowledged_write_is_there_once_and_an_unknown_one_at_most_once() {
    for late in [0, 200] {
        let faults = Faults { commit_late: late, commit_late_max: Duration::from_millis(30), ..FAULTS };
        let (outcomes, items, counts, _) = run(7, faults).await;
        for (item, outcome) in (0..).zip(&outcomes) {
            let times = items.iter().filter(|found| **found == item).count();
            match outcome {
                Outcome::Acknowledged => assert_eq!(times, 1, "{item}"),
                Outcome::Unknown => assert!(times <= 1, "{item}"),
                Outcome::Refused => assert_eq!(times, 0, "{item}"),
            }
        }
        let unknown = outcomes.iter().filter(|outcome| **outcome == Outcome::Unknown);
        let unknown_there =
            (0..).zip(&outcomes).filter(|(item, o)| **o == Outcome::Unknown && items.contains(item)).count();
        assert!(unknown_there > 0 && unknown_there < unknown.count(), "both happen");
        assert!(counts.conflicts > 0 && counts.lost_commit_answers > 0 && counts.unexpected == 0, "{counts:?}");
        assert_eq!(counts.late_commits > 0, late > 0);
    }
}

#[tokio::test]
async fn a_seed_gives_the_same_run_again_and_another_seed_another_one() {
    let (one, again, other) = (run(3, FAULTS).await, run(3, FAULTS).await, run(4, FAULTS).await);
    assert_eq!(one, again);
    assert_ne!(one.3, other.3);
    assert_ne!(one.0, other.0);
}

#[tokio::test]
async fn a_server_that_is_away_refuses_everything_and_forgets_what_was_open() {
    let server = Server::simulated(1).await;
    let simulated = server.simulated.clone().unwrap();
    let transaction = server.client.begin(Scope::Host);
    transaction.run(vec![sql("INSERT INTO forum_log (item) VALUES (1)").into()]).await.unwrap();
    let mut notifications = server.client.listen("c").await.unwrap();
    simulated.set_away(true);
    assert!(!notifications.next().await, "the connection is gone");
    assert!(matches!(server.client.probe().await, Err(StorageError::Unavailable(_))));
    simulated.set_away(false);
    assert!(transaction.commit(Vec::new()).await.is_err());
    server.client.probe().await.unwrap();
    let mut notifications = server.client.listen("c").await.unwrap();
    server.observer.notify("c").await;
    assert!(notifications.next().await);
    let rows = server.observer.read(&Scope::Host, sql("SELECT item FROM forum_log").into()).await.unwrap();
    assert!(rows.is_empty());
}

#[tokio::test]
async fn a_client_that_is_disconnected_leaves_no_lock() {
    let server = Server::simulated(1).await;
    let simulated = server.simulated.clone().unwrap();
    let frozen = server.client.begin(forum(Isolation::PluginLock));
    frozen.run(vec![sql("INSERT INTO forum_log (item) VALUES (1)").into()]).await.unwrap();
    let waits = server.observer.begin(forum(Isolation::PluginLock));
    let insert = waits.run(vec![sql("INSERT INTO forum_log (item) VALUES (2)").into()]);
    let disconnect = async {
        tokio::task::yield_now().await;
        assert_eq!(simulated.counts().waits, 1);
        simulated.disconnect(simulated.clients()[0]);
    };
    let (inserted, ()) = futures_util::future::join(insert, disconnect).await;
    inserted.unwrap();
    waits.commit(Vec::new()).await.unwrap();
    assert!(frozen.commit(Vec::new()).await.is_err());
}
