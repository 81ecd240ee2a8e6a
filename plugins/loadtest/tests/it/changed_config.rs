//! Another configuration while the runner has coins in wallets: they come home, and a wave ends.

use super::{SEED, XPUB, config, control, derived, each_built, eventually, fund, send, start, stats, with_seed};
use crate::runner::{assert_balanced, mine_until};
use plugin_testing::{ScriptedChain, TestGateway, Value, json};

/// Of another seed: both are in `host/signers`, computed with @scure/bip32.
const OTHER_SEED: &str = "9dfc3c64c2f8bede1533b6a79f8570e5943e0b8fd1cf77107adf7b72cef42185d564a3aee24cab43f80e3c4538087d70fc824eabbad596a23c97b6ee8322ccc0";
const OTHER_XPUB: &str =
    "xpub6EWhM2xTATRUTwiWVsCBfpUrTjZKS8LyMhFfRqC6zSCqpkQNRDcvAutBNABUbgg1bfgV464SMpeePGLvisypZnWSmia7bAMcXq1G6oZx78C";
const OWNER: &str = "0x00000000000000000000000000000000000000c1";
/// A thousandth of a coin.
const MILLI: u64 = 1_000_000_000_000_000;

/// Restarts with other values of `[plugins.loadtest]`; null removes one.
async fn restart(gateway: TestGateway, changes: Value) -> TestGateway {
    restart_with(gateway, changes, None, None).await
}

async fn restart_with(
    gateway: TestGateway,
    changes: Value,
    seed: Option<&str>,
    max_fee_gwei: Option<u64>,
) -> TestGateway {
    let restarted = gateway.restart_after(|config| {
        let section = &mut config.plugins.sections.get_mut("loadtest").unwrap().config;
        for (key, value) in changes.as_object().unwrap() {
            section.remove(key);
            section.extend((!value.is_null()).then(|| (key.clone(), value.clone())));
        }
        config.tx.max_fee_gwei = max_fee_gwei.unwrap_or(config.tx.max_fee_gwei);
        if let (Some(seed), Some(signer)) = (seed, config.signers.get_mut("loadtest")) {
            signer.key = Some(seed.into());
        }
    });
    restarted.await
}

async fn count(gateway: &TestGateway, what: &str) -> i64 {
    let rows = gateway.rows(&format!("SELECT count(*) FROM {what}")).await.concat();
    rows.trim_start_matches("Int(").trim_end_matches(')').parse().unwrap()
}

async fn address(gateway: &TestGateway, index: u32) -> String {
    let rows = gateway.rows(&format!("SELECT address FROM loadtest_wallets WHERE idx = {index}")).await.concat();
    rows.trim_start_matches("Text(\"").trim_end_matches("\")").to_owned()
}

fn balance(chain: &ScriptedChain, address: &str) -> String {
    chain.balance(address.parse().unwrap()).to_string()
}

fn is_paused_for(stats: &Value, reason: &str) -> bool {
    stats["pauseReason"].as_str().unwrap_or_default().contains(reason)
}

#[tokio::test]
async fn what_is_turned_off_comes_home_from_all_wallets_that_were_ever_used() {
    each_built(config(json!({})), with_seed, async |chain, gateway| {
        fund(chain);
        chain.set_balance(OWNER.parse().unwrap(), &u64::MAX.to_string());
        derived(&gateway, 6).await;
        start(&gateway).await;
        mine_until(chain, &gateway, "all wallets were used and waves run", async |stats| {
            stats["wallets"]["pass"] == json!(1) && stats["wallets"]["activeWaves"] != json!(0)
        })
        .await;
        let last = address(&gateway, 6).await;
        let off = json!({ "runner": false, "xpub": null, "wallets": 1 });
        let gateway = restart(gateway, off).await;
        send(chain, OWNER, 0, &last, MILLI);
        let refused = control(&gateway, "start").await;
        assert_eq!((refused.status, refused.code().as_str()), (503, "disabled"), "{}", refused.text());
        mine_until(chain, &gateway, "it is drained", async |stats| stats["drained"] == json!(true)).await;
        for index in 1..=6 {
            assert_eq!(balance(chain, &address(&gateway, index).await), "0", "wallet {index}");
        }
        let stats = stats(&gateway).await;
        assert_eq!(stats["counters"]["byKind"]["final"], json!(1), "{stats}");
        assert_eq!((&stats["derivation"]["xpub"], &stats["wallets"]["planned"]), (&json!(XPUB), &json!(1)), "{stats}");
        assert_eq!(count(&gateway, "loadtest_waves").await + count(&gateway, "loadtest_transactions").await, 0);
        gateway
    })
    .await;
}

