//! Payers that are contracts (ERC-1271): one that changes its mind after the work, one that burns all gas that it is given, and one whose
//! answer makes the vault revert.

use super::{CONFIRMATIONS, FMX, Market, PRICE, Payment, Till, Voucher, agent, until, wei};
use crate::storage::Engine;
use futures_util::future::join_all;
use plugin_testing::{Value, json};
use std::time::{Duration, Instant};
use wiremock::ResponseTemplate;

/// A wallet whose slot 0 says what it answers to every question:
///
/// ```text
/// 00 PUSH1 0 SLOAD DUP1 PUSH1 2 EQ PUSH1 25 JUMPI DUP1 PUSH1 3 EQ PUSH1 29 JUMPI PUSH1 1f JUMPI
/// 14 PUSH4 1626ba7e PUSH1 e0 SHL PUSH1 0 MSTORE
/// 1f JUMPDEST PUSH1 20 PUSH1 0 RETURN
/// 25 JUMPDEST PUSH1 25 JUMP
/// 29 JUMPDEST STOP
/// ```
const WALLET: &str = "0x6000548060021460255780600314602957601f57631626ba7e60e01b6000525b60206000f35b6025565b00";
const ACCEPTS: u8 = 0;
const REFUSES: u8 = 1;
const BURNS: u8 = 2;
/// It returns nothing, which is no answer: the vault reverts, with all vouchers of the batch.
const SILENT: u8 = 3;
/// The bytes mean nothing to the wallets.
const SIGNATURE: &str = "0xabababababababababababababababababababababababababababababababab\
    abababababababababababababababababababababababababababababababab1b";
/// For an answer about a wallet that burns gas: its check is bounded.
const PATIENCE: Duration = Duration::from_secs(10);

struct Wallet<'m> {
    market: &'m Market,
    address: String,
}

impl<'m> Wallet<'m> {
    async fn open(market: &'m Market, till: &Till, number: u8) -> Self {
        let engine = if till.engine() == Engine::Sqlite { 1 } else { 2 };
        let wallet = Self { market, address: format!("0x{:040x}", 0xc0de_0000 + 256 * engine + u64::from(number)) };
        market.devnet.call("anvil_setCode", json!([wallet.address, WALLET])).await.unwrap();
        market.send("user1", "x402Vault", "depositFor(address payer)", &[&wallet.address], FMX).await;
        market.devnet.mine(CONFIRMATIONS).await.unwrap();
        till.has_indexed(market).await;
        wallet
    }

    /// Only the state after the newest block changes: a gateway that does not know of that block asks for the state before.
    async fn now(&self, till: &Till, answers: u8) {
        let (slot, word) = (format!("0x{:064x}", 0), format!("0x{answers:064x}"));
        self.market.devnet.call("anvil_setStorageAt", json!([self.address, slot, word])).await.unwrap();
        till.has_indexed(self.market).await;
    }

    fn payment(&self) -> Payment {
        let voucher = Voucher { payer: self.address.clone(), ..Voucher::new(self.market, "user1") };
        voucher.with_signature(SIGNATURE)
    }

    async fn buys(&self, till: &Till) -> Payment {
        let payment = self.payment();
        let bought = till.call("echo", Some(&payment)).await;
        assert_eq!(bought.status, 200, "{}", bought.text());
        payment
    }

    async fn balance(&self) -> alloy_primitives::U256 {
        self.market.vault("balance(address)", &[&self.address]).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wallet_that_turns_on_its_voucher_costs_others_nothing() {
    let market = Market::open(&[agent("echo", ResponseTemplate::new(200).set_body_string("done"))]).await;
    // All five wait until the last one comes.
    let tills = market.tills(|setup| setup.set("plugins.x402.batch_size", 5).set("plugins.x402.batch_s", 600)).await;
    // One after the other: both would deposit with one key.
    let mut wallets = Vec::new();
    for till in &tills {
        let (honest, fickle) = (Wallet::open(&market, till, 1).await, Wallet::open(&market, till, 2).await);
        let (burner, blaze) = (Wallet::open(&market, till, 3).await, Wallet::open(&market, till, 4).await);
        wallets.push([honest, fickle, burner, blaze, Wallet::open(&market, till, 5).await]);
    }
    let runs = tills.iter().zip(&wallets).map(|(till, wallets)| turn(&market, till, wallets));
    join_all(runs).await;
}

async fn turn(market: &Market, till: &Till, [honest, fickle, burner, blaze, mute]: &[Wallet<'_>; 5]) {
    let by_key = till.payer(market, 0).await;
    // One that burns gas from the beginning buys nothing, and does not hold up the gateway.
    blaze.now(till, BURNS).await;
    let (begun, refused) = (Instant::now(), blaze.payment());
    let why = till.refusal("echo", &refused).await;
    assert!(why.contains("signature"), "{why}");
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    assert_eq!(till.voucher(&refused).await, Value::Null);

    honest.now(till, ACCEPTS).await;
    let (kept, turned, burning) = (honest.buys(till).await, fickle.buys(till).await, burner.buys(till).await);
    mute.buys(till).await;
    fickle.now(till, REFUSES).await;
    burner.now(till, BURNS).await;
    mute.now(till, SILENT).await;
    let of_key = till.buy(market, "echo", by_key).await;

    till.becomes(&of_key, "settled").await;
    till.becomes(&kept, "settled").await;
    for (payment, wallet) in [(&turned, fickle), (&burning, burner)] {
        let skipped = till.becomes(payment, "skipped").await;
        assert_eq!(skipped["error"], "bad signature");
        assert_is_refused(till, wallet).await;
    }
    // No log of the vault tells of the last one, whose voucher is in no block.
    until("its batch has failed", async || {
        !till.rows("SELECT reason FROM x402_batches WHERE state = 'failed'").await.is_empty()
    })
    .await;
    assert_is_refused(till, mute).await;
    assert_eq!((honest.balance().await, market.balance(by_key).await), (wei(FMX - PRICE), wei(FMX - PRICE)));
}

async fn assert_is_refused(till: &Till, wallet: &Wallet<'_>) {
    wallet.now(till, ACCEPTS).await;
    let next = wallet.payment();
    let why = till.refusal("echo", &next).await;
    assert!(why.contains("was not covered when it was settled"), "{why}");
    assert_eq!(till.voucher(&next).await, Value::Null);
    assert_eq!(wallet.balance().await, wei(FMX));
}
