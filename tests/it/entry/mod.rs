//! A new wallet on a real chain: it has nothing, gets a drip, an account, and sponsored calls that the libraries of wallets sign.
//!
//! `cargo xtask test` installs what the dev network and the clients need.

mod kills;
mod lobby;
mod payouts;
pub mod sender;
mod throughput;

use crate::{
    e2e::{Site, node, python, run, setup_on_devnet},
    storage::Engine,
};
use alloy_primitives::U256;
use gateway_tests::{
    devnet::{Devnet, encoded},
    process::GatewayProcess,
};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;

/// What a wallet enters by.
const PLUGINS: [&str; 2] = ["faucet", "relay"];
const LIMIT: Duration = Duration::from_secs(60);
const DRIP_WEI: u64 = 500_000_000_000_000_000;
/// It costs its caller nothing but gas.
const CREATE_PLAN: &str = "createPlan(uint256 pricePerPeriod, uint64 period, string metadataURI)";

struct EntrySetup<'d> {
    devnet: &'d Devnet,
    gateway: GatewayProcess,
    site: Site,
}

impl EntrySetup<'_> {
    async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.site.request(reqwest::Method::POST, path).header("content-type", "application/json");
        let response = request.body(body.to_string()).send().await.unwrap();
        (response.status().as_u16(), serde_json::from_str(&response.text().await.unwrap()).unwrap())
    }

    async fn balance(&self, address: &str) -> U256 {
        self.devnet.number("eth_getBalance", json!([address, "latest"])).await.unwrap()
    }

    async fn nonce(&self, account: &str) -> U256 {
        let call = json!({ "to": account, "data": encoded("nonce()", &[]).unwrap() });
        self.devnet.number("eth_call", json!([call, "latest"])).await.unwrap()
    }

    /// The gateway says that it is in a block, and worked.
    async fn succeeds(&self, answer: &Value) {
        let path = format!("/api/tx/{}", answer["txHash"].as_str().unwrap());
        TestGateway::eventually(LIMIT, "the transaction succeeds", async || {
            self.site.get(&path).await.json()["succeeded"] == true
        })
        .await;
    }
}

async fn signature(entry: &EntrySetup<'_>, library: &str, arguments: &[&str]) -> String {
    let base_url = entry.gateway.base_url();
    let printed = match library {
        "eth-account" => run(python("sign_execute.py"), &[&[base_url], arguments].concat()).await,
        _ => run(node("sign_execute.mjs"), &[&[library, base_url], arguments].concat()).await,
    };
    printed.trim().to_owned()
}

async fn enters(entry: &EntrySetup<'_>, wallet: &Wallet) {
    let address = wallet.address();
    let (status, drip) = entry.post("/api/faucet", &json!({ "address": address })).await;
    assert_eq!(status, 202, "{drip}");
    entry.succeeds(&drip).await;
    assert_eq!(entry.balance(address).await, U256::from(DRIP_WEI));

    let owner = json!({ "owner": address });
    let (status, created) = entry.post("/api/accounts/create", &owner).await;
    assert_eq!(status, 202, "{created}");
    entry.succeeds(&created).await;
    let (status, existing) = entry.post("/api/accounts/create", &owner).await;
    assert_eq!((status, &existing["existing"], &existing["account"]), (200, &json!(true), &created["account"]));

    let account = created["account"].as_str().unwrap();
    let target = entry.devnet.facts.contracts["streamPay"].to_string();
    let data = encoded(CREATE_PLAN, &["1", "60", "a plan"]).unwrap();
    let latest = entry.devnet.call("eth_getBlockByNumber", json!(["latest", false])).await.unwrap();
    let now: U256 = latest["timestamp"].as_str().unwrap().parse().unwrap();
    let now = now.max(U256::from(gateway_clock::Clock::System.now_s().unsigned_abs()));
    let deadline = (now + U256::from(3600)).to_string();
    let key = format!("0x{}", wallet.key_text());
    for (nonce, library) in ["viem", "ethers", "eth-account"].into_iter().enumerate() {
        let nonce = nonce.to_string();
        let sig = signature(entry, library, &[&key, account, &target, &data, &nonce, &deadline]).await;
        let body = json!({ "account": account, "to": target, "data": data, "deadline": deadline, "sig": sig });
        let (status, call) = entry.post("/api/relay", &body).await;
        assert_eq!(status, 202, "{library}: {call}");
        entry.succeeds(&call).await;
        let (status, again) = entry.post("/api/relay", &body).await;
        assert_eq!((status, &again["txHash"]), (202, &call["txHash"]), "{library}");
    }
    assert_eq!(entry.nonce(account).await, U256::from(3));
    assert_eq!(entry.balance(address).await, U256::from(DRIP_WEI), "it paid for nothing");

    calls_by_session_key(entry, wallet, account, &now).await;

    // Signed with a nonce that is used, and by another wallet: the contract's error is explained, and nothing is sent.
    let other = format!("0x{}", Wallet::new(777).key_text());
    for (key, nonce) in [(&key, "0"), (&other, "4")] {
        let later = (now + U256::from(7200)).to_string();
        let sig = signature(entry, "viem", &[key, account, &target, &data, nonce, &later]).await;
        let body = json!({ "account": account, "to": target, "data": data, "deadline": later, "sig": sig });
        let (status, refused) = entry.post("/api/relay", &body).await;
        assert_eq!(status, 400, "{refused}");
        assert!(refused["error"].as_str().unwrap().contains("BadSignature()"), "{refused}");
    }
}

