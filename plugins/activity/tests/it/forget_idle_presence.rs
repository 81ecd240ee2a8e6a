//! The job `forget_idle_presence`

use super::{PRESENCE, finish, gateways, ping, read, wait};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);
const TWO_HOURS_S: u64 = 7200;

/// Number of runs of the job, if every run succeeded.
async fn good_runs(gateway: &TestGateway) -> Option<i64> {
    let jobs = gateway.gateway().jobs.list().await.unwrap();
    let job = jobs.into_iter().find(|job| job.plugin == "activity" && job.job == "forget_idle_presence")?;
    (job.failures == 0 && job.holder.is_none()).then_some(job.runs)
}

#[tokio::test]
async fn it_runs_every_hour_and_deletes_idle_addresses_only() {
    for gateway in gateways().await {
        ping(&gateway, &Wallet::new(1), json!({ "status": "gone soon" })).await;
        for round in 1..=12 {
            wait(&gateway, TWO_HOURS_S).await;
            let ran = async || good_runs(&gateway).await.is_some_and(|runs| runs >= round);
            TestGateway::eventually(LIMIT, "the job runs", ran).await;
        }
        let here = ping(&gateway, &Wallet::new(2), json!({})).await;
        // The first row is older than a day now, this one is not.
        wait(&gateway, 200).await;
        let before = good_runs(&gateway).await.unwrap();
        let again = ping(&gateway, &Wallet::new(2), json!({})).await;
        assert_eq!(again["since"], here["since"]);
        wait(&gateway, TWO_HOURS_S).await;
        let ran = async || good_runs(&gateway).await.is_some_and(|runs| runs > before);
        TestGateway::eventually(LIMIT, "the job runs again", ran).await;
        let later = ping(&gateway, &Wallet::new(2), json!({})).await;
        assert_eq!(later["since"], here["since"], "the stay goes on");
        assert_eq!(read(&gateway, PRESENCE).await["items"].as_array().unwrap().len(), 1);
        finish(gateway).await;
    }
}
