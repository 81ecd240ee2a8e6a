//! `GET /api/relay`, the service in `/api/status`, and the limits in the manifest.

use crate::{Draft, each, each_built, relayed, relayer};
use plugin_testing::{Builder, Fault, ScriptedChain, json};

#[tokio::test]
async fn it_says_what_is_signed_and_what_may_be_called() {
    each(json!({}), async |_, gateway| {
        let address = ScriptedChain::address_of;
        let field = |name: &str, kind: &str| json!({ "name": name, "type": kind });
        let expected = json!({
            "enabled": true, "relayer": relayer(), "factory": address("accountFactory"),
            "implementation": address("accountImpl"),
            "limits": {
                "relaysPerAccountPerDay": 20, "relaysPerIpPerDay": 100, "relaysPerDay": 2000, "maxGas": 300_000,
                "accountCreatesPerOwnerPerDay": 1, "accountCreatesPerIpPerDay": 5, "accountCreatesPerDay": 200,
            },
            "allowedTargets": {
                "registry": address("registry"), "escrow": address("escrow"), "accountFactory": address("accountFactory"),
            },
            "signing": {
                "domain": {
                    "name": "ServiceAgentAccount", "version": "1", "chainId": 3961, "verifyingContract": "the account",
                },
                "primaryType": "Execute",
                "fields": [
                    field("to", "address"), field("value", "uint256"), field("dataHash", "bytes32"),
                    field("nonce", "uint256"), field("deadline", "uint64"),
                ],
            },
        });
        assert_eq!(gateway.get("/api/relay").await.json(), expected);
        let health = gateway.collect("health", &json!({})).await;
        assert_eq!(health["relay"], json!({ "relayer": relayer() }));
        let manifest = gateway.get("/.well-known/service.json").await.json();
        let limits = &manifest["limits"];
        assert_eq!((&limits["relaysPerAccountPerDay"], &limits["relayMaxGas"]), (&json!(20), &json!(300_000)));
        for endpoint in ["relay", "accounts"] {
            assert!(manifest["endpoints"][endpoint].is_string(), "{endpoint}");
        }
        gateway
    })
    .await;
}

#[tokio::test]
async fn the_status_is_that_of_the_relayer() {
    each(json!({}), async |chain, gateway| {
        relayed(&gateway, &Draft::new(&gateway, 1, 0)).await;
        let status = async || gateway.collect("status", &json!({})).await["relay"]["relayer"].clone();
        let expected = json!({
            "ok": true, "enabled": true, "address": relayer(), "balanceFmx": "1000.0", "lowFunds": false, "relaysToday": 1,
            "accountImpl": ScriptedChain::address_of("accountImpl"),
        });
        assert_eq!(status().await, expected);
        chain.set_balance(relayer(), "100000000000000000");
        let enough = status().await;
        assert_eq!((&enough["ok"], &enough["lowFunds"]), (&json!(true), &json!(false)), "{enough}");
        chain.set_balance(relayer(), "99999999999999999");
        let low = status().await;
        assert_eq!((&low["ok"], &low["lowFunds"]), (&json!(false), &json!(true)), "{low}");
        assert!(low["detail"].as_str().unwrap().contains("less than 0.1 FMX"), "{low}");
        chain.fail_always(Some(Fault::Status(502)));
        let unread = status().await;
        assert_eq!((&unread["ok"], &unread["balanceFmx"]), (&json!(false), &json!(null)), "{unread}");
        assert!(unread["detail"].as_str().unwrap().contains("cannot be read"), "{unread}");
        chain.fail_always(None);
        gateway
    })
    .await;
}

#[tokio::test]
async fn it_says_why_it_is_off() {
    let without_factory = |builder: Builder| {
        builder.configure(|config| {
            config.chains.get_mut("main").unwrap().contracts.remove("accountFactory");
        })
    };
    each_built(json!({}), without_factory, async |_, gateway| {
        let off = gateway.get("/api/relay").await.json();
        assert_eq!((&off["disabled"], &off["enabled"], &off["factory"]), (&json!(true), &json!(false), &json!(null)));
        assert!(off["reason"].as_str().unwrap().contains("accountFactory"), "{off}");
        let status = gateway.collect("status", &json!({})).await["relay"]["relayer"].clone();
        assert_eq!((&status["ok"], &status["enabled"]), (&json!(true), &json!(false)), "{status}");
        gateway
    })
    .await;
}

#[tokio::test]
async fn without_a_key_the_service_is_off_and_well() {
    let without_key = |builder: Builder| builder.configure(|config| config.signers.clear());
    each_built(json!({}), without_key, async |_, gateway| {
        let status = gateway.collect("status", &json!({})).await["relay"]["relayer"].clone();
        assert_eq!((&status["ok"], &status["enabled"]), (&json!(true), &json!(false)), "{status}");
        assert_eq!(status["detail"], "the role relayer has no key", "{status}");
        gateway
    })
    .await;
}
