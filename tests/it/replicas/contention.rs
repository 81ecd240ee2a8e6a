//! Writes at the same time: those of one row all succeed, and those of different rows do not hinder each other.

use super::{Replicas, THREE};
use crate::{
    crash::{Outcome, StoredRows, Write, execute, query, send},
    e2e::Site,
};
use futures_util::future::join_all;
use plugin_testing::Wallet;

const REPLIERS: u64 = 64;
const WRITERS: u64 = 64;
const THREADS_EACH: u64 = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_of_many_in_one_thread_all_succeed() {
    let replicas = Replicas::start(THREE, |setup| setup).await;
    let mut ledger = crate::crash::Ledger::default();
    let thread = Write::thread(&Wallet::new(0), "contended");
    let (status, _, body) = send(&replicas.sites[0], &thread).await.unwrap();
    assert_eq!(status, 201);
    ledger.writes.push(Write { outcome: Outcome::Acknowledged, ..thread });
    let id = body["id"].as_i64().unwrap();

    let mut replies: Vec<Write> =
        (1..=REPLIERS).map(|number| Write::reply(&Wallet::new(number), id, "at once")).collect();
    let sites = replicas.sites.iter().cycle();
    let answers = join_all(replies.iter().zip(sites).map(|(reply, site)| send(site, reply))).await;
    for (reply, answer) in replies.iter_mut().zip(answers) {
        let (status, code, _) = answer.expect("every reply is answered");
        assert_eq!((status, code.as_str()), (201, ""), "{reply:?}");
        reply.outcome = Outcome::Acknowledged;
    }
    ledger.writes.extend(replies);
    ledger.compare(&StoredRows::read_sequenced(&replicas.setups[0]).await);
    let counted = query(&replicas.setups[0], "SELECT CAST(post_count AS TEXT) FROM forum_threads").await;
    assert_eq!(counted, [[(REPLIERS + 1).to_string()]]);
    for gateway in &replicas.gateways {
        let metrics = Site::at(gateway.admin_url()).get("/metrics").await.text();
        let is_given_up = |line: &str| line.starts_with("gateway_database_writes_given_up_total");
        assert!(!metrics.lines().any(is_given_up), "{metrics}");
    }
}

/// What writers of different rows read and write together is too little for the database to keep them apart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_threads_on_sixty_four_connections_hardly_one_runs_again() {
    let replicas = Replicas::start(THREE, |setup| setup).await;
    let write_some = async |writer: u64| {
        let (wallet, site) = (Wallet::new(writer), &replicas.sites[usize::try_from(writer).unwrap() % THREE]);
        for turn in 0..THREADS_EACH {
            let write = Write::thread(&wallet, &format!("{writer}.{turn}"));
            let (status, _, body) = send(site, &write).await.expect("every thread is answered");
            assert_eq!(status, 201, "{body}");
        }
    };
    join_all((0..WRITERS).map(write_some)).await;
    let mut aborted = 0;
    for gateway in &replicas.gateways {
        let metrics = Site::at(gateway.admin_url()).get("/metrics").await.text();
        let of_threads = |line: &&str| {
            line.starts_with("gateway_database_conflicts_total{") && line.contains("operation=\"create_thread\"")
        };
        let counts = metrics.lines().filter(of_threads).filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        aborted += counts.sum::<u64>();
    }
    let attempts = WRITERS * THREADS_EACH + aborted;
    assert!(aborted * 50 <= attempts, "{aborted} of {attempts} attempts were aborted: more than two per cent");
}

/// The next posts conflict with others, so many times.
async fn conflict(replicas: &Replicas, times: u64) {
    let text = format!(
        "CREATE SEQUENCE IF NOT EXISTS conflicts; SELECT setval('conflicts', 1, false);
         CREATE OR REPLACE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF nextval('conflicts') <= {times} THEN RAISE serialization_failure; END IF; RETURN NULL; END $$;
         DROP TRIGGER IF EXISTS conflict ON forum_posts;
         CREATE TRIGGER conflict AFTER INSERT ON forum_posts FOR EACH ROW EXECUTE FUNCTION conflict()"
    );
    execute(&replicas.setups[0], text).await;
}

async fn tries(replicas: &Replicas) -> String {
    query(&replicas.setups[0], "SELECT CAST(last_value AS TEXT) FROM conflicts").await[0][0].clone()
}

fn counted(metrics: &str, name: &str) -> String {
    let is_of_reply = |line: &&str| {
        line.starts_with(name) && line.contains("plugin=\"forum\"") && line.contains("operation=\"create_post\"")
    };
    let line = metrics.lines().find(is_of_reply).unwrap_or_else(|| panic!("no {name} in {metrics}"));
    line.rsplit(' ').next().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_conflicts_runs_again_and_is_given_up_in_the_end() {
    let replicas = Replicas::start(2, |setup| setup).await;
    let site = &replicas.sites[0];
    let thread = site.open_thread(&Wallet::new(0), "Conflicts").await;
    conflict(&replicas, 3).await;
    let again = Write::reply(&Wallet::new(1), thread, "in the fourth attempt");
    assert_eq!(send(site, &again).await.unwrap().0, 201);
    assert_eq!(tries(&replicas).await, "4");

    conflict(&replicas, 1000).await;
    let given_up = Write::reply(&Wallet::new(2), thread, "later");
    let (status, code, body) = send(site, &given_up).await.unwrap();
    assert_eq!((status, code.as_str()), (503, "busy"), "{body}");
    assert_eq!(body["error"], "too many requests write the same at this moment");
    assert_eq!(tries(&replicas).await, "16");
    let metrics = Site::at(replicas.gateways[0].admin_url()).get("/metrics").await.text();
    assert_eq!(counted(&metrics, "gateway_database_conflicts_total"), "19");
    assert_eq!(counted(&metrics, "gateway_database_writes_given_up_total"), "1");

    // Nothing was written, and the signature is not used up.
    let posts = "SELECT CAST(count(*) AS TEXT) FROM forum_posts";
    assert_eq!(query(&replicas.setups[0], posts).await, [["2"]]);
    conflict(&replicas, 0).await;
    assert_eq!(send(site, &given_up).await.unwrap().0, 201);
    assert_eq!(query(&replicas.setups[0], posts).await, [["3"]]);
}
