//! What people bought by payin: the model that the chains and the database are compared with. It knows nothing of the gateway.

use crate::{
    chain_actor::CoinTransfer,
    deposit_chain::{CONFIRMATIONS, DepositChain},
};
use std::collections::BTreeMap;

const DAY_S: i64 = 86_400;
/// Caps count payouts in millionths of a coin, rounded up.
const MICRO_WEI: u128 = 1_000_000_000_000;
/// What all payouts of a day may be.
pub const DAY_MAX_WEI: u128 = 700_000_000_000_000_000_000;

/// A quote, and what was sent for it.
#[derive(Clone, Debug)]
pub struct Purchase {
    /// Of this quote alone.
    pub recipient: String,
    /// What the quote promises, in wei.
    pub coins: String,
    /// Hashes of the transactions that have sent exactly its amount. One counts.
    pub deposits: Vec<String>,
    /// When the first one was sent, in unix seconds.
    pub sent_s: i64,
}

/// A payout, when it was seen first, waiting or in a block.
#[derive(Clone, Debug)]
struct SeenPayout {
    at_s: i64,
    micro: u128,
}

#[derive(Default)]
pub struct Purchases {
    pub all: Vec<Purchase>,
    payouts: BTreeMap<String, SeenPayout>,
}

impl Purchases {
    /// Looks at all payouts so far; returns what is wrong with new ones. A new one has all confirmations of its deposit.
    pub fn see(&mut self, payments: &[CoinTransfer], deposits: &DepositChain, now_s: i64) -> Vec<String> {
        let mut found = Vec::new();
        for payment in payments {
            if self.payouts.contains_key(&payment.payee) {
                continue;
            }
            let seen = SeenPayout { at_s: now_s, micro: in_micro(&payment.wei) };
            self.payouts.insert(payment.payee.clone(), seen);
            let purchase = self.all.iter().find(|purchase| purchase.recipient == payment.payee);
            let Some(confirmations) = purchase.map(|purchase| confirmations(purchase, deposits)) else { continue };
            if confirmations.is_none_or(|confirmations| confirmations < CONFIRMATIONS) {
                found.push(format!("{} was paid for a deposit with {confirmations:?} confirmations", payment.payee));
            }
        }
        found
    }

    /// Whether a payout to this recipient was seen.
    pub fn has_payout(&self, recipient: &str) -> bool {
        self.payouts.contains_key(recipient)
    }

    pub fn payout_count(&self) -> usize {
        self.payouts.len()
    }

    /// Each deposit that is final is paid once, in full, unless the day is full; nothing else is. `stored` are recipients and wei of the
    /// payouts that the database has recorded.
    pub fn check(
        &self,
        mined: &[CoinTransfer],
        deposits: &DepositChain,
        stored: &[(String, String)],
        now_s: i64,
    ) -> Vec<String> {
        let mut found = Vec::new();
        let mut paid: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for payment in mined {
            paid.entry(&payment.payee).or_default().push(&payment.wei);
        }
        for (payee, payouts) in &paid {
            let Some(purchase) = self.all.iter().find(|purchase| purchase.recipient == **payee) else {
                found.push(format!("{payee} was paid and has bought nothing"));
                continue;
            };
            if payouts.len() > 1 {
                found.push(format!("{payee} was paid {} times for one deposit", payouts.len()));
            }
            found.extend(
                payouts
                    .iter()
                    .find(|wei| **wei != purchase.coins)
                    .map(|wei| format!("{payee} was paid {wei} wei in place of {}", purchase.coins)),
            );
            if confirmations(purchase, deposits).is_none() {
                found.push(format!("{payee} was paid for a deposit that left its chain"));
            }
        }
        found.extend(self.check_day_caps());
        found.extend(
            self.unpaid(mined, deposits, now_s)
                .into_iter()
                .map(|payee| format!("the deposit for {payee} was never paid")),
        );
        let on_chain: BTreeMap<&str, u128> = sums(mined.iter().map(|payment| (&*payment.payee, &*payment.wei)));
        let recorded = sums(stored.iter().map(|(payee, wei)| (&**payee, &**wei)));
        if on_chain != recorded {
            let differs = |(payee, sum): &(&&str, &u128)| recorded.get(**payee) != Some(sum);
            let payee = on_chain
                .iter()
                .find(differs)
                .or_else(|| recorded.iter().find(|(payee, _)| !on_chain.contains_key(**payee)));
            found.push(format!("payouts on the chain and in the database differ: {payee:?}"));
        }
        found
    }

    fn check_day_caps(&self) -> Vec<String> {
        let mut days: BTreeMap<i64, u128> = BTreeMap::new();
        for payout in self.payouts.values() {
            *days.entry(payout.at_s.div_euclid(DAY_S)).or_default() += payout.micro;
        }
        let too_much = days.iter().filter(|(_, micro)| **micro * MICRO_WEI > DAY_MAX_WEI);
        too_much.map(|(day, micro)| format!("{micro} millionths of a coin were paid on day {day}")).collect()
    }

    /// Recipients whose deposit of today is final, and who could be paid and are not. A second deposit of one amount is the operator's, and
    /// of those of earlier days some wait for longer.
    pub fn unpaid(&self, mined: &[CoinTransfer], deposits: &DepositChain, now_s: i64) -> Vec<&str> {
        let day = now_s.div_euclid(DAY_S);
        let today = self.payouts.values().filter(|payout| payout.at_s.div_euclid(DAY_S) == day);
        let used: u128 = today.map(|payout| payout.micro).sum();
        let fits = |purchase: &Purchase| (used + in_micro(&purchase.coins)) * MICRO_WEI <= DAY_MAX_WEI;
        let is_paid = |purchase: &Purchase| mined.iter().any(|payment| payment.payee == purchase.recipient);
        let is_final = |purchase: &Purchase| {
            let confirmations = confirmations(purchase, deposits);
            confirmations.is_some_and(|confirmations| confirmations >= CONFIRMATIONS)
        };
        let is_due = |purchase: &&Purchase| {
            purchase.deposits.len() == 1
                && purchase.sent_s.div_euclid(DAY_S) == day
                && fits(purchase)
                && !is_paid(purchase)
                && is_final(purchase)
        };
        self.all.iter().filter(is_due).map(|purchase| &*purchase.recipient).collect()
    }
}

/// Of the deposit of the purchase that has most of them.
fn confirmations(purchase: &Purchase, deposits: &DepositChain) -> Option<u64> {
    purchase.deposits.iter().filter_map(|hash| deposits.confirmations(hash)).max()
}

fn in_micro(wei: &str) -> u128 {
    wei.parse::<u128>().unwrap_or(u128::MAX).div_ceil(MICRO_WEI)
}

fn sums<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeMap<&'a str, u128> {
    let mut sums = BTreeMap::new();
    for (payee, wei) in pairs {
        let sum: &mut u128 = sums.entry(payee).or_default();
        *sum += wei.parse().unwrap_or(u128::MAX / 1_000_000);
    }
    sums
}
