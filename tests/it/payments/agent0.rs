//! PyPI's `agent0-sdk`, unmodified, reads the cards of agents and pays one with vouchers.

use super::{FMX, Market, PRICE, Till, clients::Agents, until, wei};
use crate::{
    e2e::{python, run},
    storage::Engine,
};
use plugin_testing::Value;

const PAYER: &str = "user2";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agent0_sdk_pays_with_vouchers_where_the_network_is_an_evm_chain() {
    let mut market = Market::open(&[]).await;
    let _agents = Agents::start(&mut market).await;
    market.deposit(PAYER, FMX).await;
    let setup = market.setup(Engine::Sqlite, "facilitator").await;
    let setup = setup.set("plugins.x402.network", "eip155").set("plugins.x402.batch_s", 1);
    let till = Till::open(&market, setup, "facilitator").await;
    till.knows_price_of(2).await;

    let (base_url, key) = (till.gateway.base_url(), &market.devnet.key(PAYER).unwrap().private_key);
    let printed = run(python("agent0_client.py"), &[base_url, key, "paid-echo", "echo"]).await;
    let told: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(told["payer"], market.account(PAYER), "{told}");
    for (slug, shown) in told["cards"].as_object().unwrap() {
        assert_eq!(shown["baseUrl"], format!("{base_url}/a/{slug}/a2a"), "{told}");
        assert_eq!(shown["binding"], "JSONRPC", "{told}");
    }
    for paid in told["paid"].as_array().unwrap() {
        assert!(paid["network"].as_str().is_some_and(|network| network.starts_with("eip155:")), "{told}");
        assert_eq!((&paid["price"], &paid["answer"]["payer"]), (&PRICE.to_string().into(), &told["payer"]), "{told}");
    }
    assert_eq!((&told["free"]["agent"], &told["free"]["payer"]), (&"Echo".into(), &Value::Null), "{told}");
    assert_eq!(told["message"], "RuntimeError: A2A request failed: HTTP 404", "plugins/a2a/README.md says why");
    let is_settled = async || market.balance(PAYER).await == wei(FMX - 2 * PRICE);
    until("both vouchers are settled", is_settled).await;
}
