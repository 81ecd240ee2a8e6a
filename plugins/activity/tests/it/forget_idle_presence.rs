//! The job `forget_idle_presence`

use super::{PRESENCE, finish, houses, ping, read, wait};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);
const TWO_HOURS_S: u64 = 7200;

/// How often the job ran, if every run went well.
async fn good_runs(house: &TestGateway) -> Option<i64> {
    let jobs = house.gateway().jobs.list().await.unwrap();
    let job = jobs.into_iter().find(|job| job.plugin == "activity" && job.job == "forget_idle_presence")?;
    (job.failures == 0 && job.holder.is_none()).then_some(job.runs)
}

#[tokio::test]
async fn it_runs_every_hour_and_leaves_who_is_here() {
    for house in houses().await {
        ping(&house, &Wallet::new(1), json!({ "status": "gone soon" })).await;
        for round in 1..=12 {
            wait(&house, TWO_HOURS_S).await;
            let ran = async || good_runs(&house).await.is_some_and(|runs| runs >= round);
            TestGateway::eventually(LIMIT, "the job runs", ran).await;
        }
        let here = ping(&house, &Wallet::new(2), json!({})).await;
        // The first row is now older than a day, this one is not.
        wait(&house, 200).await;
        let before = good_runs(&house).await.unwrap();
        let again = ping(&house, &Wallet::new(2), json!({})).await;
        assert_eq!(again["since"], here["since"]);
        wait(&house, TWO_HOURS_S).await;
        let ran = async || good_runs(&house).await.is_some_and(|runs| runs > before);
        TestGateway::eventually(LIMIT, "the job runs again", ran).await;
        let later = ping(&house, &Wallet::new(2), json!({})).await;
        assert_eq!(later["since"], here["since"], "the stay goes on");
        assert_eq!(read(&house, PRESENCE).await["items"].as_array().unwrap().len(), 1);
        finish(house).await;
    }
}
