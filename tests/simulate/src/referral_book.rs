//! Referrals, and what was paid for them: the model that the chain is compared with. It knows nothing of the gateway.

use crate::{chain_actor::CoinTransfer, ledger::Outcome};
use std::collections::{BTreeMap, BTreeSet};

const DAY_S: i64 = 86_400;
/// For each of the two owners.
pub const REWARD_WEI: u128 = 10_000_000_000_000_000_000;
/// Payouts of a day for agents that one owner brought.
pub const REFERRER_PER_DAY: usize = 1;

/// That a new agent was brought by another one.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Of this agent alone.
    pub owner: String,
    /// Of the agent that brought it.
    pub referrer: String,
    /// The job that its reward is for.
    pub job: u64,
    pub outcome: Outcome,
}

#[derive(Default)]
pub struct ReferralBook {
    budget_payouts: usize,
    pub claims: Vec<Claim>,
    /// When the owner of a new agent was paid, waiting or in a block, in days.
    paid_on: BTreeMap<String, i64>,
}

impl ReferralBook {
    /// The budget has room for so many payouts.
    pub fn with_budget(budget_payouts: usize) -> Self {
        Self { budget_payouts, ..Self::default() }
    }

    pub fn paid_count(&self) -> usize {
        self.paid_on.len()
    }

    fn claim_of(&self, owner: &str) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.owner == owner)
    }

    /// Looks at all payments so far; returns what is wrong with new ones. `final_jobs` are those that were completed so deep in the chain.
    pub fn see(&mut self, payments: &[CoinTransfer], final_jobs: &BTreeSet<u64>, now_s: i64) -> Vec<String> {
        let mut found = Vec::new();
        for CoinTransfer { payee, .. } in payments {
            let Some(claim) = self.claim_of(payee).filter(|_| !self.paid_on.contains_key(payee)) else { continue };
            if !final_jobs.contains(&claim.job) {
                found.push(format!(
                    "the owner {payee} of a new agent was paid for job {}, which is not final",
                    claim.job
                ));
            }
            self.paid_on.insert(payee.clone(), now_s.div_euclid(DAY_S));
        }
        found
    }

    /// Claims that have to be paid and are not: the job is final, and neither day nor budget is full.
    pub fn unpaid<'b>(&'b self, final_jobs: &'b BTreeSet<u64>, now_s: i64) -> impl Iterator<Item = &'b Claim> {
        let (today, is_spent) = (now_s.div_euclid(DAY_S), self.paid_count() >= self.budget_payouts);
        let is_due = move |claim: &&Claim| {
            claim.outcome == Outcome::Acknowledged
                && final_jobs.contains(&claim.job)
                && !self.paid_on.contains_key(&claim.owner)
                && self.paid_for(&claim.referrer, today) < REFERRER_PER_DAY
        };
        self.claims.iter().filter(move |_| !is_spent).filter(is_due)
    }

    /// Payouts of a day for agents that this owner brought.
    fn paid_for(&self, referrer: &str, day: i64) -> usize {
        let of_day = self.paid_on.iter().filter(|(_, paid_on)| **paid_on == day);
        of_day.filter(|(owner, _)| self.claim_of(owner).is_some_and(|claim| claim.referrer == referrer)).count()
    }

    /// Each claim whose job is final is paid once to both owners, unless day or budget is full; nothing else is, and nobody else.
    pub fn check(&self, mined: &[CoinTransfer], final_jobs: &BTreeSet<u64>, now_s: i64) -> Vec<String> {
        let mut found = Vec::new();
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for CoinTransfer { payee, wei } in mined {
            *times.entry(payee).or_default() += 1;
            if *wei != REWARD_WEI.to_string() {
                found.push(format!("{payee} was paid {wei} wei for a referral"));
            }
        }
        let mut earned: BTreeMap<&str, usize> = BTreeMap::new();
        for owner in self.paid_on.keys() {
            if let Some(claim) = self.claim_of(owner) {
                *earned.entry(&claim.referrer).or_default() += 1;
                earned.insert(&claim.owner, 1);
            }
        }
        let payees: BTreeSet<&str> = times.keys().chain(earned.keys()).copied().collect();
        for payee in payees {
            let [paid, due] = [&times, &earned].map(|counts| counts.get(payee).copied().unwrap_or_default());
            if paid != due {
                found.push(format!("{payee} was paid {paid} times for referrals, and earned {due} rewards"));
            }
        }
        for claim in self.claims.iter().filter(|claim| self.paid_on.contains_key(&claim.owner)) {
            if claim.outcome == Outcome::Refused {
                found.push(format!("the claim of {} was refused and paid", claim.owner));
            }
        }
        let unpaid = self.unpaid(final_jobs, now_s);
        found.extend(unpaid.map(|claim| format!("the claim of {} was acknowledged and never paid", claim.owner)));
        found.extend(self.check_caps());
        found
    }

    fn check_caps(&self) -> Vec<String> {
        let mut counts: BTreeMap<(&str, i64), usize> = BTreeMap::new();
        for (owner, day) in &self.paid_on {
            if let Some(claim) = self.claim_of(owner) {
                *counts.entry((&claim.referrer, *day)).or_default() += 1;
            }
        }
        let over = counts.iter().filter(|(_, count)| **count > REFERRER_PER_DAY);
        let mut found: Vec<String> = over
            .map(|((referrer, day), count)| format!("{count} referrals of {referrer} were paid on day {day}"))
            .collect();
        let (count, budget) = (self.paid_count(), self.budget_payouts);
        if count > budget {
            found.push(format!("{count} referrals were paid, and the budget is for {budget}"));
        }
        found
    }
}
