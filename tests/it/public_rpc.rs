//! `/rpc` on a real chain: ethers, viem, web3.py and alloy read, call contracts, find logs, and send a transaction; and a wallet accepts
//! the chain that the manifest offers.

use crate::{
    e2e::{Site, node, python, run, setup_with_all_plugins},
    storage::Engine,
};
use alloy::rpc::client::RpcClient;
use alloy_primitives::{U64, U256};
use gateway_tests::{
    devnet::{Devnet, encoded},
    postgres,
    process::Setup,
};
use plugin_testing::{Value, json};
use std::net::TcpListener;

/// Each with the test key that pays.
const CLIENTS: [(&str, &str); 3] = [("rpc_ethers.mjs", "user2"), ("rpc_viem.mjs", "user3"), ("rpc_web3.py", "user4")];

async fn setup(devnet: &Devnet, engine: Engine) -> Setup {
    let setup = setup_with_all_plugins().unset("plugins.hello.enabled").unset("plugins.kb.network_pages");
    let setup = setup
        .with_only(&["rpc"])
        .unwrap()
        .set("chain_id", devnet.facts.chain_id)
        .set("chains.main.rpc", &devnet.facts.rpc_url)
        .set("chains.main.chain_id", devnet.facts.chain_id)
        .set("chains.main.poll_ms", 50);
    match engine {
        Engine::Sqlite => setup,
        Engine::Postgres => setup.set("database.url", postgres::fresh_database().await.unwrap()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn public_libraries_use_the_chain_through_the_gateway() {
    let devnet = Devnet::start().await.unwrap();
    let vault = devnet.facts.contracts["x402Vault"].to_string();
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let gateway = setup(&devnet, engine).await.start().await.unwrap();
        let url = format!("{}/rpc", gateway.base_url());
        for (script, payer) in CLIENTS {
            let key = &devnet.key(payer).unwrap().private_key;
            let client = if script.ends_with(".py") { python(script) } else { node(script) };
            let printed = run(client, &[url.as_str(), key, &vault]).await;
            let told: Value =
                serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{script}: {error}: {printed}"));
            assert_eq!(told["chainId"], devnet.facts.chain_id, "{script}: {told}");
            assert_eq!(told["status"], 1, "{script}: {told}");
            assert_eq!(told["deposited"], "1000", "{script}: what the call says before and after: {told}");
            assert_eq!(told["logs"], 1, "{script}: {told}");
            assert_eq!(told["refused"], true, "{script}: a method that is not served is refused: {told}");
            let receipt = devnet.call("eth_getTransactionReceipt", json!([told["hash"]])).await.unwrap();
            assert_eq!(receipt["status"], "0x1", "{script}: {receipt}");
        }
        alloy_reads(&devnet, &url, &vault).await;
    }
}

/// The client of alloy, with a batch.
async fn alloy_reads(devnet: &Devnet, url: &str, vault: &str) {
    let client = RpcClient::new_http(url.parse().unwrap());
    let chain_id: U64 = client.request_noparams("eth_chainId").await.unwrap();
    assert_eq!(chain_id.to::<u64>(), devnet.facts.chain_id);
    let mut batch = client.new_batch();
    let head = batch.add_call::<_, U64>("eth_blockNumber", &()).unwrap();
    let price = batch.add_call::<_, U256>("eth_gasPrice", &()).unwrap();
    batch.send().await.unwrap();
    assert!(head.await.unwrap().to::<u64>() > 0 && price.await.unwrap() > U256::ZERO);
    let data = encoded("balance(address)", &[devnet.account("user2").unwrap()]).unwrap();
    let call = json!([{ "to": vault, "data": data }, "latest"]);
    let deposited: U256 = client.request("eth_call", call).await.unwrap();
    assert!(deposited > U256::ZERO);
    let refused = client.request::<_, Value>("eth_newBlockFilter", ()).await.unwrap_err();
    assert_eq!(refused.as_error_resp().map(|error| error.code), Some(-32601));
}

/// A wallet takes no other members: it refuses the whole.
const OFFERED_MEMBERS: [&str; 6] =
    ["chainId", "chainName", "nativeCurrency", "rpcUrls", "blockExplorerUrls", "iconUrls"];
const PUBLIC: &str = "https://gateway.test";

fn is_web_url(url: &Value) -> bool {
    url.as_str().is_some_and(|url| url.starts_with("https://"))
}

/// By EIP-3085, and what MetaMask asks beyond it.
fn assert_wallet_takes(offered: &Value) {
    let members = offered.as_object().unwrap();
    assert!(members.keys().all(|name| OFFERED_MEMBERS.contains(&name.as_str())), "{offered}");
    let digits = offered["chainId"].as_str().and_then(|id| id.strip_prefix("0x")).unwrap();
    let is_lower = digits.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit));
    assert!(is_lower && !digits.is_empty() && !digits.starts_with('0'), "{offered}");
    assert!(offered["chainName"].as_str().is_some_and(|name| !name.is_empty()), "{offered}");
    assert!(offered["rpcUrls"].as_array().is_some_and(|urls| urls.iter().any(is_web_url)), "{offered}");
    let explorers = members.get("blockExplorerUrls").map(|urls| urls.as_array().unwrap());
    assert!(explorers.is_none_or(|urls| urls.iter().any(is_web_url)), "{offered}");
    let currency = &offered["nativeCurrency"];
    assert!(currency["name"].is_string() && currency["decimals"] == 18, "{offered}");
    assert!((2..=6).contains(&currency["symbol"].as_str().unwrap().len()), "{offered}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wallet_accepts_the_chain_that_the_manifest_offers() {
    let devnet = Devnet::start().await.unwrap();
    for explorer in [None, Some("https://explorer.test")] {
        // The gateway says where clients reach it, so that the port of this machine is chosen here.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let setup = setup(&devnet, Engine::Sqlite).await.set("http.listen", address).set("base_url", PUBLIC);
        let setup = explorer.into_iter().fold(setup, |setup, url| setup.set("chains.main.explorer", url));
        let _gateway = setup.start().await.unwrap();
        let site = Site::at(&format!("http://{address}"));
        let offered = site.get("/.well-known/service.json").await.json()["walletAddEthereumChain"].clone();
        assert_wallet_takes(&offered);
        assert_eq!(offered["blockExplorerUrls"][0].as_str(), explorer);
        // Before it adds the chain, a wallet asks the server for its id, and compares the texts.
        let path = offered["rpcUrls"][0].as_str().unwrap().strip_prefix(PUBLIC).unwrap().to_owned();
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": [] });
        let request = site.request(reqwest::Method::POST, &path).header("content-type", "application/json");
        let answer: Value = request.body(question.to_string()).send().await.unwrap().json().await.unwrap();
        assert_eq!(answer["result"], offered["chainId"]);
    }
}
