//! `GET /api/loadtest/stats`

use super::{DEPTH, FLOAT, SINK, WALLET_1, WALLET_2, XPUB, derived, each, eventually, send, stats};
use plugin_testing::json;

#[tokio::test]
async fn without_a_key_there_is_no_load_test() {
    each(json!({}), async |_, gateway| {
        let stats = stats(&gateway).await;
        assert_eq!((&stats["deployed"], &stats["available"]), (&json!(false), &json!(false)), "{stats}");
        assert!(stats["manifest"].as_str().unwrap().ends_with("/api/loadtest/manifest"));
        gateway
    })
    .await;
}

#[tokio::test]
async fn final_blocks_are_counted_once_through_reorganisations() {
    let config = json!({ "xpub": XPUB, "wallets": 3, "sink": SINK, "count_from_block": 0 });
    each(config, async |chain, gateway| {
        derived(&gateway, 3).await;
        let (owner, shop) =
            ("0x00000000000000000000000000000000000000c1", "0x00000000000000000000000000000000000000c2");
        send(chain, owner, 0, FLOAT, 1000);
        send(chain, FLOAT, 0, WALLET_1, 100);
        send(chain, owner, 1, shop, 7);
        chain.mine_empty(1);
        send(chain, WALLET_1, 0, WALLET_2, 40);
        send(chain, WALLET_2, 0, FLOAT, 30);
        chain.mine_empty(2);
        let followed = async |block: u64| {
            gateway.rows("SELECT max(number) FROM loadtest_blocks").await == [format!("Int({block})")]
        };
        eventually(&gateway, "the blocks are followed", async || followed(3).await).await;
        let counted = stats(&gateway).await["organic"]["transactions"].as_i64();
        assert_eq!(counted.unwrap_or(0), 0, "none of them is final");
        // The same transactions get into blocks of another branch, all into the first.
        chain.reorg(3);
        send(chain, FLOAT, 1, SINK, 5);
        chain.mine_empty(1 + DEPTH);
        eventually(&gateway, "they are counted", async || stats(&gateway).await["organic"]["throughBlock"] == json!(1))
            .await;
        let stats = stats(&gateway).await;
        let organic = &stats["organic"];
        assert_eq!(organic["ready"], json!(true), "all final blocks are counted: {stats}");
        assert_eq!((&organic["transactions"], &organic["loadtest"]), (&json!(2), &json!(4)), "{stats}");
        let kinds = json!({ "fund": 1, "transfer": 1, "sweep": 1, "final": 0, "sink": 1 });
        assert_eq!(stats["counters"]["byKind"], kinds, "{stats}");
        assert_eq!((&stats["counters"]["transactions"], &stats["counters"]["volumeWei"]), (&json!(4), &json!("175")));
        assert_eq!((&stats["counters"]["addresses"], &stats["counters"]["addressesOnChain"]), (&json!(4), &json!(3)));
        assert_eq!((&stats["rates"]["daily"], &stats["rates"]["last24h"]), (&json!({ "2026-01-01": 4 }), &json!(4)));
        assert_eq!(stats["rates"]["firstTx"]["block"], json!(1));
        assert_eq!((&stats["deployed"], &stats["schema"]), (&json!(true), &json!("loadtest/1")));
        let response = gateway.get("/api/loadtest/stats").await;
        assert_eq!(response.headers["cache-control"], "public, max-age=5");
        gateway
    })
    .await;
}
