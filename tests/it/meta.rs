//! The gateway's documents about itself and its chain.

use crate::chain::{builders, close, opened, started};
use plugin_testing::{ScriptedChain, TestGateway, Value, json};

async fn read(gateway: &TestGateway, path: &str) -> Value {
    let answer = gateway.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

#[tokio::test]
async fn status_tells_how_far_each_index_and_each_job_is() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    let head = chain.mine_empty(4);
    for builder in builders(&chain).await {
        // Deployed, and of no interest to any plugin.
        let builder = builder.configure(|config| {
            let main = config.chains.get_mut("main").unwrap();
            main.contracts.insert("vault".to_owned(), ScriptedChain::address_of("vault"));
        });
        let gateway = started(builder, &chain).await;
        let status = read(&gateway, "/api/status").await;
        let services = &status["services"];
        let index = &services["indexer"]["indexes"][0];
        assert_eq!((&index["plugin"], &index["state"]), (&json!("ledger"), &json!("following")), "{status}");
        assert_eq!([&index["indexedBlock"], &index["lagBlocks"], &index["lagSeconds"]], [head, 0, 0]);
        assert_eq!(
            (&services["v3indexer"]["backfilled"], &services["v3indexer"]["contracts"]),
            (&json!(true), &json!(["bank"]))
        );
        assert_eq!([&services["rpc"]["head"], &services["rpc"]["chainId"]], [head, 3961]);
        assert_eq!(services["jobs"], json!({ "ok": true, "jobs": 0, "running": 0, "failing": [], "overdue": [] }));
        assert!(services["db"]["sizeBytes"].as_i64() > Some(0), "{status}");
        assert_eq!((&status["ok"], &status["degraded"]), (&json!(true), &json!([])));
        close(gateway).await;
    }
}

#[tokio::test]
async fn what_an_operator_configured_of_the_chain_is_told_and_no_private_server_is() {
    let chain = ScriptedChain::start().await;
    for builder in builders(&chain).await {
        let private = format!("{}/v3/hunter2?key=hunter2", chain.url());
        let builder = builder.configure(|config| {
            let main = config.chains.get_mut("main").unwrap();
            main.rpc = vec![private.into()];
            main.public_rpc = Some("https://rpc.test".to_owned());
            main.explorer = Some("https://explorer.test".to_owned());
            main.label = Some("Test Net".to_owned());
            (main.currency_name, main.currency_symbol) = ("Test Coin".to_owned(), "TST".to_owned());
            (main.consensus, main.evm) = ("one node".to_owned(), "london".to_owned());
        });
        let gateway = started(builder, &chain).await;
        let manifest = read(&gateway, "/.well-known/service.json").await;
        let currency = json!({ "name": "Test Coin", "symbol": "TST", "decimals": 18 });
        assert_eq!(
            manifest["walletAddEthereumChain"],
            json!({
                "chainId": "0xf79", "chainName": "Test Net", "rpcUrls": ["https://rpc.test"],
                "nativeCurrency": currency, "blockExplorerUrls": ["https://explorer.test"]
            })
        );
        assert_eq!((&manifest["currency"], &manifest["rpc"]), (&currency, &json!("https://rpc.test")));
        assert_eq!((&manifest["consensus"], &manifest["evm"]), (&json!("one node"), &json!("london")));
        let contracts = manifest["contracts"].as_object().unwrap();
        assert_eq!(contracts.len(), 14, "those of the network, and the bank");
        assert_eq!((&contracts["memoryAnchor"], contracts["bank"].is_string()), (&json!(null), true));
        let health = read(&gateway, "/api/health").await;
        assert_eq!(
            (&health["v3"]["deployed"], &health["v3"]["contracts"]["streamPay"]),
            (&json!(["bank"]), &json!(null))
        );
        for page in [
            "/api",
            "/api/openapi.json",
            "/llms.txt",
            "/.well-known/agent.json",
            "/.well-known/service.json",
            "/api/status",
            "/api/health",
            "/api/stats",
            "/docs",
        ] {
            let answer = gateway.get(page).await;
            assert_eq!(answer.status, 200, "{page}");
            assert!(!answer.text().contains("hunter2"), "{page}: {}", answer.text());
        }
        close(gateway).await;
    }
}

/// The gateway does not cache `/api/status`; clients may, for the five seconds that the response allows.
#[tokio::test]
async fn what_is_degraded_is_told_at_the_next_question() {
    let chain = ScriptedChain::start().await;
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let well = gateway.get("/api/status").await;
        assert_eq!((well.header("cache-control"), well.header("x-service-degraded")), ("public, max-age=5", ""));
        assert_eq!(well.json()["degraded"], json!([]));
        // The head stands still for so long.
        gateway.clock().advance(std::time::Duration::from_secs(3600)).await;
        let degraded = gateway.get("/api/status").await;
        assert_eq!((degraded.status, degraded.json()["degraded"].clone()), (200, json!(["chain"])));
        assert_eq!(degraded.header("x-service-degraded"), "chain");
        assert_eq!(degraded.header("cache-control"), "public, max-age=5");
        close(gateway).await;
    }
}
