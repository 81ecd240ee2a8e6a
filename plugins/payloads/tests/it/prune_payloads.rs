//! The job `prune_payloads`.

use super::{finish, houses_with, is_there, post, read, store, witness};
use plugin_testing::{TestGateway, json};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const LIMIT: Duration = Duration::from_secs(60);

async fn houses() -> Vec<TestGateway> {
    houses_with(|builder| builder.plugin(witness::module())).await
}

async fn mention(house: &TestGateway, text: &str) {
    assert_eq!(house.send("POST", witness::TEXTS, &[], text.to_owned()).await.status, 204);
}

async fn forget(house: &TestGateway) {
    assert_eq!(house.send("DELETE", witness::TEXTS, &[], "").await.status, 204);
}

async fn runs(house: &TestGateway) -> u64 {
    let rows = house.rows("SELECT runs FROM host_job_runs WHERE plugin = 'payloads' AND job = 'prune_payloads'").await;
    rows.first().and_then(|row| row.trim_start_matches("Int(").trim_end_matches(')').parse().ok()).unwrap_or_default()
}

/// Lets the job run that many more times, an hour of the gateway's clock apart.
async fn run(house: &TestGateway, times: u64) {
    for _ in 0..times {
        let before = runs(house).await;
        house.clock().advance(HOUR).await;
        TestGateway::eventually(LIMIT, "the job runs", || async {
            house.clock().advance(Duration::from_secs(60)).await;
            runs(house).await > before
        })
        .await;
    }
}

async fn totals(house: &TestGateway) -> Vec<String> {
    house.rows("SELECT payloads, bytes FROM payloads_totals").await
}

#[tokio::test]
async fn what_nobody_mentions_is_deleted_after_its_time() {
    for house in houses().await {
        let (mentioned, forgotten) = (store(&house, "mentioned").await, store(&house, "forgotten").await);
        mention(&house, "no hash here").await;
        mention(&house, "nor here").await;
        mention(&house, &format!("see fmx://payload/{}", mentioned.to_uppercase().replace("0X", "0x"))).await;
        house.clock().advance(DAY * 29).await;
        let young = store(&house, "young").await;
        run(&house, 2).await;
        assert!(is_there(&house, &forgotten).await, "30 days are not over");
        house.clock().advance(DAY * 2).await;
        run(&house, 3).await;
        assert!(!is_there(&house, &forgotten).await);
        assert!(is_there(&house, &mentioned).await && is_there(&house, &young).await);
        assert_eq!(totals(&house).await, ["Int(2) Int(14)"]);
        // When it is not mentioned any more, it has its time again, and then goes.
        forget(&house).await;
        run(&house, 2).await;
        assert!(is_there(&house, &mentioned).await);
        house.clock().advance(DAY * 31).await;
        run(&house, 3).await;
        assert!(!is_there(&house, &mentioned).await && !is_there(&house, &young).await);
        assert_eq!(totals(&house).await, ["Int(0) Int(0)"]);
        // It can be stored anew.
        store(&house, "mentioned").await;
        assert!(is_there(&house, &mentioned).await);
        finish(house).await;
    }
}

#[tokio::test]
async fn storing_it_again_begins_its_time_anew() {
    for house in houses().await {
        let hash = store(&house, "again").await;
        house.clock().advance(DAY * 29).await;
        store(&house, "again").await;
        house.clock().advance(DAY * 2).await;
        run(&house, 3).await;
        assert!(is_there(&house, &hash).await);
        finish(house).await;
    }
}

#[tokio::test]
async fn what_is_given_up_is_hidden_from_plugins_and_comes_back_when_it_is_mentioned_or_stored() {
    for house in houses().await {
        let (one, two) = (store(&house, "one").await, store(&house, "two").await);
        run(&house, 1).await;
        house.clock().advance(DAY * 31).await;
        let visible = async || house.rows("SELECT hash FROM payloads_v1 ORDER BY size, hash").await.len();
        TestGateway::eventually(LIMIT, "both are given up", || async {
            house.clock().advance(Duration::from_secs(60)).await;
            visible().await == 0
        })
        .await;
        assert!(is_there(&house, &one).await && is_there(&house, &two).await, "until the second question");
        mention(&house, &one).await;
        assert_eq!(post(&house, "text/plain", "two").await.status, 200);
        assert_eq!(visible().await, 1);
        run(&house, 2).await;
        assert!(is_there(&house, &one).await && is_there(&house, &two).await);
        assert_eq!(visible().await, 2);
        finish(house).await;
    }
}

#[tokio::test]
async fn nothing_is_deleted_while_a_plugin_that_knows_is_off() {
    for house in houses().await {
        let hash = store(&house, "mentioned").await;
        mention(&house, &hash).await;
        run(&house, 1).await;
        let house = house
            .restart_after(|config| {
                config.plugins.sections.entry("witness".to_owned()).or_default().enabled = Some(false);
            })
            .await;
        house.clock().advance(DAY * 40).await;
        run(&house, 3).await;
        assert!(is_there(&house, &hash).await);
        let service = read(&house, "/api/status").await["services"]["payloads"].clone();
        assert_eq!(service["ok"], true);
        assert!(service["detail"].as_str().unwrap().contains("witness"), "{service}");
        // Until the operator says that it never comes back.
        let house = house
            .restart_after(|config| {
                let settings = &mut config.plugins.sections.entry("payloads".to_owned()).or_default().config;
                settings.insert("gone".to_owned(), json!(["witness"]));
            })
            .await;
        run(&house, 3).await;
        assert!(!is_there(&house, &hash).await);
        finish(house).await;
    }
}

#[tokio::test]
async fn more_than_one_question_holds_are_all_deleted() {
    for house in houses().await {
        for number in 0..620_u32 {
            store(&house, number.to_be_bytes()).await;
        }
        house.clock().advance(DAY * 31).await;
        run(&house, 3).await;
        assert_eq!(totals(&house).await, ["Int(0) Int(0)"]);
        assert_eq!(house.rows("SELECT hash FROM payloads_payloads").await, Vec::<String>::new());
        finish(house).await;
    }
}
