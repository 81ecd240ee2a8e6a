//! `GET /api/loadtest/manifest`

use super::{DEPTH, FLOAT, SINK, WALLET_1, XPUB, derived, each, eventually, read, send, stats};
use plugin_testing::json;

#[tokio::test]
async fn it_discloses_the_addresses_and_when_it_began() {
    let config = json!({ "xpub": XPUB, "wallets": 3, "sink": SINK, "count_from_block": 0 });
    each(config, async |chain, gateway| {
        derived(&gateway, 3).await;
        send(chain, FLOAT, 0, WALLET_1, 100);
        send(chain, WALLET_1, 0, FLOAT, 40);
        chain.mine_empty(1 + DEPTH);
        eventually(&gateway, "they are counted", async || stats(&gateway).await["organic"]["throughBlock"] == json!(1))
            .await;
        let manifest = read(&gateway, "/api/loadtest/manifest").await;
        let addresses = &manifest["addresses"];
        assert_eq!((&addresses["float"], &addresses["sink"]), (&json!(FLOAT), &json!(SINK)), "{manifest}");
        assert_eq!(
            (&addresses["derivation"]["xpub"], &addresses["derivation"]["activatedUpTo"]),
            (&json!(XPUB), &json!(1))
        );
        assert_eq!(manifest["startDate"], json!("2026-01-01"));
        gateway
    })
    .await;
}

#[tokio::test]
async fn without_a_key_it_is_not_started() {
    each(json!({}), async |_, gateway| {
        let manifest = read(&gateway, "/api/loadtest/manifest").await;
        assert_eq!((&manifest["status"], &manifest["startDate"]), (&json!("not started"), &json!(null)), "{manifest}");
        gateway
    })
    .await;
}
