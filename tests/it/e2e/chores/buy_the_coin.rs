//! docs/buy-the-coin.md, typed as it is written.

use super::{
    Site, program, repository, serving,
    typed::{commands, types},
    xtask,
};
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;

const PAGE: &str = include_str!("../../../../docs/buy-the-coin.md");
/// Scans, payouts and the look at both come every ten or twenty seconds, and the transfer is final after 64 blocks of a second.
const PAID: Duration = Duration::from_secs(300);

#[tokio::test]
async fn a_person_with_dollars_on_another_chain_buys_the_coin_as_the_page_says() {
    let [start] = commands(PAGE, "# Buy the coin\n")[..] else { panic!("other commands than this: adapt this test") };
    let [look, ask, send, follow] = commands(PAGE, "Then, from ")[..] else {
        panic!("other commands than these four: adapt this test")
    };
    xtask(&["dev", "--", "--help"]);
    let scripts = tempfile::tempdir().unwrap();
    let command = format!("{start} --block-time 1");
    let mut gateway = serving(program(scripts.path(), &repository(), &command)).await;
    let base_url = gateway.base_url().to_owned();
    let typed = |line: &str| serde_json::from_str::<Value>(&types(line, &base_url)).unwrap();
    let is_scanned = async || typed(look)["availableChains"] == json!(["devbase", "devbsc"]);
    eventually(LIMIT, "both chains are scanned", is_scanned).await;

    let address = Wallet::new(31_337).address().to_owned();
    let quote = typed(&ask.replace("ADDRESS", &address));
    assert_eq!((&quote["fmxOut"], &quote["to"]), (&json!("196000000000000000000"), &json!(address)), "{quote}");
    let id = quote["quoteId"].as_str().unwrap();
    let sent = types(&send.replace("QUOTE_ID", id), &base_url);
    assert!(sent.starts_with("sent 10.0 USDC to 0x"), "{sent}");
    let follow = follow.replace("QUOTE_ID", id);
    eventually(PAID, "it is paid", async || typed(&follow)["status"] == "paid").await;
    let history: Vec<Value> =
        typed(&follow)["history"].as_array().unwrap().iter().map(|change| change["status"].clone()).collect();
    assert_eq!(json!(history), json!(["quoted", "seen", "confirmed", "paid"]));

    let site = Site::of(&gateway);
    let chain = site.get("/api/status").await.json()["services"]["rpc"]["url"].as_str().unwrap().to_owned();
    let balance = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_getBalance", "params": [address, "latest"] });
    let answer: Value = reqwest::Client::new().post(chain).json(&balance).send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["result"], format!("{:#x}", 196 * 10_u128.pow(18)), "the coins are there");
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
}

/// A command is a process: not as often as a question within this one.
async fn eventually(limit: Duration, what: &str, holds: impl AsyncFn() -> bool) {
    TestGateway::eventually(limit, what, async || {
        tokio::time::sleep(Duration::from_millis(500)).await;
        holds().await
    })
    .await;
}
