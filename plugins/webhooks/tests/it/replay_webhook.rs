//! `POST /api/webhooks/{id}/replay`

use super::{Endpoint, LIMIT, client, endpoint::header, owner, refusal, sites, sites_with};
use plugin_testing::{TestGateway, Value, json};
use wiremock::ResponseTemplate;

#[tokio::test]
async fn deliveries_since_a_time_come_again_with_their_id_and_data() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        site.message("before").await;
        endpoint.calls(1).await;
        site.wait(100).await;
        let since = site.gateway.now_s();
        site.message("one").await;
        endpoint.calls(2).await;
        site.message("two").await;
        let before = endpoint.calls(3).await;
        site.until_status(&owner(), "ok", 3).await;

        let answer = site.replay(&owner(), &id, json!({ "since": since })).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        let expected = json!({ "id": id, "replayed": 2, "remainingToday": 998, "nextSince": null });
        assert_eq!(answer.json(), expected);
        let after = endpoint.calls(5).await;
        for (before, after) in before[1..].iter().zip(&after[3..]) {
            assert_eq!(header(before, "webhook-id"), header(after, "webhook-id"));
            let (before, after): (Value, Value) = (before.body_json().unwrap(), after.body_json().unwrap());
            assert_eq!((&before["id"], &before["data"]), (&after["id"], &after["data"]));
            assert!(before["ts"].as_i64() < after["ts"].as_i64());
        }
        site.until_status(&owner(), "ok", 3).await;
        site.close().await;
    }
}

#[tokio::test]
async fn a_status_selects_what_is_replayed() {
    for site in sites_with(json!({ "retry_s": [] })).await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        endpoint.fail(1);
        site.message("failed").await;
        site.until_status(&owner(), "failed", 1).await;
        site.message("ok").await;
        site.until_status(&owner(), "ok", 1).await;
        assert_eq!(site.test(&owner(), &id).await.status, 202);
        site.until_status(&owner(), "ok", 2).await;
        for (status, count, calls) in [("failed", 1, 4), ("ok", 2, 6), ("all", 2, 8)] {
            let answer = site.replay(&owner(), &id, json!({ "since": 0, "status": status })).await;
            assert_eq!(answer.json()["replayed"], count, "{status}: {}", answer.text());
            endpoint.calls(calls).await;
            site.until_status(&owner(), "ok", 3).await;
        }
        for payload in
            [json!({}), json!({ "since": "soon" }), json!({ "since": -1 }), json!({ "since": 0, "status": "x" })]
        {
            let refused = site.replay(&owner(), &id, payload).await;
            assert_eq!(refusal(&refused), (400, "bad_request".to_owned()), "{}", refused.text());
        }
        site.close().await;
    }
}

#[tokio::test]
async fn one_replay_at_a_time_and_so_many_a_day() {
    for site in sites_with(json!({ "replays_per_day": 3 })).await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        for number in 0..4 {
            site.message(&number.to_string()).await;
            site.until_status(&owner(), "ok", number + 1).await;
        }
        let created: Vec<Value> = site.mine_of(&owner()).await["deliveries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|d| d["createdAt"].clone())
            .collect();
        endpoint.fail(1);
        let answer = site.replay(&owner(), &id, json!({ "since": 0 })).await.json();
        assert_eq!((&answer["replayed"], &answer["remainingToday"]), (&json!(3), &json!(0)));
        assert_eq!(answer["nextSince"], created[0], "the newest one is left");
        // One of them waits for its next attempt.
        site.until_status(&owner(), "ok", 3).await;
        assert_eq!(
            refusal(&site.replay(&owner(), &id, json!({ "since": 0 })).await),
            (409, "replay_running".to_owned())
        );
        site.wait(12).await;
        site.until_status(&owner(), "ok", 4).await;
        let refused = site.replay(&owner(), &id, json!({ "since": 0 })).await;
        assert_eq!(refusal(&refused), (429, "daily_replays".to_owned()));
        assert!(refused.header("retry-after").parse::<i64>().unwrap() <= 86_400);
        site.wait(86_400).await;
        let answer = site.replay(&owner(), &id, json!({ "since": created[0] })).await;
        assert_eq!(answer.json()["replayed"], 1, "{}", answer.text());
        site.close().await;
    }
}

/// A replay used to keep the task of before, and so waited for as long as that did.
#[tokio::test]
async fn what_waited_when_the_webhook_was_switched_off_is_replayed_at_once() {
    for site in sites_with(json!({ "retry_s": [600] })).await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        endpoint.fail(1);
        site.message("waits").await;
        TestGateway::eventually(LIMIT, "it waits", async || site.newest().await["attempts"] == 1).await;
        endpoint.answer([ResponseTemplate::new(410)]);
        site.message("gone").await;
        site.until_status(&owner(), "failed", 2).await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        let answer = site.replay(&owner(), &id, json!({ "since": 0 })).await;
        assert_eq!(answer.json()["replayed"], 2, "{}", answer.text());
        let bodies = endpoint.bodies(4).await;
        let texts = bodies.iter().map(|body| body["data"]["body"].as_str().unwrap()).collect::<Vec<_>>();
        assert_eq!(texts, ["waits", "gone", "waits", "gone"]);
        site.until_status(&owner(), "ok", 2).await;
        // When the time of the first task comes, there is nothing to do.
        site.wait(700).await;
        let is_empty = async || site.gateway.rows("SELECT id FROM webhooks_queue").await.is_empty();
        TestGateway::eventually(LIMIT, "no task is left", is_empty).await;
        endpoint.calls(4).await;
        site.close().await;
    }
}

#[tokio::test]
async fn only_the_owner_of_an_active_webhook_replays() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        let since = json!({ "since": 0 });
        assert_eq!(refusal(&site.replay(&client(), &id, since.clone()).await), (403, "not_owner".to_owned()));
        assert_eq!(refusal(&site.replay(&owner(), &json!(9999), since.clone()).await), (404, "not_found".to_owned()));
        assert_eq!(site.replay(&owner(), &id, since.clone()).await.json()["replayed"], 0);
        let off = json!({ "url": endpoint.url(), "secret": super::SECRET, "events": ["dm.received"], "active": false });
        site.set(&owner(), off).await;
        assert_eq!(refusal(&site.replay(&owner(), &id, since).await), (409, "not_active".to_owned()));
        site.close().await;
    }
}
