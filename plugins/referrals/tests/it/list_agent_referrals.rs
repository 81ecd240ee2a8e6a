//! `GET /api/referrals/by/{agentId}`.

use super::{Site, agent, each, is, paid_job, paying, refusal};
use plugin_testing::{Value, Wallet, json};
use std::time::Duration;

async fn by_2(site: &Site, query: &str) -> Value {
    site.read(&format!("/api/referrals/by/2{query}")).await
}

fn agents_of(list: &Value) -> Vec<i64> {
    list["items"].as_array().unwrap().iter().map(|item| item["newAgentId"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn an_agent_that_brought_nobody_has_an_empty_list() {
    each(json!({}), async |site| {
        let expected = |agent: i64, name: Value| {
            json!({
                "agentId": agent, "agentName": name, "items": [], "total": 0, "paid": 0, "pending": 0, "registered": 0,
                "paidWei": "0", "rewardWei": "10000000000000000000", "minJobFmx": "5.0",
            })
        };
        assert_eq!(site.read("/api/referrals/by/2").await, expected(2, json!("agent 2")));
        assert_eq!(site.read("/api/referrals/by/999").await, expected(999, Value::Null));
    })
    .await;
}

#[tokio::test]
async fn the_newest_claim_is_first_and_all_are_counted() {
    each(paying(), async |site| {
        for id in 101..=103 {
            site.mine(agent(id, &Wallet::new(id))).await;
            assert_eq!(site.claim(&Wallet::new(id), id.cast_signed(), 2).await.status, 201);
            site.gateway.clock().advance(Duration::from_secs(1)).await;
        }
        site.mine(paid_job(1, 101)).await;
        site.finalize().await;
        site.waits(2).await;
        site.becomes(101, "paid").await;
        // One of another referrer.
        site.mine(agent(104, &Wallet::new(104))).await;
        assert_eq!(site.claim(&Wallet::new(104), 104, 3).await.status, 201);
        // Nothing is final here that could be paid.
        site.mine(paid_job(2, 102)).await;
        let list = by_2(site, "").await;
        assert_eq!(agents_of(&list), [103, 102, 101]);
        let counts = ["total", "paid", "pending", "registered", "paidWei"].map(|name| list[name].clone());
        assert_eq!(counts, [json!(3), json!(1), json!(1), json!(1), json!("10000000000000000000")]);
        let statuses: Vec<&str> =
            list["items"].as_array().unwrap().iter().map(|item| item["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["registered", "pending", "paid"]);
        assert_eq!(agents_of(&by_2(site, "?limit=1&offset=1").await), [102]);
        let refused = site.gateway.get("/api/referrals/by/2?cursor=abc").await;
        assert_eq!(refusal(&refused), is(400, "bad_request"));
    })
    .await;
}
