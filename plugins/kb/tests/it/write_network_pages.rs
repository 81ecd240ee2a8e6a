//! The job that creates the pages about the network.

use super::{finish, gateways_with, put, read};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

async fn written(gateway: &TestGateway) {
    TestGateway::eventually(Duration::from_secs(60), "the pages are there", || async {
        gateway.clock().advance(Duration::from_secs(1)).await;
        read(gateway, "/api/kb").await["total"] == 4
    })
    .await;
}

#[tokio::test]
async fn the_networks_pages_are_written_once() {
    for gateway in gateways_with(json!({})).await {
        written(&gateway).await;
        let page = read(&gateway, "/api/kb/service-network").await;
        assert_eq!((&page["rev"], &page["createdBy"]["name"]), (&json!(1), &json!("Service")));
        let events = gateway.events().await;
        let slugs: Vec<&str> = events.iter().map(|event| event.data["slug"].as_str().unwrap()).collect();
        assert_eq!(slugs, ["service-network", "how-to-hire", "how-to-register", "signing"]);
        assert!(events.iter().all(|event| event.kind == "kb.write" && event.data["created"] == true));
        let gateway = gateway.restart().await;
        gateway.clock().advance(Duration::from_secs(7300)).await;
        written(&gateway).await;
        assert_eq!(gateway.events().await.len(), 4);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_page_that_an_operator_wrote_before_stays() {
    let operator = Wallet::new(7);
    for gateway in gateways_with(json!({ "network_pages": false, "operators": [operator.address()] })).await {
        let response = put(&gateway, &operator, "signing", json!({ "title": "Mine", "body": "b" })).await;
        assert_eq!(response.status, 201, "{}", response.text());
        let gateway = gateway
            .restart_after(|config| {
                config.plugins.sections.get_mut("kb").unwrap().config.insert("network_pages".into(), json!(true));
            })
            .await;
        gateway.clock().advance(Duration::from_secs(7300)).await;
        written(&gateway).await;
        let page = read(&gateway, "/api/kb/signing").await;
        assert_eq!((&page["title"], &page["rev"]), (&json!("Mine"), &json!(1)));
        finish(gateway).await;
    }
}