/// A key to which the owner gave calls of one contract signs them as the owner does, and no others.
async fn calls_by_session_key(entry: &EntrySetup<'_>, owner: &Wallet, account: &str, now: &U256) {
    let (session, expiry) = (Wallet::new(778), (*now + U256::from(86_400)).to_string());
    let target = entry.devnet.facts.contracts["streamPay"].to_string();
    let targets = format!("[{target}]");
    let arguments: [&str; 4] = [session.address(), "0", &expiry, &targets];
    let data =
        encoded("addSession(address key, uint256 capPerDay, uint64 expiry, address[] targets)", &arguments).unwrap();
    entry.devnet.impersonate(owner.address()).await.unwrap();
    let call = json!({ "from": owner.address(), "to": account, "data": data });
    let hash: String = entry.devnet.ask("eth_sendTransaction", json!([call])).await.unwrap();
    entry.devnet.included(&hash).await.unwrap();
    let key = format!("0x{}", session.key_text());
    let deadline = (*now + U256::from(3500)).to_string();
    let data = encoded(CREATE_PLAN, &["1", "60", "of a session"]).unwrap();
    let sig = signature(entry, "viem", &[&key, account, &target, &data, "3", &deadline]).await;
    let body = json!({ "account": account, "to": target, "data": data, "deadline": deadline, "sig": sig });
    let (status, sent) = entry.post("/api/relay", &body).await;
    assert_eq!(status, 202, "{sent}");
    entry.succeeds(&sent).await;
    // A contract that the relay serves, but the session does not.
    let other = entry.devnet.facts.contracts["registry"].to_string();
    let data = encoded("heartbeat(uint256 id)", &["1"]).unwrap();
    let sig = signature(entry, "viem", &[&key, account, &other, &data, "4", &deadline]).await;
    let body = json!({ "account": account, "to": other, "data": data, "deadline": deadline, "sig": sig });
    let (status, refused) = entry.post("/api/relay", &body).await;
    assert_eq!(status, 400, "{refused}");
    assert!(refused["error"].as_str().unwrap().contains("TargetNotAllowed"), "{refused}");
}

#[tokio::test]
async fn a_new_wallet_gets_coins_an_account_and_sponsored_calls() {
    let devnet = Devnet::start().await.unwrap();
    for (engine, relayer, number) in [(Engine::Sqlite, "relayer", 70_001), (Engine::Postgres, "facilitator", 70_002)] {
        let setup = setup_on_devnet(&devnet, engine, &PLUGINS, ("relayer", relayer)).await;
        let gateway = setup.set("plugins.faucet.reserve_wei", "\"1000000000000000000\"").start().await.unwrap();
        let entry = EntrySetup { devnet: &devnet, site: Site::of(&gateway), gateway };
        enters(&entry, &Wallet::new(number)).await;
    }
}
