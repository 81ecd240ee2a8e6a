//! A client that pays with vouchers of x402: each is sent until it is answered, and some are sent again or signed twice with one nonce.

use crate::{
    client::Client, ledger::Outcome, machine, replica::Request, site::Answer, voucher::Voucher,
    voucher_book::IssuedVoucher,
};
use alloy_primitives::U256;
use plugin_api::Address;
use plugin_testing::{Value, Wallet, json};

const ATTEMPTS: u64 = 8;
const LIFE_S: i64 = 900;
/// A hundredth of a coin.
const AMOUNT_WEI: u64 = 10_000_000_000_000_000;
const PAYEE: Address = Address([0x22; 20]);
/// Number of the wallet that signs for others.
const FORGER: u64 = 999;
/// What the refusal of a voucher that was seen before begins with.
const SEEN: &str = "the nonce is used: its voucher is ";

/// `[plugins.x402]` of a run.
pub fn settings() -> Value {
    json!({ "batch_s": 8, "batch_size": 4 })
}

pub struct VoucherClient {
    pub client: Client,
    /// A contract, or the address of the wallet.
    pub payer: Address,
    /// Signs for the payer.
    pub wallet: Wallet,
    pub chain_id: u64,
    pub first_nonce: u64,
    pub count: u64,
}

impl VoucherClient {
    pub async fn run(mut self) {
        for turn in 0..self.count {
            self.client.sleep_below(12_000).await;
            let voucher = self.voucher(self.first_nonce + turn);
            self.forge(&voucher).await;
            let outcome = self.deliver(&voucher).await;
            self.client.record(&format!("{turn} {outcome:?}"));
            self.note(&voucher, outcome);
            if outcome == Outcome::Acknowledged {
                self.client.count_granted();
                self.pay_again(voucher).await;
            }
        }
    }

    fn voucher(&self, nonce: u64) -> Voucher {
        Voucher {
            payer: self.payer,
            payee: PAYEE,
            amount: U256::from(AMOUNT_WEI),
            nonce: U256::from(nonce),
            expiry_s: (machine::now_s() + LIFE_S).unsigned_abs(),
            reference: [0; 32],
        }
    }

    fn note(&self, voucher: &Voucher, outcome: Outcome) {
        let Voucher { payer, nonce, amount, .. } = voucher;
        let issued =
            IssuedVoucher { payer: payer.to_string(), nonce: nonce.to_string(), amount: amount.to_string(), outcome };
        self.client.ledger.borrow_mut().vouchers.issued.push(issued);
    }

    async fn send(&self, what: &str, voucher: &Voucher) -> Option<Answer> {
        self.send_signed_by(&self.wallet, what, voucher).await
    }

    async fn send_signed_by(&self, wallet: &Wallet, what: &str, voucher: &Voucher) -> Option<Answer> {
        let requirements = json!({ "payTo": voucher.payee, "maxAmountRequired": voucher.amount.to_string() });
        let payment = voucher.payment(wallet, self.chain_id);
        let body = json!({ "paymentPayload": payment, "paymentRequirements": requirements });
        let answer = self.client.send_unrecorded(Request::post(&format!("/api/x402/{what}"), body.to_string())).await;
        match &answer {
            None => self.client.record("no answer"),
            Some(answer) => {
                let reason = answer.body["errorReason"].as_str().or(answer.body["reason"].as_str()).unwrap_or_default();
                self.client.record(&format!("{what} {} {reason}", answer.status));
            }
        }
        answer
    }

    /// What somebody else signs in the payer's name is not accepted.
    async fn forge(&mut self, voucher: &Voucher) {
        if !self.client.dice.one_in(4) {
            return;
        }
        let answer = self.send_signed_by(&Wallet::new(FORGER), "settle", voucher).await;
        if answer.is_some_and(|answer| answer.body["success"] == true) {
            self.client.violation(&format!("the forged voucher {} was accepted", voucher.nonce));
        }
    }

    /// Sends it until the response says what became of it.
    async fn deliver(&mut self, voucher: &Voucher) -> Outcome {
        let mut is_open = false;
        if self.client.dice.one_in(3) {
            self.verify(voucher).await;
        }
        for _ in 0..ATTEMPTS {
            let answer = self.send("settle", voucher).await;
            let body = answer.as_ref().map(|answer| &answer.body);
            let reason = body.and_then(|body| body["errorReason"].as_str()).unwrap_or_default();
            match answer.as_ref().map(|answer| (answer.status, &answer.body["success"], &answer.body["disabled"])) {
                Some((200, success, _)) if *success == true => return Outcome::Acknowledged,
                // An attempt before has taken it, whose response was lost.
                Some((200, ..)) if reason.starts_with(SEEN) && is_open => return Outcome::Acknowledged,
                Some((200, _, disabled)) if *disabled == true => {}
                Some((429, ..)) => {}
                Some((503, ..)) | None => is_open = true,
                Some((status, ..)) => {
                    self.client.violation(&format!("answered {status} {reason:?} to a good voucher"));
                    return Outcome::Refused;
                }
            }
            self.client.wait_until_back(1000, 8000).await;
        }
        if is_open { Outcome::Unknown } else { Outcome::Refused }
    }

    /// A good voucher, that was not sent yet, would be accepted, while anything is.
    async fn verify(&self, voucher: &Voucher) {
        let Some(answer) = self.send("verify", voucher).await else { return };
        let is_fine = answer.body["isValid"] == true || answer.body["disabled"] == true;
        if answer.status != 503 && answer.status != 429 && !is_fine {
            self.client
                .violation(&format!("answered {} {} to the check of a good voucher", answer.status, answer.body));
        }
    }

    /// The same voucher again, or another one with its nonce: neither is taken.
    async fn pay_again(&mut self, voucher: Voucher) {
        if self.client.dice.one_in(3) {
            return;
        }
        self.client.sleep_below(25_000).await;
        let is_other = self.client.dice.one_in(2);
        let amount = voucher.amount + U256::from(u64::from(is_other));
        let again = Voucher { amount, ..voucher };
        let answer = self.send("settle", &again).await;
        let is_taken = answer.as_ref().is_some_and(|answer| answer.body["success"] == true);
        if is_taken {
            self.client.violation(&format!("the nonce {} was taken twice", again.nonce));
        }
        if is_other {
            let is_open = answer.is_none_or(|answer| answer.status >= 500);
            self.note(&again, if is_open { Outcome::Unknown } else { Outcome::Refused });
        }
    }
}
