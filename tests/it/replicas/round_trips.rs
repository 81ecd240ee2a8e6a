//! How often a signed write waits for the database: in another zone than the database's that is most of its time. And nothing that
//! the gateway says is for a session, which a pooler gives to others.

use crate::{
    crash::{Write, send},
    e2e::Site,
};
use gateway_tests::{
    postgres,
    postgres_proxy::{PostgresProxy, RoundTrip},
    process::Setup,
};
use plugin_testing::Wallet;

/// BEGIN with the guard, the interval and the thread, whose id the next ones need; tags and opening post; event, change and COMMIT;
/// and the name of its author.
const OF_A_THREAD: usize = 4;
const WRITES: usize = 10;
/// Until every connection of the pool has prepared the statements.
const WARM_UP_MAX: usize = 50;

/// Of the statements of tasks that run beside requests: the sequencer and who wakes it, compaction, jobs, heartbeats, what is forgotten.
const IN_BACKGROUND: [&str; 12] = [
    "host_activity_sequencer",
    "pg_notify",
    "SKIP LOCKED",
    "FROM host_changes LIMIT",
    "host_job_runs",
    "host_gateways",
    "host_plugin_switches",
    "DELETE FROM host_replay_guard",
    // Jobs of agents.
    "agents_probe_progress",
    "agents_counts",
    "agents_cards",
    "AS ids",
];

/// An empty query is a ping, and a new connection has none.
fn is_of_requests(round_trip: &&RoundTrip) -> bool {
    let texts = || round_trip.executed.iter().chain(&round_trip.parsed).filter(|sql| !sql.is_empty());
    texts().next().is_some() && !texts().any(|sql| IN_BACKGROUND.iter().any(|part| sql.contains(part)))
}

fn setup() -> Setup {
    crate::e2e::setup_with_all_plugins().with_only(&["agents", "forum", "hello"]).unwrap()
}

/// Whether it outlives its transaction: a setting, or a lock.
fn is_for_session(sql: &str) -> bool {
    let sets = |statement: &str| statement.starts_with("SET ") && !statement.starts_with("SET LOCAL ");
    sql.split(';').map(str::trim_start).any(sets) || sql.contains("pg_advisory_lock(")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_written_in_four_round_trips_that_leave_nothing_to_a_session() {
    let url = postgres::fresh_database().await.unwrap();
    let proxy = PostgresProxy::start(&url).await.unwrap();
    let gateway = setup().set("database.url", proxy.url()).set("database.pool_max", 2).start().await.unwrap();
    let (site, started) = (Site::of(&gateway), proxy.round_trips().len());
    let mut wallets = (0..).map(Wallet::new);
    let mut write = async || {
        let before = proxy.round_trips().len();
        let wallet = wallets.next().expect("there is no end of them");
        assert_eq!(send(&site, &Write::thread(&wallet, "counted")).await.unwrap().0, 201);
        let since = proxy.round_trips().split_off(before);
        since.iter().filter(is_of_requests).cloned().collect::<Vec<RoundTrip>>()
    };

    let (mut prepared, mut written) = (0, 0);
    // By then each statement has been fast often enough to share its Sync.
    while prepared < 10 {
        let is_prepared = write().await.iter().all(|round_trip| round_trip.parsed.is_empty());
        prepared = if is_prepared { prepared + 1 } else { 0 };
        written += 1;
        assert!(written < WARM_UP_MAX, "statements are prepared again and again");
    }
    for _ in 0..WRITES {
        // The other connection may have been busy until now, and prepares them.
        let round_trips: Vec<_> = write().await.into_iter().filter(|one| !one.executed.is_empty()).collect();
        assert_eq!(round_trips.len(), OF_A_THREAD, "{round_trips:#?}");
        // COMMIT shares that of the statements before it.
        assert_eq!(round_trips.iter().map(|one| one.syncs).sum::<usize>(), OF_A_THREAD, "{round_trips:#?}");
    }
    let served = proxy.round_trips().split_off(started);
    let lasting: Vec<&String> = served.iter().flat_map(|one| &one.executed).filter(|sql| is_for_session(sql)).collect();
    assert!(lasting.is_empty(), "{lasting:#?}");
}
