//! Drains with a float that has too little: it is said, and what can be swept is swept.

use super::{FLOAT, SINK, WALLET_1, WALLET_2, config, control, derived, each_built, send, start, with_seed};
use crate::runner::{has_followed, mine_until};
use plugin_testing::{ScriptedChain, json};

const OWNER: &str = "0x00000000000000000000000000000000000000c1";
/// A thousandth of a coin.
const MILLI: u128 = 1_000_000_000_000_000;
/// Of a transaction.
const FEE: u128 = 21_080 * 1_000_000_014;

fn prepare(chain: &ScriptedChain, float: u128) {
    chain.keep_accounts();
    chain.set_balance(FLOAT.parse().unwrap(), &float.to_string());
    chain.set_balance(OWNER.parse().unwrap(), &u64::MAX.to_string());
    chain.set_estimate(WALLET_1.parse().unwrap(), 21_080);
    chain.mine_empty(1);
}

fn balance(chain: &ScriptedChain, address: &str) -> u128 {
    chain.balance(address.parse().unwrap()).to_string().parse().unwrap()
}

#[tokio::test]
async fn an_empty_float_keeps_no_wallet_from_being_swept() {
    each_built(config(json!({})), with_seed, async |chain, gateway| {
        prepare(chain, 0);
        derived(&gateway, 6).await;
        start(&gateway).await;
        send(chain, OWNER, 0, WALLET_2, MILLI.try_into().unwrap());
        mine_until(chain, &gateway, "no wave begins", async |stats| {
            stats["pauseReason"].as_str().unwrap_or_default().contains("the float has 0 wei")
                && balance(chain, WALLET_2) > 0
        })
        .await;
        // A run that ends before it read of the coins has nothing to sweep.
        let arrived = chain.head();
        mine_until(chain, &gateway, "the coins are seen", async |_| has_followed(&gateway, arrived).await).await;
        assert_eq!(control(&gateway, "drain").await.status, 200);
        mine_until(chain, &gateway, "it is drained", async |stats| stats["drained"] == json!(true)).await;
        assert_eq!([WALLET_2, FLOAT, SINK].map(|address| balance(chain, address)), [0, 0, MILLI - 2 * FEE]);
        gateway
    })
    .await;
}

#[tokio::test]
async fn a_float_that_cannot_pay_what_it_signed_says_so_and_gets_back_the_rest() {
    // Each wallet gets what it transfers and three fees.
    let cost = 3 * (MILLI + 4 * FEE);
    let config = config(json!({ "waves_max": 1, "float_min_wei": "0" }));
    each_built(config, with_seed, async |chain, gateway| {
        prepare(chain, cost);
        derived(&gateway, 6).await;
        chain.hold(true);
        start(&gateway).await;
        mine_until(chain, &gateway, "a wave is funded", async |_| chain.waiting().len() == 3).await;
        // Somebody else with the seed took the coins of two wallets.
        chain.set_balance(FLOAT.parse().unwrap(), &(cost / 3).to_string());
        chain.hold(false);
        assert_eq!(control(&gateway, "drain").await.status, 200);
        let is_told = |stats: &plugin_testing::Value| {
            stats["pauseReason"].as_str().unwrap_or_default().contains("are needed for what is signed")
        };
        mine_until(chain, &gateway, "what can be swept is swept, and the rest is told", async |stats| {
            is_told(stats) && balance(chain, WALLET_1) == 0 && balance(chain, FLOAT) > 0
        })
        .await;
        assert_eq!(balance(chain, FLOAT), MILLI + 2 * FEE);
        send(chain, OWNER, 0, FLOAT, (cost / 3).try_into().unwrap());
        mine_until(chain, &gateway, "it is drained", async |stats| stats["drained"] == json!(true)).await;
        assert_eq!(balance(chain, FLOAT), 0);
        gateway
    })
    .await;
}
