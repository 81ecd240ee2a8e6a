//! How many endpoints are called at the same time: in all, of one owner, and of those that failed.

use super::{LIMIT, SECRET, Site, client, owner, sites_with, slow_server::SlowServer};
use plugin_testing::{TestGateway, Value, Wallet, json};

async fn register(site: &Site, server: &SlowServer, wallet: &Wallet, name: &str, count: usize) {
    for number in 0..count {
        let payload = json!({ "url": server.url(name, number), "secret": SECRET, "events": ["dm.received"] });
        let set = site.set(wallet, payload).await;
        assert_eq!(set.status, 201, "{}", set.text());
    }
}

/// An event for each webhook of the recipient.
async fn message(site: &Site, sender: &Wallet, recipient: &Wallet) {
    site.wait(1).await;
    let payload = json!({ "to": recipient.address(), "body": "m" });
    let sent = site.gateway.post_signed("/api/messages", sender, "message.send", payload).await;
    assert_eq!(sent.status, 201, "{}", sent.text());
}

async fn answered(server: &SlowServer, count: usize) {
    TestGateway::eventually(LIMIT, &format!("{count} calls are answered"), async || server.answered() == count).await;
}

/// Six webhooks of each of two owners hear of an event at the same moment.
async fn most_at_once(config: Value) -> Vec<(usize, Vec<usize>)> {
    let mut most = Vec::new();
    for site in sites_with(config.clone()).await {
        let server = SlowServer::start().await;
        for (wallet, name) in [(owner(), "one"), (client(), "two")] {
            register(&site, &server, &wallet, name, 6).await;
        }
        message(&site, &client(), &owner()).await;
        message(&site, &owner(), &client()).await;
        answered(&server, 12).await;
        most.push(server.take_most());
        site.close().await;
    }
    most
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_endpoints_of_an_owner_are_called_at_once() {
    for (_, by_owner) in most_at_once(json!({})).await {
        assert_eq!(by_owner, [4, 4]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_many_endpoints_are_called_at_once_as_the_operator_says() {
    for (of_all, by_owner) in most_at_once(json!({ "endpoints_at_once": 3 })).await {
        assert_eq!(of_all, 3, "{by_owner:?}");
    }
    for (_, by_owner) in most_at_once(json!({ "endpoints_at_once_per_owner": 2 })).await {
        assert_eq!(by_owner, [2, 2]);
    }
}

/// All of them failed and are due again when the gateway starts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_starts_no_storm_and_failing_endpoints_share_a_quarter() {
    let config = json!({ "webhooks_per_owner": 20, "endpoints_at_once": 8, "endpoints_at_once_per_owner": 8 });
    for site in sites_with(config).await {
        let server = SlowServer::start().await;
        register(&site, &server, &owner(), "one", 10).await;
        server.set_status(500);
        message(&site, &client(), &owner()).await;
        answered(&server, 10).await;
        assert_eq!(server.take_most().0, 8);
        server.set_status(200);
        let Site { gateway, chain } = site;
        let site = Site { gateway: gateway.restart().await, chain };
        site.wait(12).await;
        site.until_status(&owner(), "ok", 10).await;
        assert_eq!((server.take_most().0, server.answered()), (2, 20));
        site.close().await;
    }
}

/// There is no retry: each delivery fails for good.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endpoints_whose_delivery_failed_for_good_share_a_quarter() {
    let config = json!({
        "webhooks_per_owner": 20, "endpoints_at_once": 8, "endpoints_at_once_per_owner": 8, "retry_s": [],
    });
    for site in sites_with(config).await {
        let server = SlowServer::start().await;
        register(&site, &server, &owner(), "one", 8).await;
        server.set_status(500);
        message(&site, &client(), &owner()).await;
        site.until_status(&owner(), "failed", 8).await;
        assert_eq!(server.take_most().0, 8);
        server.set_status(200);
        message(&site, &client(), &owner()).await;
        site.until_status(&owner(), "ok", 8).await;
        assert_eq!(server.take_most().0, 2);
        site.close().await;
    }
}
