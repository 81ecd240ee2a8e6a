//! What only its owner knows of a path is in no log.

use super::{Site, answer, setup_with_all_plugins, signed};
use gateway_clock::Clock;
use plugin_testing::{TestGateway, Wallet, json};
use reqwest::Method;
use std::time::Duration;

const KEY: &str = "diary-of-the-quokka";

#[tokio::test]
async fn the_access_log_has_the_declared_path_in_place_of_a_key() {
    let gateway = setup_with_all_plugins().set("log.level", "debug").start().await.unwrap();
    let (site, wallet, path) = (Site::of(&gateway), Wallet::new(1), format!("/api/memory/{KEY}"));
    let body = signed(&wallet, "memory.put", &json!({ "key": KEY, "value": 1 })).to_string();
    let stored = answer(site.request(Method::PUT, &path).body(body)).await;
    assert_eq!(stored.status, 201, "{}", stored.text());
    let headers = wallet.signed_headers("memory.get", Clock::System.now_s(), "");
    let read = headers.iter().fold(site.request(Method::GET, &path), |read, (name, value)| read.header(name, value));
    assert_eq!(answer(read).await.status, 200);
    // Refused by the route, and by the router.
    assert_eq!(site.get(&path).await.status, 401);
    for method in [Method::PATCH, Method::POST] {
        assert_eq!(answer(site.request(method, &path)).await.status, 405);
    }
    let setup = gateway.setup();
    TestGateway::eventually(Duration::from_secs(20), "all five are logged", async || {
        setup.log().matches("/api/memory/{key}").count() >= 3 && setup.log().contains("405")
    })
    .await;
    assert!(!setup.log().contains(KEY), "the log has the key");
}
