//! A client that asks the faucet for the first coins of fresh addresses, each again and again.

use crate::{
    client::Client,
    ledger::{Drip, Outcome},
    machine,
    replica::Request,
};
use plugin_testing::{Wallet, json};

const ATTEMPTS: u64 = 6;

pub struct DripClient {
    pub client: Client,
    /// Number of the wallet of its first address.
    pub first: u64,
    pub count: u64,
}

impl DripClient {
    pub async fn run(mut self) {
        for turn in 0..self.count {
            self.client.sleep_below(15_000).await;
            let address = Wallet::new(self.first + turn).address().to_owned();
            if let Some(outcome) = self.ask(&address).await {
                let answered_s = machine::now_s();
                self.client.record(&format!("{turn} {outcome:?}"));
                let drip = Drip { address: address.clone(), client: self.client.ip, answered_s, outcome };
                self.client.ledger.borrow_mut().drips.push(drip);
                if outcome == Outcome::Acknowledged {
                    self.client.count_granted();
                }
                self.ask_again(&address).await;
            }
        }
    }

    fn request(address: &str) -> Request {
        Request::post("/api/faucet", json!({ "address": address }).to_string())
    }

    /// None when no attempt can have had an effect.
    async fn ask(&mut self, address: &str) -> Option<Outcome> {
        let mut outcome = None;
        for _ in 0..ATTEMPTS {
            let answer = self.client.send(Self::request(address)).await;
            match answer.as_ref().map(|answer| (answer.status, answer.code())) {
                Some((202, _)) => return Some(Outcome::Acknowledged),
                // An attempt before was recorded, whose response was lost.
                Some((429, "faucet_cooldown")) if outcome.is_some() => return Some(Outcome::Acknowledged),
                Some((429, "faucet_cooldown")) => {
                    self.client.violation(&format!("{address} never asked before, and has to wait"));
                    return None;
                }
                Some((503, "faucet_daily_cap" | "faucet_reserve") | (429, "faucet_ip_limit")) => return outcome,
                Some((503, _)) | None => outcome = Some(Outcome::Unknown),
                Some((429, _)) => {}
                Some((status, code)) => {
                    // With the coins of an attempt whose response was lost.
                    if code != "faucet_not_needed" || outcome.is_none() {
                        self.client.violation(&format!("answered {status} {code} to a fresh address"));
                    }
                    return outcome;
                }
            }
            self.client.wait_until_back(2000, 20_000).await;
        }
        outcome
    }

    /// An address that was answered asks once more, which must not pay it again.
    async fn ask_again(&mut self, address: &str) {
        if !self.client.dice.one_in(2) {
            return;
        }
        self.client.sleep_below(8000).await;
        if let Some(answer) = self.client.send_unrecorded(Self::request(address)).await {
            self.client.record(&format!("again {} {}", answer.status, answer.code()));
        }
    }
}
