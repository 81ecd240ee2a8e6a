//! Referrals are paid and deliveries validated on the reference contracts.

use super::{FMX, LIMIT, builders_with, close, indexed, script, settings};
use gateway_tests::devnet::Devnet;
use plugin_testing::{Builder, TestGateway, Value, Wallet, json};
use std::time::Duration;

const SET_METADATA: &str = "setMetadata(uint256 agentId, string metadataKey, bytes metadataValue)";
/// Numbers of the wallets with the keys of the roles.
const GROWTH: u64 = 901;
const ORACLE: u64 = 902;

async fn balance(devnet: &Devnet, account: &str) -> u128 {
    let balance = devnet.call("eth_getBalance", json!([account, "latest"])).await.unwrap();
    u128::from_str_radix(balance.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

async fn send(devnet: &Devnet, from: &Wallet, contract: &str, function: &str, args: &[&str], wei: u128) {
    let hash = devnet.send_from(from.address(), contract, function, args, wei).await.unwrap();
    devnet.included(&hash).await.unwrap();
    let receipt = devnet.call("eth_getTransactionReceipt", json!([hash])).await.unwrap();
    assert_eq!(receipt["status"], "0x1", "{function}");
}

fn prepared(builder: Builder) -> Builder {
    let builder = builder.signer("growth", GROWTH).signer("oracle", ORACLE);
    let builder = builder.config("referrals", json!({ "budget_wei": (20 * FMX).to_string() }));
    builder.configure(|config| {
        let main = config.chains.get_mut("main").unwrap();
        (main.confirmations, main.reorg_depth) = (2, 4);
    })
}

/// Lets time pass and blocks be mined until a member of an answer is there.
async fn answers(gateway: &TestGateway, devnet: &Devnet, path: &str, has: impl Fn(&Value) -> bool) -> Value {
    let waits = async {
        loop {
            let answer = gateway.get(path).await.json();
            if has(&answer) {
                return answer;
            }
            gateway.clock().advance(Duration::from_secs(5)).await;
            devnet.mine(1).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LIMIT, waits).await.unwrap_or_else(|_| panic!("{path} does not become what it should"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_referral_is_paid_and_a_delivery_is_validated() {
    let plugins = [agents::plugin_module(), referrals::plugin_module()];
    let (newcomer, referrer, client) = (Wallet::new(11), Wallet::new(12), Wallet::new(13));
    let oracle = Wallet::new(ORACLE).address().to_owned();
    // Each gateway has a chain of its own: they pay with the same key.
    for place in 0..2 {
        let devnet = Devnet::start().await.unwrap();
        let builders = builders_with(&settings(&devnet), &plugins).await;
        let Some(builder) = builders.into_iter().nth(place) else { continue };
        for wallet in [&newcomer, &referrer, &client, &Wallet::new(GROWTH), &Wallet::new(ORACLE)] {
            devnet.impersonate(wallet.address()).await.unwrap();
        }
        for (wallet, name) in [(&newcomer, "Newcomer"), (&referrer, "Referrer")] {
            let register = [name, "https://a.example", "", "1"];
            send(&devnet, wallet, "registry", script::REGISTER, &register, 100 * FMX).await;
        }
        send(&devnet, &newcomer, "identity8004", SET_METADATA, &["1", "validator", &oracle], 0).await;

        let gateway = prepared(builder).start().await;
        indexed(&gateway, &devnet).await;
        let claim = json!({ "newAgentId": 1, "ref": 2 });
        let claimed = gateway.post_signed("/api/referrals", &newcomer, "referral.claim", claim).await;
        assert_eq!(claimed.status, 201, "{}", claimed.text());

        let hash = format!("0x{:064x}", 7);
        send(&devnet, &client, "escrow", script::REQUEST, &["1", &hash, ""], 5 * FMX).await;
        send(&devnet, &newcomer, "escrow", script::DELIVER, &["1", &hash, "ipfs://output"], 0).await;
        send(&devnet, &client, "escrow", script::RELEASE, &["1", "5"], 0).await;
        let owners = [newcomer.address(), referrer.address()];
        let before = [balance(&devnet, owners[0]).await, balance(&devnet, owners[1]).await];

        let referral = answers(&gateway, &devnet, "/api/referrals/1", |it| it["status"] == "paid").await;
        assert_eq!((&referral["jobId"], &referral["refAgentId"]), (&json!(1), &json!(2)));
        let after = [balance(&devnet, owners[0]).await, balance(&devnet, owners[1]).await];
        assert_eq!(after, before.map(|before| before + 10 * FMX), "each of the two has one reward, exactly");

        let job = answers(&gateway, &devnet, "/api/jobs/1", |it| it["validation"].is_object()).await;
        let validation =
            ["validator", "requestURI", "requestHash", "jobId"].map(|name| job["validation"][name].clone());
        assert_eq!(validation, [json!(oracle), json!("ipfs://output"), json!(hash), json!(1)]);
        close(gateway).await;
    }
}
