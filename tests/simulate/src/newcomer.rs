//! The owner of a new agent: registers it, says which agent brought it until that is answered, and has it do a job.

use crate::{
    chain_actor::{ChainActor, FIRST_REFERRER, REFERRERS},
    client::Client,
    ledger::Outcome,
    machine,
    referral_book::{Claim, REFERRER_PER_DAY, REWARD_WEI},
    replica::Request,
};
use plugin_testing::{Value, Wallet, json};
use std::time::Duration;

const ATTEMPTS: u64 = 30;
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(5);

/// `[plugins.referrals]` of a run whose budget has room for so many payouts.
pub fn settings(budget_payouts: usize) -> Value {
    json!({
        "reward_wei": REWARD_WEI.to_string(),
        "budget_wei": (2 * REWARD_WEI * budget_payouts as u128).to_string(),
        "paid_per_referrer_per_day": REFERRER_PER_DAY,
    })
}

pub struct Newcomer {
    pub client: Client,
    pub chain: ChainActor,
    pub wallet: Wallet,
    /// Of its agent, which no other one has.
    pub agent_name: String,
    /// Number of the job that its agent does.
    pub job: u64,
}

impl Newcomer {
    pub async fn run(mut self) {
        self.client.sleep_below(10_000).await;
        // The first agents of the chain.
        let referrer = self.client.dice.below(REFERRERS);
        let outcome = self.claim(1 + referrer).await;
        self.client.record(&format!("{outcome:?}"));
        let claim = Claim {
            owner: self.wallet.address().to_owned(),
            referrer: Wallet::new(FIRST_REFERRER + referrer).address().to_owned(),
            job: self.job,
            outcome,
        };
        self.client.ledger.borrow_mut().referrals.claims.push(claim);
        for _ in 0..ATTEMPTS {
            if self.chain.completed_jobs().contains_key(&self.job) {
                return;
            }
            // A reorganisation may have taken either of them away.
            if let Some(agent) = self.chain.agent_id(&self.agent_name) {
                self.chain.complete_job(self.job, agent);
            }
            tokio::time::sleep(BETWEEN_ATTEMPTS).await;
        }
    }

    /// Sends it, signed anew each time, until the response says what became of it.
    async fn claim(&mut self, referrer: u64) -> Outcome {
        let mut is_open = false;
        for _ in 0..ATTEMPTS {
            tokio::time::sleep(BETWEEN_ATTEMPTS).await;
            let Some(agent) = self.chain.agent_id(&self.agent_name) else {
                self.chain.enrol(&self.agent_name, self.wallet.address());
                continue;
            };
            let payload = json!({ "newAgentId": agent, "ref": referrer });
            let body = self.wallet.signed_body("referral.claim", machine::now_s(), &payload).to_string();
            let answer = self.client.send(Request::post("/api/referrals", body)).await;
            match answer.as_ref().map(|answer| (answer.status, answer.code())) {
                Some((201, _)) => return Outcome::Acknowledged,
                // An attempt before was recorded, whose response was lost.
                Some((409, "already_referred")) if is_open => return Outcome::Acknowledged,
                Some((503, _)) | None => is_open = true,
                // The index has no block of it yet, or has another agent of this number, or another write came just before.
                Some((404, _) | (403, "not_owner") | (429, _)) => {}
                Some((status, code)) => {
                    self.client.violation(&format!("answered {status} {code} to a good claim"));
                    return Outcome::Unknown;
                }
            }
        }
        if is_open { Outcome::Unknown } else { Outcome::Refused }
    }
}
