//! Where no number is known, the routes of one number say so, and not with a number.

use crate::fixture::{config, each, get, prepared};
use plugin_testing::{ScriptedChain, TestGateway, json};

#[tokio::test]
async fn without_a_snapshot_there_is_no_number() {
    each(config(), async |_, gateway| {
        for path in ["/api/supply", "/api/supply/total?format=json", "/api/supply/max", "/api/supply/circulating"] {
            let response = get(&gateway, path).await;
            assert_eq!((response.status, response.header("retry-after")), (503, "60"), "{path}: {}", response.text());
            assert_eq!(response.header("cache-control"), "no-store");
            if path.ends_with("json") || path == "/api/supply" {
                assert_eq!(response.json()["code"], "chain_unavailable");
            } else {
                assert!(response.header("content-type").starts_with("text/plain"));
                assert!(
                    !response.text().chars().any(|letter| letter.is_ascii_digit()),
                    "no number: {}",
                    response.text()
                );
            }
        }
        gateway
    })
    .await;
}

#[tokio::test]
async fn a_chain_without_issuance_has_no_supply() {
    let chain = ScriptedChain::with_id(7).await;
    chain.mine_empty(80);
    let builder = prepared(TestGateway::builder().configure(|config| config.chain_id = 7), &chain, &json!({}));
    let gateway = builder.start().await;
    let response = get(&gateway, "/api/supply").await;
    assert_eq!((response.status, &response.json()["code"]), (503, &json!("disabled")), "{}", response.text());
    assert_eq!(get(&gateway, "/api/supply/max").await.header("cache-control"), "no-store");
    assert_eq!(get(&gateway, "/api/status").await.json()["services"]["supply"]["enabled"], false);
    gateway.stop().await;
}
