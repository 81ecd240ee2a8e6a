//! Every event with its recipients and data, made from the activity log.

use super::{
    Endpoint, Site, client,
    fixture::{
        case_opened, completed, delivered, disputed, hash, plan_created, refunded, requested, resolved, stream_opened,
        subscribed, validated, validation_requested,
    },
    owner, sites,
};
use plugin_testing::{Value, Wallet, json};
use std::collections::BTreeMap;

const EVENTS: [&str; 12] = [
    "job.requested",
    "job.delivered",
    "job.completed",
    "job.refunded",
    "job.disputed",
    "dm.received",
    "bounty.claimed",
    "stream.opened",
    "sub.created",
    "case.opened",
    "validation.done",
    "chain.retracted",
];

fn stranger() -> Wallet {
    Wallet::new(3)
}

/// Endpoints of owner, client and a stranger, who want every event.
struct Listeners {
    owner: Endpoint,
    client: Endpoint,
    stranger: Endpoint,
}

impl Listeners {
    async fn register(site: &Site) -> Self {
        let (of_owner, of_client, of_stranger) =
            (Endpoint::start().await, Endpoint::start().await, Endpoint::start().await);
        site.webhook(&owner(), &of_owner, &EVENTS).await;
        site.webhook(&client(), &of_client, &EVENTS).await;
        site.webhook(&stranger(), &of_stranger, &EVENTS).await;
        Self { owner: of_owner, client: of_client, stranger: of_stranger }
    }

    /// Event and data of all calls of owner and client, in their order; the stranger is called never.
    async fn heard(&self, owner: usize, client: usize) -> [Vec<(String, Value)>; 2] {
        let events = |bodies: Vec<Value>| {
            bodies
                .into_iter()
                .map(|mut body| (body["event"].as_str().unwrap().to_owned(), body["data"].take()))
                .collect()
        };
        let heard = [events(self.owner.bodies(owner).await), events(self.client.bodies(client).await)];
        assert_eq!(self.stranger.count().await, 0);
        heard
    }
}

/// Transaction of each type in the log.
async fn transactions(site: &Site) -> BTreeMap<String, Value> {
    let events = site.gateway.events().await;
    events.into_iter().map(|mut event| (event.kind, event.data["tx"].take())).collect()
}

#[tokio::test]
async fn jobs_concern_owner_and_client() {
    for site in sites().await {
        let listeners = Listeners::register(&site).await;
        site.mine(vec![requested(7, 1, &client()), delivered(7), completed(7)]).await;
        site.mine(vec![requested(8, 1, &client()), refunded(8)]).await;
        site.mine(vec![requested(9, 1, &client()), disputed(9), resolved(9)]).await;
        let [heard, by_client] = listeners.heard(7, 7).await;
        assert_eq!(heard, by_client);
        let names: Vec<&str> = heard.iter().map(|(event, _)| event.as_str()).collect();
        let expected = [
            "job.requested",
            "job.delivered",
            "job.completed",
            "job.requested",
            "job.refunded",
            "job.requested",
            "job.disputed",
        ];
        assert_eq!(names, expected, "in the order of the log, and no job.resolved");
        // The data is the log's, with plain addresses and the position.
        let logged: Vec<Value> = site
            .gateway
            .events()
            .await
            .into_iter()
            .filter(|event| event.kind.starts_with("job.") && event.kind != "job.resolved")
            .map(|event| {
                let mut data = event.data;
                data["activityId"] = json!(event.id);
                data
            })
            .collect();
        assert_eq!(heard.iter().map(|(_, data)| data.clone()).collect::<Vec<_>>(), logged);
        let first = &heard[0].1;
        assert_eq!((&first["owner"], &first["client"]), (&json!(owner().address()), &json!(client().address())));
        assert_eq!((&first["jobId"], &first["amount"], &first["status"]), (&json!(7), &json!("7"), &json!("Open")));
        site.close().await;
    }
}

#[tokio::test]
async fn a_message_reaches_its_recipient_with_its_body() {
    for site in sites().await {
        let listeners = Listeners::register(&site).await;
        let message = site.message("the body").await;
        let [heard, _] = listeners.heard(1, 0).await;
        let data = json!({
            "messageId": message["id"], "from": client().address(), "to": owner().address(), "subject": "about",
            "body": "the body", "createdAt": message["createdAt"],
        });
        assert_eq!(heard, [("dm.received".to_owned(), data)]);
        let logged = site.gateway.events().await.into_iter().find(|event| event.kind == "message.send").unwrap();
        assert!(!logged.data.to_string().contains("the body"), "{}", logged.data);
        site.close().await;
    }
}

