//! A payer breaks his promise: until a batch is mined, he can settle another voucher, or take his deposit out of the vault.

use super::{FMX, Market, PRICE, Payment, Till, Voucher, agent, wei};
use futures_util::future::join_all;
use gateway_tests::process::Setup;
use plugin_testing::{Value, json};
use wiremock::ResponseTemplate;

/// How the gateway says that it believes a payer no more.
const REFUSED: &str = "was not covered when it was settled";
/// In seconds: the vault's, and a block more.
const UNLOCK_DELAY: u64 = 3600 + 1;

async fn market() -> Market {
    Market::open(&[agent("echo", ResponseTemplate::new(200).set_body_string("done"))]).await
}

/// No batch leaves before a second voucher waits.
fn in_pairs(setup: Setup) -> Setup {
    setup.set("plugins.x402.batch_size", 2).set("plugins.x402.batch_s", 600)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_voucher_with_the_nonce_skips_the_accepted_one() {
    let market = market().await;
    for till in market.tills(in_pairs).await {
        let (cheat, honest) = (till.payer(&market, 0).await, till.payer(&market, 1).await);
        let promised = till.buy(&market, "echo", cheat).await;
        let to_himself = Voucher { payee: market.account(cheat).to_owned(), ..promised.voucher.clone() };
        to_himself.sign(&market, &till).await.settle(&market, cheat).await;

        let skipped = till.becomes(&promised, "skipped").await;
        assert_eq!(skipped["error"], "the payer settled another voucher with this nonce");
        let next = Payment::by(&market, &till, cheat).await;
        let why = till.refusal("echo", &next).await;
        assert!(why.contains(REFUSED), "{why}");
        assert_eq!(till.voucher(&next).await, Value::Null, "nothing is taken of a payer who is refused");

        // Others are served and settled as before.
        let pair = [till.buy(&market, "echo", honest).await, till.buy(&market, "echo", honest).await];
        for payment in &pair {
            till.becomes(payment, "settled").await;
        }
        assert_eq!(market.balance(honest).await, wei(FMX - 2 * PRICE));
        assert_eq!(market.balance(cheat).await, wei(FMX - PRICE), "his voucher is paid once, to himself");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_that_is_gone_before_the_batch_skips_the_voucher() {
    let market = market().await;
    let tills = market.tills(in_pairs).await;
    let promised = join_all(tills.iter().map(async |till| {
        let cheat = till.payer(&market, 0).await;
        market.send(cheat, "x402Vault", "requestUnlock()", &[], 0).await;
        (cheat, till.buy(&market, "echo", cheat).await)
    }))
    .await;
    // An hour passes on the chain, and for the gateways the voucher is as good as before.
    market.devnet.call("evm_increaseTime", json!([UNLOCK_DELAY])).await.unwrap();
    market.devnet.mine(1).await.unwrap();
    let ending = tills.iter().zip(promised).map(|(till, (cheat, promised))| withdraws(&market, till, cheat, promised));
    join_all(ending).await;
}

async fn withdraws(market: &Market, till: &Till, cheat: &str, promised: Payment) {
    market.send(cheat, "x402Vault", "withdraw(uint256)", &[&FMX.to_string()], 0).await;
    assert_eq!(till.voucher(&promised).await["status"], "queued");
    // The vault skips one voucher of a batch, and pays the others.
    let honest = till.payer(market, 1).await;
    let kept = till.buy(market, "echo", honest).await;
    till.becomes(&kept, "settled").await;
    let skipped = till.becomes(&promised, "skipped").await;
    assert_eq!(skipped["error"], "insufficient balance");
    assert_eq!(skipped["txHash"], till.voucher(&kept).await["txHash"]);

    market.deposit(cheat, FMX).await;
    let why = till.refusal("echo", &Payment::by(market, till, cheat).await).await;
    assert!(why.contains(REFUSED), "a new deposit mends nothing: {why}");
    assert_eq!((market.balance(cheat).await, market.balance(honest).await), (wei(FMX), wei(FMX - PRICE)));
}
