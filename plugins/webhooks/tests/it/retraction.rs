//! Events that a reorganisation undoes after they were public.

use super::{Endpoint, Site, client, fixture::requested, owner, sites};
use plugin_testing::{TestGateway, Value, json};

/// Undoes the job, which was public.
async fn undo(site: &Site) {
    site.chain.reorg(4);
    site.chain.mine_empty(8);
    site.gateway.indexed(&site.chain).await;
}

fn status_of(mine: &Value, event: &str) -> Vec<String> {
    let deliveries = mine["deliveries"].as_array().unwrap().iter().filter(|delivery| delivery["event"] == event);
    deliveries.map(|delivery| delivery["status"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn who_heard_of_it_hears_of_the_retraction_if_subscribed() {
    for site in sites().await {
        let (subscribed, other) = (Endpoint::start().await, Endpoint::start().await);
        let id = site.webhook(&owner(), &subscribed, &["job.requested", "chain.retracted"]).await["id"].clone();
        site.webhook(&client(), &other, &["job.requested"]).await;
        let unconcerned = Endpoint::start().await;
        site.webhook(&owner(), &unconcerned, &["chain.retracted"]).await;
        site.mine(vec![requested(7, 1, &client())]).await;
        let heard = subscribed.bodies(1).await.remove(0);
        other.calls(1).await;
        site.until_status(&owner(), "ok", 1).await;
        undo(&site).await;
        let retraction = subscribed.bodies(2).await.remove(1);
        assert_eq!(retraction["event"], "chain.retracted");
        let delivery =
            site.gateway.rows("SELECT id FROM webhooks_deliveries WHERE event = 'job.requested' ORDER BY id").await;
        let named = &retraction["data"]["deliveries"];
        assert_eq!(named.as_array().unwrap().len(), 1);
        assert_eq!((&named[0]["id"], &named[0]["event"]), (&heard["id"], &json!("job.requested")));
        assert_eq!((&named[0]["activityId"], &named[0]["webhookId"]), (&heard["data"]["activityId"], &id));
        assert_eq!(delivery.len(), 2);
        site.until_status(&owner(), "ok", 2).await;
        assert_eq!((other.count().await, unconcerned.count().await), (1, 0));
        // It is not sent again, whoever asks for it.
        let replay = site.replay(&owner(), &id, json!({ "since": 0, "status": "all" })).await.json();
        assert_eq!(replay["replayed"], 1, "chain.retracted itself");
        let again = subscribed.bodies(3).await.remove(2);
        assert_eq!(again["event"], "chain.retracted");
        site.close().await;
    }
}

#[tokio::test]
async fn what_was_not_sent_yet_is_not_sent_any_more() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        let events = ["job.requested", "chain.retracted"];
        site.webhook(&owner(), &endpoint, &events).await;
        endpoint.fail(1);
        site.mine(vec![requested(7, 1, &client())]).await;
        TestGateway::eventually(super::LIMIT, "an attempt failed", async || site.newest().await["attempts"] == 1).await;
        undo(&site).await;
        // The attempt seemed to fail, and may have been heard.
        let retraction = endpoint.bodies(2).await.remove(1);
        assert_eq!(retraction["event"], "chain.retracted");
        site.until_status(&owner(), "ok", 1).await;
        let mine = site.mine_of(&owner()).await;
        assert_eq!(status_of(&mine, "job.requested"), ["failed"]);
        assert_eq!(mine["deliveries"][1]["lastError"], "a reorganisation of the chain undid the event");
        site.wait(3600).await;
        endpoint.calls(2).await;
        site.close().await;
    }
}

#[tokio::test]
async fn an_event_that_is_retracted_while_it_is_sent_is_announced_afterwards() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["job.requested", "chain.retracted"]).await;
        endpoint.answer([wiremock::ResponseTemplate::new(200).set_delay(std::time::Duration::from_secs(4))]);
        site.mine(vec![requested(7, 1, &client())]).await;
        endpoint.calls(1).await;
        undo(&site).await;
        let retraction = endpoint.bodies(2).await.remove(1);
        assert_eq!(retraction["event"], "chain.retracted");
        assert_eq!(retraction["data"]["deliveries"].as_array().unwrap().len(), 1);
        site.until_status(&owner(), "ok", 1).await;
        site.close().await;
    }
}

/// A replay begins the count of attempts anew, and what was heard before it stays heard.
#[tokio::test]
async fn what_waits_for_its_replay_when_it_is_retracted_was_heard_before() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["job.requested", "chain.retracted"]).await["id"].clone();
        site.mine(vec![requested(7, 1, &client()), requested(8, 1, &client())]).await;
        let heard = endpoint.bodies(2).await;
        site.until_status(&owner(), "ok", 2).await;
        // While the first one is sent again, the second one waits behind it.
        endpoint.answer([wiremock::ResponseTemplate::new(200).set_delay(std::time::Duration::from_secs(4))]);
        assert_eq!(site.replay(&owner(), &id, json!({ "since": 0, "status": "all" })).await.json()["replayed"], 2);
        endpoint.calls(3).await;
        undo(&site).await;
        let retraction = endpoint.bodies(4).await.remove(3);
        assert_eq!(retraction["event"], "chain.retracted");
        let named = retraction["data"]["deliveries"].as_array().unwrap();
        assert_eq!(named.iter().map(|one| &one["id"]).collect::<Vec<_>>(), [&heard[0]["id"], &heard[1]["id"]]);
        site.until_status(&owner(), "ok", 1).await;
        assert_eq!(endpoint.count().await, 4, "one announcement for both");
        site.close().await;
    }
}
