//! A client that buys coins by payin: asks for a quote, sends what it says on the other chain, and looks what became of it.

use crate::{
    client::Client,
    deposit_chain::{self, DepositChain},
    machine,
    purchases::Purchase,
    replica::Request,
};
use plugin_testing::{ScriptedChain, Value, Wallet, json};
use std::time::Duration;

const ATTEMPTS: u64 = 6;
/// In whole tokens.
const AMOUNT_MIN: u64 = 5;
const AMOUNTS: u64 = 10;
const LOOKS: u64 = 6;
const BETWEEN_LOOKS: Duration = Duration::from_secs(8);
/// Number of the wallet that deposits come from.
const PAYER: u64 = 951;
/// Number of the wallet that they go to.
const DEPOSIT: u64 = 950;

/// Where deposits go to.
pub fn deposit_address() -> String {
    Wallet::new(DEPOSIT).address().to_owned()
}

pub struct Buyer {
    pub client: Client,
    pub deposits: DepositChain,
    /// Who gets the coins, and no others.
    pub recipient: Wallet,
}

impl Buyer {
    pub async fn run(mut self) {
        self.client.sleep_below(15_000).await;
        let recipient = self.recipient.address().to_owned();
        let Some(quote) = self.ask(&recipient).await else { return };
        self.client.sleep_below(4000).await;
        self.pay(&quote, recipient.clone());
        self.follow(&quote, &recipient).await;
    }

    /// The quote; none when nobody gives one.
    async fn ask(&mut self, recipient: &str) -> Option<Value> {
        let amount = (AMOUNT_MIN + self.client.dice.below(AMOUNTS)).to_string();
        let asset = deposit_chain::TOKEN.to_uppercase();
        let body = json!({ "chain": deposit_chain::NAME, "asset": asset, "amount": amount, "to": recipient });
        for _ in 0..ATTEMPTS {
            match self.client.send(Request::post("/api/payin/quote", body.to_string())).await {
                Some(answer) if answer.status == 201 => return Some(answer.body),
                Some(answer) if !matches!(answer.status, 429 | 503) => {
                    self.client.violation(&format!("answered {} {} to a quote", answer.status, answer.code()));
                    return None;
                }
                _ => {}
            }
            self.client.wait_until_back(2000, 15_000).await;
        }
        None
    }

    /// Now and then twice, which buys once.
    fn pay(&mut self, quote: &Value, recipient: String) {
        let text = |member: &str| quote[member].as_str().unwrap_or_default().to_owned();
        let (units, coins, id) = (text("sendExactly"), text("fmxOut"), text("quoteId"));
        let (from, to) = (Wallet::new(PAYER), deposit_address());
        let times = if self.client.dice.one_in(6) { 2 } else { 1 };
        let send = |number: u64| self.deposits.send((from.address(), &to), &units, &format!("{recipient} {number}"));
        let hashes = (0..times).map(send).collect();
        self.client.record(&format!("pays {units} {times} times for {id}"));
        let purchase = Purchase { recipient, coins, deposits: hashes, sent_s: machine::now_s() };
        self.client.ledger.borrow_mut().purchases.all.push(purchase);
    }

    /// Looks until it is paid, or for a while.
    async fn follow(&mut self, quote: &Value, recipient: &str) {
        let path = format!("/api/payin/{}", quote["quoteId"].as_str().unwrap_or_default());
        for _ in 0..LOOKS {
            tokio::time::sleep(BETWEEN_LOOKS).await;
            let Some(answer) = self.client.send_unrecorded(Request::get(&path)).await else { continue };
            let status = answer.body["status"].as_str().unwrap_or_default().to_owned();
            self.client.record(&format!("{} {status}", answer.status));
            match (answer.status, &*status) {
                (200, "quoted" | "seen" | "confirmed") | (503, _) => {}
                (200, "paid") if self.client.ledger.borrow().purchases.has_payout(recipient) => return,
                (code, _) => return self.client.violation(&format!("answered {code} {status:?} to a look at a quote")),
            }
        }
    }
}

/// `[plugins.payin]` of a run: a coin for 0.05 USD.
pub fn settings() -> Value {
    let cap = crate::purchases::DAY_MAX_WEI.to_string();
    let token =
        json!({ "address": ScriptedChain::address_of(deposit_chain::TOKEN), "decimals": deposit_chain::DECIMALS });
    let chain = json!({
        "deposit": deposit_address(), "confirmations": deposit_chain::CONFIRMATIONS, "chain_id": deposit_chain::CHAIN_ID,
        "name": "Dev", "tokens": { deposit_chain::TOKEN.to_uppercase(): token },
    });
    json!({
        "price_usd": "0.05", "payout_max_wei": cap, "hour_max_wei": cap, "day_max_wei": cap,
        "chains": { deposit_chain::NAME: chain },
    })
}
