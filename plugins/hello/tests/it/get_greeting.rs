//! `GET /api/hello/{name}`.

use crate::{close, gateways};
use plugin_testing::{TestGateway, json};

#[tokio::test]
async fn the_name_is_greeted() {
    for gateway in gateways().await {
        let response = gateway.get("/api/hello/world").await;
        assert_eq!(response.status, 200, "{}", response.text());
        assert_eq!(response.json(), json!({ "greeting": "Hello, world!" }));
        close(gateway).await;
    }
}

#[tokio::test]
async fn names_are_read_from_the_path_as_text() {
    for gateway in gateways().await {
        let response = gateway.get("/api/hello/J%C3%BCrgen%20%F0%9F%91%8B").await;
        assert_eq!(response.json()["greeting"], "Hello, Jürgen 👋!");
        close(gateway).await;
    }
}

#[tokio::test]
async fn the_operator_chooses_the_greeting() {
    let builder = TestGateway::builder().plugin(hello::plugin_module());
    let gateway = builder.config("hello", json!({ "greeting": "Moin" })).start().await;
    assert_eq!(gateway.get("/api/hello/world").await.json()["greeting"], "Moin, world!");
    close(gateway).await;
}
