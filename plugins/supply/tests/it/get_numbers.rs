//! The routes of one number: exactly one number as text, with its unit as JSON.

use crate::fixture::{config, each, get, prepared, taken};
use plugin_testing::{ScriptedChain, TestGateway, json};

#[tokio::test]
async fn the_body_is_exactly_one_number() {
    each(config(), async |chain, gateway| {
        chain.mine_empty(40);
        chain.mine_fees(1_000_000_000, 12_345_678_901);
        chain.mine_empty(64);
        let supply = taken(&gateway, chain).await;
        // 1,000 + 39 × 2 + 2 - 12.345678901, and as no excluded addresses are configured, all of it circulates.
        for (path, text, member) in [
            ("/api/supply/total", "1067.65432109", "totalSupply"),
            ("/api/supply/circulating", "1067.65432109", "circulatingSupply"),
            ("/api/supply/max", "1157.99999999", "maxSupply"),
        ] {
            for path in [path.to_owned(), format!("{path}/"), format!("{path}?format=text"), format!("{path}?format=")]
            {
                let response = get(&gateway, &path).await;
                assert_eq!((response.status, response.text().as_str()), (200, text), "{path}");
                assert_eq!(response.header("content-type"), "text/plain; charset=utf-8");
                assert_eq!(response.header("cache-control"), "public, max-age=60");
            }
            let view = get(&gateway, &format!("{path}?format=json")).await.json();
            assert_eq!(view[member], supply[member], "{view}");
            assert_eq!(
                (&view["symbol"], &view["decimals"], &view["asOfBlock"]),
                (&json!("FMX"), &json!(18), &json!(41))
            );
            assert_eq!((&view["breakdown"], &view["stale"]), (&json!("/api/supply"), &json!(null)));
            let others =
                ["totalSupply", "circulatingSupply", "maxSupply"].iter().filter(|name| !view[**name].is_null());
            assert_eq!(others.count(), 1, "{view}");
            let refused = get(&gateway, &format!("{path}?format=xml")).await;
            assert_eq!((refused.status, &refused.json()["code"]), (400, &json!("bad_format")));
        }
        gateway
    })
    .await;
}

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
