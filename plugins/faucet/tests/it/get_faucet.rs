//! `GET /api/faucet`, and the service in `/api/status`.

use crate::{DRIP, RELAYER, drip, each, each_built, faucet};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn it_says_what_may_be_used() {
    each(json!({}), async |_, gateway| {
        drip(&gateway, 1).await;
        let mut shown = faucet(&gateway).await;
        for text in ["how", "perAddress", "perIp"] {
            let text = shown.as_object_mut().unwrap().remove(text).unwrap();
            assert!(text.as_str().unwrap().len() > 10, "{text}");
        }
        let expected = json!({
            "enabled": true, "dripFmx": "0.5", "globalPerDay": 100, "relayerReserveFmx": "50.0", "usedToday": 1,
            "allowedByNow": 25, "freshKeysOnly": true, "pow": null,
        });
        assert_eq!(shown, expected);
        gateway
    })
    .await;
}

#[tokio::test]
async fn the_status_names_what_is_left() {
    each(json!({}), async |chain, gateway| {
        drip(&gateway, 1).await;
        let status = gateway.get("/api/status").await.json();
        let expected = json!({
            "ok": true, "enabled": true, "dripFmx": "0.5", "usedToday": 1, "remainingToday": 99, "allowedByNow": 25,
            "dripsFunded": 1899, "relayerReserveFmx": "50.0",
        });
        assert_eq!(status["services"]["faucet"], expected);
        chain.set_balance(Wallet::new(RELAYER).address().parse().unwrap(), DRIP);
        let empty = gateway.collect("status", &json!({})).await["faucet"]["faucet"].clone();
        assert_eq!((&empty["ok"], &empty["dripsFunded"]), (&json!(false), &json!(0)), "{empty}");
        gateway
    })
    .await;
    let without_key = |builder: plugin_testing::Builder| builder.configure(|config| config.signers.clear());
    each_built(json!({}), without_key, async |_, gateway| {
        assert_eq!(faucet(&gateway).await["enabled"], false);
        let off = gateway.collect("status", &json!({})).await["faucet"]["faucet"].clone();
        assert_eq!((&off["ok"], &off["enabled"]), (&json!(false), &json!(false)), "{off}");
        gateway
    })
    .await;
}
