//! What the network's documents say of the plugin.

use crate::fixture::{call, gateways};
use plugin_testing::{ScriptedChain, json};

#[tokio::test]
async fn the_manifest_and_the_status_name_it() {
    let chain = ScriptedChain::start().await;
    for gateway in gateways(&[&chain], |builder| builder).await {
        let manifest = gateway.get("/.well-known/service.json").await.json();
        let url = manifest["endpoints"]["rpc"].as_str().unwrap_or_else(|| panic!("{manifest}")).to_owned();
        assert!(url.ends_with("/rpc"), "{url}");
        assert_eq!((&manifest["rpc"], &manifest["walletAddEthereumChain"]["rpcUrls"]), (&json!(url), &json!([url])));
        assert_eq!(manifest["limits"]["rpcWeightPerMinute"], 6000);
        assert_eq!(
            manifest["walletAddEthereumChain"]["chainId"],
            call(&gateway, "eth_chainId", json!([])).await["result"]
        );
        let status = gateway.get("/api/status").await.json()["services"]["publicRpc"].clone();
        assert_eq!((&status["ok"], &status["inFlight"]), (&json!(true), &json!(0)), "{status}");
        assert!(gateway.get("/llms.txt").await.text().contains("/rpc"));
        gateway.stop().await;
    }
}