#[tokio::test]
async fn a_claim_concerns_the_poster() {
    for site in sites().await {
        let listeners = Listeners::register(&site).await;
        let new = json!({ "title": "Title", "brief": "what to do", "rewardWei": "5" });
        let bounty =
            site.gateway.post_signed("/api/bounties", &client(), "bounty.create", new).await.json()["id"].clone();
        let path = format!("/api/bounties/{bounty}/claims");
        let claim = json!({ "agentId": 1, "pitch": "me" });
        let claimed = site.gateway.post_signed(&path, &owner(), "bounty.claim", claim).await;
        assert_eq!(claimed.status, 201, "{}", claimed.text());
        let [_, heard] = listeners.heard(0, 1).await;
        let data = json!({
            "bountyId": bounty, "title": "Title", "claimId": claimed.json()["id"], "agentId": 1, "agentName": "agent 1",
            "updated": false, "claimer": owner().address(),
        });
        assert_eq!(heard, [("bounty.claimed".to_owned(), data)]);
        site.close().await;
    }
}

#[tokio::test]
async fn streams_and_subscriptions_concern_both_sides() {
    for site in sites().await {
        let listeners = Listeners::register(&site).await;
        let logs = vec![stream_opened(4, &client(), &owner()), plan_created(5, &owner()), subscribed(6, 5, &client())];
        site.mine(logs).await;
        let tx = transactions(&site).await;
        let [by_owner, by_client] = listeners.heard(2, 2).await;
        let (payer, payee) = (client().address().to_owned(), owner().address().to_owned());
        let stream = json!({
            "streamId": 4, "payer": payer, "payee": payee, "ratePerSec": "2", "deposit": "200", "start": 10, "stop": 110,
            "tx": tx["stream.opened"],
        });
        let sub = json!({
            "subId": 6, "planId": 5, "payer": payer, "payee": payee, "periods": 2, "paidThrough": 120, "tx": tx["sub.created"],
        });
        let expected = [("stream.opened".to_owned(), stream), ("sub.created".to_owned(), sub)];
        assert_eq!(by_owner, expected);
        assert_eq!(by_client, expected);
        site.close().await;
    }
}

#[tokio::test]
async fn a_case_concerns_client_and_owner_and_a_validation_the_owner() {
    for site in sites().await {
        site.mine(vec![requested(7, 1, &client())]).await;
        // The follower of the log is past the request: the webhooks are not told of it.
        site.log_is_followed().await;
        let listeners = Listeners::register(&site).await;
        let logs =
            vec![case_opened(3, 7, &client()), validation_requested(1, &stranger(), 5), validated(1, &stranger(), 5)];
        site.mine(logs).await;
        let tx = transactions(&site).await;
        let [by_owner, by_client] = listeners.heard(2, 1).await;
        let case = json!({
            "caseId": 3, "jobId": 7, "opener": client().address(), "evidenceURI": "ipfs://evidence", "agentId": 1,
            "tx": tx["case.opened"],
        });
        let validation = json!({
            "agentId": 1, "requestHash": hash(5), "response": 88, "responseURI": "ipfs://judgement", "tag": "quality",
            "tx": tx["validation.done"], "validator": stranger().address(),
        });
        assert_eq!(by_client, [("case.opened".to_owned(), case.clone())]);
        let mut by_owner = by_owner;
        by_owner.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(by_owner, [("case.opened".to_owned(), case), ("validation.done".to_owned(), validation)]);
        site.close().await;
    }
}

#[tokio::test]
async fn each_webhook_hears_of_an_event_once_and_of_others_not_at_all() {
    for site in sites().await {
        let (all, jobs, none) = (Endpoint::start().await, Endpoint::start().await, Endpoint::start().await);
        site.webhook(&owner(), &all, &EVENTS).await;
        site.webhook(&owner(), &jobs, &["job.requested"]).await;
        site.webhook(&owner(), &none, &["job.refunded"]).await;
        // The owner is the client, too; and two jobs of one transaction are two events.
        let both = [requested(7, 1, &owner()), requested(8, 1, &owner())].map(|log| log.in_transaction("same"));
        site.mine(both.into()).await;
        site.message("m").await;
        let ids = |bodies: Vec<Value>| -> Vec<String> {
            bodies.iter().map(|body| body["id"].as_str().unwrap().to_owned()).collect()
        };
        let (all, jobs) = (ids(all.bodies(3).await), ids(jobs.bodies(2).await));
        let mut distinct: Vec<&String> = all.iter().chain(&jobs).collect();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 5, "{distinct:?}");
        assert!(all[0].starts_with("job.requested:"), "{all:?}");
        assert_eq!(none.count().await, 0);
        site.close().await;
    }
}

#[tokio::test]
async fn events_of_before_a_webhook_are_not_sent() {
    for site in sites().await {
        site.message("before").await;
        site.mine(vec![requested(7, 1, &client())]).await;
        // Until the follower of the log is past them: what comes later is made of the webhooks that there are then.
        site.log_is_followed().await;
        let listeners = Listeners::register(&site).await;
        site.message("after").await;
        let [heard, _] = listeners.heard(1, 0).await;
        assert_eq!(heard[0].1["body"], "after");
        site.close().await;
    }
}
