//! Who takes the notifications of other gateways: each costs the database something, so only who has a use for them.

use super::Replicas;
use crate::crash::query;
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, Wallet};
use std::time::{Duration, Instant};

/// Connections that wait for what is new in the log.
const LISTENING: &str = "SELECT CAST(count(*) AS TEXT) FROM pg_stat_activity
    WHERE datname = current_database() AND query = 'LISTEN \"gateway_activity\"'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_listens_while_somebody_there_follows_the_log() {
    let replicas = Replicas::start(2, |setup| setup).await;
    let listening = async || query(&replicas.setups[0], LISTENING).await[0][0].clone();
    replicas.sites[0].open_thread(&Wallet::new(0), "Unread").await;
    assert_eq!(listening().await, "0", "nobody reads");
    let reader = &replicas.sites[1];
    let is_in_log = async || reader.get("/api/activity?limit=1").await.text().contains("Unread");
    TestGateway::eventually(LIMIT, "a stream that begins now begins behind it", is_in_log).await;

    let mut stream = reader.follow("/api/stream", None).await;
    TestGateway::eventually(LIMIT, "the gateway with the reader listens", async || listening().await == "1").await;
    for number in 1..=3 {
        let title = format!("Read {number}");
        replicas.sites[number % 2].open_thread(&Wallet::new(number as u64), &title).await;
        let event = stream.event().await;
        assert!(event.data.to_string().contains(&title), "{}", event.data);
    }
    assert_eq!(listening().await, "1", "the other one has no reader");

    drop(stream);
    // A topic sees with the next event that its readers are gone.
    let started = Instant::now();
    for number in 10.. {
        replicas.sites[0].open_thread(&Wallet::new(number), "Unread again").await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        if listening().await == "0" {
            return;
        }
        assert!(started.elapsed() < LIMIT, "it listens on");
    }
}
