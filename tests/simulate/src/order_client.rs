//! A client that buys orders of priced routes: it asks for the price, signs a voucher over it, and sends both until it knows what became of
//! them. It presents some vouchers with two orders at once, and some again.

use crate::{
    client::Client,
    ledger::Outcome,
    machine,
    order_book::{PaidOrder, is_charged},
    replica::Request,
    shop_plugin::{PAYEE, PRICE_WEI},
    site::Answer,
    voucher::Voucher,
    voucher_book::IssuedVoucher,
};
use alloy_primitives::U256;
use plugin_testing::{Value, Wallet, json};

/// Until the reservation of a killed gateway is void.
const ATTEMPTS: u64 = 20;
/// Vouchers for one order, when those before bought nothing.
const VOUCHERS_MAX: u64 = 3;
const VOUCHER_LIFE_S: i64 = 900;
/// How long a signature counts, less than it takes to send it.
const SIGNATURE_S: i64 = 295;
/// What the refusal of a voucher that was seen before begins with; its state follows.
const SEEN: &str = "the nonce is used: its voucher is ";
/// What the refusal of a voucher begins with whose check has become too old.
const LATE: &str = "it took too long";
const RELEASED: &str = "x-service-payment-released";
const RECEIPT: &str = "payment-response";

pub struct OrderClient {
    pub client: Client,
    pub wallet: Wallet,
    pub chain_id: u64,
    pub count: u64,
}

struct Order {
    text: String,
    is_signed: bool,
    fails: bool,
    body: String,
    made_s: i64,
}

impl Order {
    fn is_expired(&self) -> bool {
        self.is_signed && machine::now_s() - self.made_s >= SIGNATURE_S
    }
}

/// What a response says of a voucher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The order is done and charged.
    Paid,
    /// The order has failed, as it was to.
    Failed,
    /// Nothing is charged, and nothing will be: the next attempt needs another voucher.
    Void,
    /// What became of it is not known.
    Open,
    /// Nothing has come of this attempt.
    Again,
    /// What must not be said.
    Wrong,
}

impl OrderClient {
    pub async fn run(mut self) {
        for turn in 0..self.count {
            self.client.sleep_below(12_000).await;
            let (is_signed, fails) = (self.client.dice.one_in(2), self.client.dice.one_in(5));
            let order = self.order(&format!("order {turn}"), is_signed, fails);
            self.buy(&order).await;
        }
    }

    fn order(&self, what: &str, is_signed: bool, fails: bool) -> Order {
        let made_s = machine::now_s();
        let text = format!("{} {what} {made_s}", self.client.name);
        let payload = json!({ "text": text, "fails": fails });
        let body = if is_signed { self.wallet.signed_body("order.create", made_s, &payload) } else { payload };
        Order { text, is_signed, fails, body: body.to_string(), made_s }
    }

    async fn buy(&mut self, order: &Order) {
        for _ in 0..VOUCHERS_MAX {
            let Some(nonce) = self.ask_price(order).await else { return };
            let voucher = self.voucher(nonce);
            // Whichever comes first gets it.
            let is_contested = !order.fails && self.client.dice.one_in(3);
            let rival = is_contested.then(|| self.order("rival", false, false));
            let verdict = self.deliver(order, &voucher, rival.as_ref()).await;
            self.client.record(&format!("{} {nonce} {verdict:?}", order.text));
            let texts = [Some(order), rival.as_ref()].into_iter().flatten().map(|order| order.text.clone()).collect();
            self.note(&voucher, texts, verdict);
            match verdict {
                Verdict::Void => continue,
                Verdict::Paid => {
                    self.client.count_granted();
                    self.present_again(&voucher, is_charged).await;
                }
                // A failed write has not used it.
                Verdict::Failed if !order.is_signed => {
                    self.present_again(&voucher, |state| matches!(state, "voided" | "reserved")).await;
                }
                _ => {}
            }
            return;
        }
    }

    /// The nonce that the price comes with; none when nobody says it.
    async fn ask_price(&mut self, order: &Order) -> Option<u64> {
        for _ in 0..ATTEMPTS {
            if order.is_expired() {
                break;
            }
            let answer = self.send(order, None).await;
            match answer.as_ref().map(|answer| answer.status) {
                Some(402) => return self.nonce_of(&answer?.body),
                None | Some(429 | 503) => {}
                Some(status) => {
                    self.client.violation(&format!("answered {status} to an order without payment"));
                    return None;
                }
            }
            self.client.wait_until_back(1000, 6000).await;
        }
        None
    }

    fn nonce_of(&self, terms: &Value) -> Option<u64> {
        let offer = &terms["accepts"][0];
        if offer["payTo"] != json!(PAYEE) || offer["maxAmountRequired"] != json!(PRICE_WEI.to_string()) {
            self.client.violation(&format!("the price is {offer}"));
            return None;
        }
        offer["extra"]["nonceHint"].as_u64()
    }

    fn voucher(&self, nonce: u64) -> Voucher {
        Voucher {
            payer: self.wallet.address().parse().unwrap_or_default(),
            payee: PAYEE,
            amount: U256::from(PRICE_WEI),
            nonce: U256::from(nonce),
            expiry_s: (machine::now_s() + VOUCHER_LIFE_S).unsigned_abs(),
            reference: [0; 32],
        }
    }

