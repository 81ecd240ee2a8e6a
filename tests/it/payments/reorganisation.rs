//! The block with a settlement is taken back.

use super::{FMX, Market, PRICE, agent, market::OWNER, wei};
use futures_util::future::join_all;
use gateway_tests::devnet::encoded;
use plugin_testing::json;
use wiremock::ResponseTemplate;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_settled_in_a_block_that_is_gone_is_settled_again_once() {
    let market = Market::open(&[agent("echo", ResponseTemplate::new(200).set_body_string("done"))]).await;
    let tills = market.tills(|setup| setup.set("plugins.x402.batch_size", 1)).await;
    let mut payers = Vec::new();
    for till in &tills {
        let payer = till.payer(&market, 0).await;
        // From the second settlement on one costs the same gas wherever it stands: its payee has credits already.
        let earlier = till.buy(&market, "echo", payer).await;
        till.becomes(&earlier, "settled").await;
        payers.push(payer);
    }
    market.devnet.call("evm_setAutomine", json!([false])).await.unwrap();
    let buying = tills.iter().zip(&payers).map(|(till, payer)| till.buy(&market, "echo", payer));
    let sold = join_all(buying).await;
    market.waits(tills.len()).await;
    market.devnet.mine(1).await.unwrap();
    let both = |status: &'static str| join_all(tills.iter().zip(&sold).map(move |(till, it)| till.becomes(it, status)));
    let first = both("settled").await;
    assert!(first.iter().all(|voucher| voucher["txHash"].is_string()), "{first:?}");

    // Another block stands at its height, without the batches.
    market.devnet.call("anvil_reorg", json!([1, []])).await.unwrap();
    for payer in &payers {
        assert_eq!(market.balance(payer).await, wei(FMX - PRICE), "the settlement is gone");
    }
    let undone = both("submitted").await;
    assert!(undone.iter().all(|voucher| voucher["txHash"].is_null() && voucher["settledAt"].is_null()), "{undone:?}");

    // The same transactions come again by themselves.
    market.waits(tills.len()).await;
    market.devnet.mine(1).await.unwrap();
    let again = both("settled").await;
    assert_eq!(
        again.iter().map(|voucher| &voucher["txHash"]).collect::<Vec<_>>(),
        first.iter().map(|voucher| &voucher["txHash"]).collect::<Vec<_>>()
    );
    market.devnet.mine(5).await.unwrap();
    both("settled").await;
    for payer in payers {
        assert_eq!(market.balance(payer).await, wei(FMX - 2 * PRICE), "it is paid once");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payee_who_takes_his_credits_out_makes_no_batch_fail() {
    let market = Market::open(&[agent("echo", ResponseTemplate::new(200).set_body_string("done"))]).await;
    let tills = market.tills(|setup| setup.set("plugins.x402.batch_size", 1)).await;
    for till in &tills {
        let payer = till.payer(&market, 0).await;
        let earlier = till.buy(&market, "echo", payer).await;
        till.becomes(&earlier, "settled").await;
        market.devnet.call("evm_setAutomine", json!([false])).await.unwrap();
        // Cheap, as long as its payee has credits.
        let sold = till.buy(&market, "echo", payer).await;
        market.waits(1).await;
        market.devnet.mine(1).await.unwrap();
        till.becomes(&sold, "settled").await;

        let vault = market.devnet.facts.contracts["x402Vault"];
        let withdraws = encoded("withdrawCredits()", &[]).unwrap();
        let request = json!({ "from": market.account(OWNER), "to": vault, "data": withdraws, "gas": "0x30d40" });
        market.devnet.call("anvil_reorg", json!([1, [[request, 0]]])).await.unwrap();
        assert_eq!(market.credits(OWNER).await, wei(0));
        till.becomes(&sold, "submitted").await;
        market.waits(1).await;
        market.devnet.mine(1).await.unwrap();
        till.becomes(&sold, "settled").await;
        assert_eq!(market.balance(payer).await, wei(FMX - 2 * PRICE));
        market.devnet.call("evm_setAutomine", json!([true])).await.unwrap();
    }
}
