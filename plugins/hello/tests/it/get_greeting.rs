//! `GET /api/hello/{name}`.

use crate::{close, houses};
use plugin_testing::{TestGateway, json};

#[tokio::test]
async fn the_name_is_greeted() {
    for house in houses().await {
        let answer = house.get("/api/hello/world").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.json(), json!({ "greeting": "Hello, world!" }));
        close(house).await;
    }
}

#[tokio::test]
async fn names_are_read_from_the_path_as_text() {
    for house in houses().await {
        let answer = house.get("/api/hello/J%C3%BCrgen%20%F0%9F%91%8B").await;
        assert_eq!(answer.json()["greeting"], "Hello, Jürgen 👋!");
        close(house).await;
    }
}

#[tokio::test]
async fn the_operator_chooses_the_greeting() {
    let builder = TestGateway::builder().plugin(hello::plugin_module());
    let house = builder.config("hello", json!({ "greeting": "Moin" })).start().await;
    assert_eq!(house.get("/api/hello/world").await.json()["greeting"], "Moin, world!");
    close(house).await;
}
