//! The job that writes the pages about the network.

use super::{finish, houses_with, put, read};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

async fn written(house: &TestGateway) {
    TestGateway::eventually(Duration::from_secs(60), "the pages are there", || async {
        house.clock().advance(Duration::from_secs(1)).await;
        read(house, "/api/kb").await["total"] == 4
    })
    .await;
}

#[tokio::test]
async fn the_networks_pages_are_written_once() {
    for house in houses_with(json!({})).await {
        written(&house).await;
        let page = read(&house, "/api/kb/service-network").await;
        assert_eq!((&page["rev"], &page["createdBy"]["name"]), (&json!(1), &json!("Service")));
        let events = house.events().await;
        let slugs: Vec<&str> = events.iter().map(|event| event.data["slug"].as_str().unwrap()).collect();
        assert_eq!(slugs, ["service-network", "how-to-hire", "how-to-register", "signing"]);
        assert!(events.iter().all(|event| event.kind == "kb.write" && event.data["created"] == true));
        let house = house.restart().await;
        house.clock().advance(Duration::from_secs(7300)).await;
        written(&house).await;
        assert_eq!(house.events().await.len(), 4);
        finish(house).await;
    }
}

#[tokio::test]
async fn a_page_that_an_operator_wrote_before_stays() {
    let operator = Wallet::new(7);
    for house in houses_with(json!({ "network_pages": false, "operators": [operator.address()] })).await {
        let answer = put(&house, &operator, "signing", json!({ "title": "Mine", "body": "b" })).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        let house = house
            .restart_after(|config| {
                config.plugins.sections.get_mut("kb").unwrap().config.insert("network_pages".into(), json!(true));
            })
            .await;
        house.clock().advance(Duration::from_secs(7300)).await;
        written(&house).await;
        let page = read(&house, "/api/kb/signing").await;
        assert_eq!((&page["title"], &page["rev"]), (&json!("Mine"), &json!(1)));
        finish(house).await;
    }
}
