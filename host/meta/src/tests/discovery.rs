//! Manifest and agent card.

use super::fixture::GatewayFixture;
use crate::agent_card::agent_card;
use crate::service_manifest::manifest;
use serde_json::json;

#[test]
fn the_manifest_holds_what_the_gateway_and_its_plugins_say() {
    insta::assert_json_snapshot!(GatewayFixture::with_two_plugins().with_context(manifest));
}

#[test]
fn the_card_holds_what_the_gateway_and_its_plugins_say() {
    insta::assert_json_snapshot!(GatewayFixture::with_two_plugins().with_context(agent_card));
}

#[test]
fn a_plugin_cannot_overwrite_what_the_gateway_says() {
    let manifest = GatewayFixture::with_two_plugins().with_context(manifest);
    assert_eq!(manifest["chainId"], 3961);
    assert_eq!(manifest["limits"]["bodyBytes"], 262_144);
    assert_eq!(manifest["endpoints"]["health"], "https://gateway.test/api/health");
    assert_eq!(manifest["x402"]["scheme"], "service-voucher", "but it can add");
    assert_eq!(
        manifest["live"]["stats"],
        json!({ "notes": 3, "signalVolumeWei": "1000000000000000000", "notesPinned": 1 })
    );
}

#[test]
fn wallets_get_a_lower_case_chain_id_and_urls_that_they_accept() {
    let wallet = GatewayFixture::with_two_plugins().with_context(manifest)["walletAddEthereumChain"].clone();
    assert_eq!(
        wallet,
        json!({
            "chainId": "0xf79", "chainName": "Service Network", "rpcUrls": ["https://rpc.test"],
            "nativeCurrency": { "name": "FMX Coin", "symbol": "FMX", "decimals": 18 },
        })
    );
}

#[test]
fn an_rpc_server_on_loopback_needs_no_tls() {
    let rpc_urls = |rpc: Option<&str>| {
        let mut gateway = GatewayFixture::without_plugins();
        gateway.chain.rpc = rpc.map(str::to_owned);
        gateway.with_context(manifest)["walletAddEthereumChain"]["rpcUrls"].clone()
    };
    for accepted in ["http://127.0.0.1:8545", "http://localhost:8545/", "http://[::1]:8545", "https://rpc.test/a?b=c"] {
        assert_eq!(rpc_urls(Some(accepted)), json!([accepted]));
    }
    for refused in ["http://rpc.test", "http://192.168.0.1:8545", "http://localhost.rpc.test", "ws://127.0.0.1", "rpc"]
    {
        assert_eq!(rpc_urls(Some(refused)), json!([]), "{refused}");
    }
    assert_eq!(rpc_urls(None), json!([]));
}

#[test]
fn the_marker_is_the_brands() {
    let mut gateway = GatewayFixture::without_plugins();
    gateway.environment.brand.marker = "acme".into();
    let manifest = gateway.with_context(manifest);
    assert_eq!(manifest["acme"], 1);
    assert_eq!(manifest.get("service"), None);
    assert_eq!(manifest["endpoints"]["manifest"], "https://gateway.test/.well-known/acme.json");
}

#[test]
fn the_card_claims_only_what_is_enabled() {
    let capabilities = |gateway: GatewayFixture| gateway.with_context(agent_card)["capabilities"].clone();
    let expected = json!({ "streaming": true, "pushNotifications": false, "stateTransitionHistory": true });
    assert_eq!(capabilities(GatewayFixture::with_two_plugins()), expected);
    let expected = json!({ "streaming": false, "pushNotifications": false, "stateTransitionHistory": false });
    assert_eq!(capabilities(GatewayFixture::without_plugins()), expected);
}

#[test]
fn no_limit_is_null() {
    let gateway = GatewayFixture::without_plugins();
    let limits = |write_interval_ms| {
        gateway.with_context(|context| {
            let limits = crate::Limits { write_interval_ms, ..context.limits.clone() };
            manifest(&crate::DocumentContext { limits: &limits, ..*context })["limits"]["writesPerSecondPerAddress"]
                .clone()
        })
    };
    assert_eq!(limits(1000), json!(1));
    assert_eq!(limits(250), json!(4));
    assert_eq!(limits(2000), json!(0.5));
    assert_eq!(limits(0), json!(null));
}