#[tokio::test]
async fn a_wave_that_was_funded_for_less_than_is_configured_ends() {
    each_built(config(json!({})), with_seed, async |chain, gateway| {
        fund(chain);
        derived(&gateway, 6).await;
        start(&gateway).await;
        mine_until(chain, &gateway, "wallets transfer", async |_| {
            count(&gateway, "loadtest_waves WHERE phase = 'transfer'").await > 0
        })
        .await;
        let more = json!({ "transfers": 50, "transfer_wei": "2000000000000000000", "in_flight_max_wei": "1" });
        let gateway = restart(gateway, more).await;
        mine_until(chain, &gateway, "all waves have ended", async |stats| {
            is_paused_for(stats, "in_flight_max_wei") && count(&gateway, "loadtest_waves").await == 0
        })
        .await;
        assert_balanced(chain, &gateway, true).await;
        gateway
    })
    .await;
}

#[tokio::test]
async fn what_is_signed_is_sent_while_nothing_more_can_be_signed() {
    each_built(config(json!({ "waves_max": 1 })), with_seed, async |chain, gateway| {
        fund(chain);
        derived(&gateway, 6).await;
        chain.hold(true);
        start(&gateway).await;
        let is_sent = || chain.waiting().len() == 3;
        eventually(&gateway, "a wave is funded", async || is_sent()).await;
        // The servers lose it, and the next wave costs more than the operator now allows.
        chain.lose(false);
        let gateway = restart_with(gateway, json!({ "waves_max": 2 }), None, Some(1)).await;
        eventually(&gateway, "it is sent again", async || is_sent()).await;
        let is_paused = async || is_paused_for(&stats(&gateway).await, "tx.max_fee_gwei");
        eventually(&gateway, "the reason is told", is_paused).await;
        chain.hold(false);
        mine_until(chain, &gateway, "the wallets are funded", async |_| chain.mined().len() == 3).await;
        let gateway = restart_with(gateway, json!({}), None, Some(50)).await;
        assert_eq!(control(&gateway, "drain").await.status, 200);
        mine_until(chain, &gateway, "it is drained", async |stats| stats["drained"] == json!(true)).await;
        assert_balanced(chain, &gateway, true).await;
        gateway
    })
    .await;
}

#[tokio::test]
async fn another_branch_than_the_stored_one_sends_nothing() {
    each_built(config(json!({})), with_seed, async |chain, gateway| {
        fund(chain);
        derived(&gateway, 6).await;
        start(&gateway).await;
        mine_until(chain, &gateway, "the wallets are funded", async |_| chain.mined().len() >= 6).await;
        let gateway = restart_with(gateway, json!({ "xpub": OTHER_XPUB }), Some(OTHER_SEED), None).await;
        let signed = async || count(&gateway, "loadtest_transactions").await;
        let (sent, before) = (chain.mined().len() + chain.waiting().len(), signed().await);
        eventually(&gateway, "the reason is told", async || {
            is_paused_for(&stats(&gateway).await, "xpub is not that of the stored wallets")
        })
        .await;
        assert_eq!((chain.mined().len() + chain.waiting().len(), signed().await), (sent, before));
        assert_eq!(stats(&gateway).await["derivation"]["xpub"], json!(XPUB), "whose the wallets are");
        let gateway = restart_with(gateway, json!({ "xpub": XPUB }), Some(SEED), None).await;
        assert_eq!(control(&gateway, "drain").await.status, 200);
        mine_until(chain, &gateway, "it is drained", async |stats| stats["drained"] == json!(true)).await;
        assert_balanced(chain, &gateway, true).await;
        gateway
    })
    .await;
}