    fn note(&self, voucher: &Voucher, texts: Vec<String>, verdict: Verdict) {
        let outcome = match verdict {
            Verdict::Paid => Outcome::Acknowledged,
            Verdict::Failed | Verdict::Void | Verdict::Again | Verdict::Wrong => Outcome::Refused,
            Verdict::Open => Outcome::Unknown,
        };
        let (payer, nonce) = (voucher.payer.to_string(), voucher.nonce.to_string());
        let issued =
            IssuedVoucher { payer: payer.clone(), nonce: nonce.clone(), amount: voucher.amount.to_string(), outcome };
        let mut ledger = self.client.ledger.borrow_mut();
        ledger.vouchers.issued.push(issued);
        ledger.orders.orders.push(PaidOrder { texts, payer, nonce, outcome });
    }

    async fn send(&self, order: &Order, voucher: Option<&Voucher>) -> Option<Answer> {
        let path = if order.is_signed { "/api/shop/orders" } else { "/api/shop/work" };
        let mut request = Request::post(path, order.body.clone());
        if let Some(voucher) = voucher {
            request = request.header("payment", voucher.payment(&self.wallet, self.chain_id).to_string());
        }
        let answer = self.client.send_unrecorded(request).await;
        match &answer {
            None => self.client.record("no answer"),
            Some(answer) => {
                let reason = answer.body["error"].as_str().unwrap_or_default();
                self.client.record(&format!("{} {} {reason}", answer.status, answer.code()));
            }
        }
        answer
    }

    /// Sends it until a response says what became of it: `rival` comes once, at the same time.
    async fn deliver(&mut self, order: &Order, voucher: &Voucher, mut rival: Option<&Order>) -> Verdict {
        let mut is_open = false;
        for _ in 0..ATTEMPTS {
            if order.is_expired() {
                break;
            }
            let verdict = match rival.take() {
                None => self.judge(order, self.send(order, Some(voucher)).await.as_ref(), is_open),
                Some(rival) => {
                    is_open = true;
                    self.send_both(order, rival, voucher).await
                }
            };
            match verdict {
                Verdict::Open => is_open = true,
                Verdict::Again => {}
                verdict => return verdict,
            }
            self.client.wait_until_back(2000, 6000).await;
        }
        if is_open { Verdict::Open } else { Verdict::Again }
    }

    /// At the same time, at any gateways: one at most is accepted.
    async fn send_both(&self, order: &Order, rival: &Order, voucher: &Voucher) -> Verdict {
        let (answer, of_rival) = tokio::join!(self.send(order, Some(voucher)), self.send(rival, Some(voucher)));
        let is_accepted = |answer: &Option<Answer>| answer.as_ref().is_some_and(|answer| answer.status < 300);
        if is_accepted(&answer) && is_accepted(&of_rival) {
            self.client.violation(&format!("two orders were accepted for the voucher {}", voucher.nonce));
        }
        let verdicts =
            [(order, answer), (rival, of_rival)].map(|(order, answer)| self.judge(order, answer.as_ref(), true));
        let known = verdicts.into_iter().find(|verdict| !matches!(verdict, Verdict::Open | Verdict::Again));
        known.unwrap_or(Verdict::Open)
    }

    /// `is_open`: an earlier response was lost, or another order came with the voucher.
    fn judge(&self, order: &Order, answer: Option<&Answer>, is_open: bool) -> Verdict {
        let Some(answer) = answer else { return Verdict::Open };
        let (is_released, has_receipt) = (answer.headers.contains_key(RELEASED), answer.headers.contains_key(RECEIPT));
        match (answer.status, answer.code()) {
            (201, _) if has_receipt && !is_released && !order.fails => Verdict::Paid,
            (422, "work_failed") if order.fails && !has_receipt && is_released != order.is_signed => Verdict::Failed,
            (402, _) => self.judge_refusal(order, answer, is_open),
            (503, "payment_expired") => Verdict::Void,
            (503, _) if is_released && !has_receipt => Verdict::Void,
            (429, _) | (503, "disabled") => Verdict::Again,
            (503, _) if !has_receipt => Verdict::Open,
            (409, "replay") if is_open && order.is_signed => Verdict::Paid,
            (status, code) => {
                self.client.violation(&format!(
                    "answered {status} {code} to a paid order; released: {is_released}, receipt: {has_receipt}"
                ));
                Verdict::Wrong
            }
        }
    }

    /// A refusal must say what became of the voucher.
    fn judge_refusal(&self, order: &Order, answer: &Answer, is_open: bool) -> Verdict {
        let reason = answer.body["error"].as_str().unwrap_or_default();
        let state = state_of(reason);
        match state {
            Some("reserved") if is_open => Verdict::Again,
            Some("voided") if is_open && !order.fails => Verdict::Void,
            Some("voided") if is_open => Verdict::Failed,
            Some(state) if is_open && !order.fails && is_charged(state) => Verdict::Paid,
            None if reason.starts_with(LATE) => Verdict::Again,
            _ => {
                self.client.violation(&format!("refused a good voucher: {reason}"));
                Verdict::Wrong
            }
        }
    }

    /// With another order, which it must not buy: the refusal says in which state it is.
    async fn present_again(&mut self, voucher: &Voucher, is_expected: impl Fn(&str) -> bool) {
        if self.client.dice.one_in(3) {
            return;
        }
        self.client.sleep_below(10_000).await;
        let is_signed = self.client.dice.one_in(2);
        let order = self.order("again", is_signed, false);
        let Some(answer) = self.send(&order, Some(voucher)).await else { return };
        let reason = answer.body["error"].as_str().unwrap_or_default();
        let is_honest = answer.status == 402 && state_of(reason).is_some_and(is_expected);
        if !is_honest && !matches!(answer.status, 429 | 503) {
            let status = answer.status;
            self.client.violation(&format!("answered {status} {reason:?} to the used voucher {}", voucher.nonce));
        }
    }
}

fn state_of(reason: &str) -> Option<&str> {
    reason.strip_prefix(SEEN)?.split(',').next()
}
