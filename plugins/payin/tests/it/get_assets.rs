//! `GET /api/payin/assets`

use crate::{CONFIRMATIONS, TOKEN, deposit_address, each, selling};
use plugin_testing::{ScriptedChain, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_says_what_buys_coins_and_where() {
    each(selling(), async |site| {
        let mut assets = site.assets().await;
        let last_scan_at = assets["chains"][0].as_object_mut().unwrap().remove("lastScanAt").unwrap();
        assert!(last_scan_at.is_i64(), "{last_scan_at}");
        let token = ScriptedChain::address_of(TOKEN);
        let expected = json!({
            "enabled": true, "priceUsdPerFmx": "0.05", "spreadBps": 200, "minUsd": 1, "maxUsd": 10000, "expires": 900,
            "chains": [{
                "chain": "dev", "chainId": 31337, "name": "Dev", "explorer": "https://explorer.example",
                "confirmations": CONFIRMATIONS, "depositAddress": deposit_address(), "available": true,
                "assets": [{ "symbol": "USDX", "kind": "erc20", "token": token, "decimals": 6, "stable": true,
                    "addressPerQuote": false }],
            }],
            "availableChains": ["dev"],
        });
        assert_eq!(assets, expected);

        // The operator's words are not for everybody.
        site.pause(json!({ "chain": "dev", "paused": true, "reason": "looking" })).await;
        let paused = site.assets().await;
        let chain = &paused["chains"][0];
        assert_eq!((&chain["available"], &chain["unavailableReason"]), (&json!(false), &json!("it is paused")));
        assert_eq!((&paused["enabled"], &paused["availableChains"]), (&json!(true), &json!([])), "{paused}");
        site
    })
    .await;
}
