//! A client whose account's calls the relay sends: it signs a call, sends it until it is answered, and sends it again.

use crate::{
    account::{self, SignedCall},
    chain_actor::ChainActor,
    client::Client,
    ledger::Outcome,
    machine,
    replica::Request,
    site::Answer,
    sponsored::SponsoredCall,
    typed_data,
};
use alloy_primitives::{B256, hex, keccak256};
use plugin_testing::{ScriptedChain, Value, Wallet, json};
use std::time::Duration;

const ATTEMPTS: u64 = 8;
const LIFE_S: i64 = 900;
/// How often it looks whether its call is in a block.
const LOOKS: u64 = 8;
const BETWEEN_LOOKS: Duration = Duration::from_secs(5);

/// `[plugins.relay]` of a run.
pub fn settings() -> Value {
    json!({ "account_per_day": crate::sponsored::ACCOUNT_PER_DAY, "per_day": crate::sponsored::PER_DAY })
}

pub struct Caller {
    pub client: Client,
    pub chain: ChainActor,
    /// Of the account.
    pub number: u64,
    pub owner: Wallet,
    pub day: u64,
    pub count: u64,
}

impl Caller {
    pub async fn run(mut self) {
        for turn in 0..self.count {
            self.client.sleep_below(10_000).await;
            let account = account::address_of(self.number);
            let call = SignedCall {
                account,
                to: ScriptedChain::address_of("registry"),
                data: format!("{} {} {turn}", self.client.name, self.day).into_bytes(),
                nonce: self.nonce(),
                deadline_s: (machine::now_s() + LIFE_S).unsigned_abs(),
            };
            let body = self.body(&call);
            let outcome = self.deliver(&body).await;
            self.client.record(&format!("{turn} {outcome:?}"));
            let data_hash: B256 = keccak256(&call.data);
            let sponsored = SponsoredCall { account: account.to_string(), data_hash, outcome };
            self.client.ledger.borrow_mut().sponsored.calls.push(sponsored);
            if outcome == Outcome::Acknowledged {
                self.client.count_granted();
                self.call_again(&body).await;
            }
            self.wait_for(call.nonce, outcome).await;
        }
    }

    /// Of the next call: so many the account has carried out.
    fn nonce(&self) -> u64 {
        let account = account::address_of(self.number).to_string();
        self.chain.executed().iter().filter(|call| call.account == account).count() as u64
    }

    fn body(&self, call: &SignedCall) -> String {
        let signature = typed_data::sign(&self.owner, call.digest(self.chain.id()));
        let body = json!({
            "account": call.account, "to": call.to, "data": hex::encode_prefixed(&call.data), "deadline": call.deadline_s,
            "sig": signature,
        });
        body.to_string()
    }

    async fn send(&self, body: &str) -> Option<Answer> {
        self.client.send(Request::post("/api/relay", body.to_owned())).await
    }

    /// Sends it until the response says what became of it.
    async fn deliver(&mut self, body: &str) -> Outcome {
        let mut is_open = false;
        for _ in 0..ATTEMPTS {
            let answer = self.send(body).await;
            match answer.as_ref().map(|answer| (answer.status, answer.code())) {
                Some((202, _)) => return Outcome::Acknowledged,
                Some((503, "daily_cap")) => break,
                Some((503, _)) | None => is_open = true,
                // A server that is behind knows another nonce, or the day is over for the account.
                Some((400 | 429, _)) => {}
                Some((status, code)) => {
                    self.client.violation(&format!("answered {status} {code} to a good call"));
                    break;
                }
            }
            self.client.wait_until_back(1000, 6000).await;
        }
        if is_open { Outcome::Unknown } else { Outcome::Refused }
    }

    /// The same call within two minutes is answered alike, and sent once.
    async fn call_again(&mut self, body: &str) {
        if self.client.dice.one_in(3) {
            return;
        }
        self.client.sleep_below(5000).await;
        let answer = self.send(body).await;
        if let Some(answer) = answer.filter(|answer| !matches!(answer.status, 202 | 429 | 503)) {
            self.client.violation(&format!("answered {} {} to a call that it has sent", answer.status, answer.code()));
        }
    }

    async fn wait_for(&self, nonce: u64, outcome: Outcome) {
        for _ in 0..LOOKS {
            if outcome == Outcome::Refused || self.nonce() > nonce {
                return;
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }
}
