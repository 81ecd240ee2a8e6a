//! What `/api/status` and the documents for agents say.

use super::{GROWTH, each, paid_job, paying};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn the_status_has_the_account_and_what_waits() {
    each(paying(), async |site| {
        site.claimed().await;
        site.mine(paid_job(1, 1)).await;
        // The journal reads the balance in its own time.
        site.until("the balance is read", async || site.service().await["balanceFmx"].is_string()).await;
        let expected = json!({
            "ok": true, "enabled": true, "address": Wallet::new(GROWTH).address(), "balanceFmx": "1000.0", "lowFunds": false,
            "referred": 1, "pending": 1, "paid": 0, "held": 0, "failed": 0, "withdrawn": 0, "paidToday": 0,
            "spentFmx": "0.0", "budgetFmx": "1000.0",
        });
        assert_eq!(site.service().await, expected);
    })
    .await;
}

#[tokio::test]
async fn the_credential_of_an_agent_says_whom_it_brought() {
    each(json!({}), async |site| {
        let input = |agent: i64| json!({ "agentId": agent, "owner": Wallet::new(2).address(), "claimsMax": 1000 });
        let record = async |agent: i64| site.gateway.collect("cv-claims", &input(agent)).await["referrals"].clone();
        assert_eq!(record(2).await["claims"], json!([]));
        site.claimed().await;
        let told = record(2).await;
        assert_eq!((&told["covers"], &told["summary"]), (&json!(["Referral"]), &json!({ "referralsMade": 1 })));
        let claim = &told["claims"][0];
        assert_eq!((&claim["kind"], &claim["fields"]), (&json!("Referral"), &json!({ "referred": 1, "paidOut": 0 })));
        assert!(told["activityTypes"].as_array().unwrap().contains(&json!("referral.claim")));
        assert_eq!(record(1).await["claims"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn without_a_budget_the_service_is_off_and_well() {
    each(json!({}), async |site| {
        let service = site.service().await;
        let told = ["ok", "enabled", "detail"].map(|name| service[name].clone());
        assert_eq!(told, [json!(true), json!(false), json!("no budget is configured: nobody is paid")]);
    })
    .await;
}

#[tokio::test]
async fn agents_learn_of_it() {
    each(json!({}), async |site| {
        let manifest = site.read("/.well-known/service.json").await;
        assert!(
            manifest["endpoints"]["referrals"].as_str().unwrap().ends_with("/api/referrals/leaderboard"),
            "{manifest}"
        );
        let card = site.read("/.well-known/agent.json").await;
        let skills = card["skills"].as_array().unwrap();
        assert!(skills.iter().any(|skill| skill["id"] == "referrals"), "{skills:?}");
        assert!(site.gateway.get("/llms.txt").await.text().contains("referral.claim"));
    })
    .await;
}
