//! What a voucher must be, in the order in which it is checked: the terms before the nonce and the signature, the funds after them.

use super::{LIFE_MAX_S, LIFE_MIN_S, Names, Payment, Voucher};
use crate::config::RefRule;
use plugin_api::{Address, Hash256, Wei};
use serde::{Deserialize, Serialize};

/// What a payment has to meet. A client of the facilitator may leave parts out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirement {
    pub pay_to: Option<Address>,
    pub amount: Option<Wei>,
    /// The URL that is paid for; empty when it is not said.
    pub resource: String,
}

/// Scheme, network, times, amount, payee and reference, in this order. The error is for the client.
pub fn check_terms(
    payment: &Payment,
    requirement: &Requirement,
    names: &Names,
    rule: RefRule,
    now_s: i64,
) -> Result<(), String> {
    let voucher = &payment.voucher;
    let is_other = |said: &Option<String>, ours: &str| said.as_deref().is_some_and(|said| said != ours);
    if is_other(&payment.scheme, &names.scheme) {
        return Err(format!("the scheme must be {}", names.scheme));
    }
    if is_other(&payment.network, &names.network) {
        return Err(format!("the network must be {}", names.network));
    }
    let life_s = voucher.expiry_s.saturating_sub(now_s);
    if life_s < 0 {
        return Err("the voucher has expired".to_owned());
    }
    if life_s < LIFE_MIN_S {
        return Err(format!("the voucher expires too soon: in {life_s} s, and {LIFE_MIN_S} are needed"));
    }
    if life_s > LIFE_MAX_S {
        return Err(format!("the voucher expires too late: in {life_s} s, and at most {LIFE_MAX_S} are accepted"));
    }
    if voucher.amount == Wei::ZERO {
        return Err("the amount is zero".to_owned());
    }
    // The vault would skip it.
    if voucher.payee == Address::ZERO {
        return Err("the payee is the zero address".to_owned());
    }
    check_price(voucher, requirement, rule)
}

/// Payee, amount and reference: what may have changed since the voucher was checked, because the price has.
pub fn check_price(voucher: &Voucher, requirement: &Requirement, rule: RefRule) -> Result<(), String> {
    if let Some(pay_to) = requirement.pay_to.filter(|pay_to| *pay_to != voucher.payee) {
        return Err(format!("the payee must be {pay_to}"));
    }
    if let Some(amount) = requirement.amount.filter(|amount| *amount > voucher.amount) {
        return Err(format!("the amount must be at least {amount} wei"));
    }
    check_reference(voucher.reference, &requirement.resource, rule)
}

fn check_reference(reference: Hash256, resource: &str, rule: RefRule) -> Result<(), String> {
    let is_zero = reference == Hash256([0; 32]);
    let fits = match rule {
        RefRule::Any => true,
        RefRule::Match => is_zero || reference == Hash256::keccak(resource.as_bytes()),
        RefRule::Required => reference == Hash256::keccak(resource.as_bytes()),
    };
    if fits { Ok(()) } else { Err("ref must be the keccak-256 of the resource, the URL that is paid for".to_owned()) }
}

/// What a payer has, by the vault or by its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Funds {
    pub balance: Wei,
    /// In deposits of blocks that are too new to count.
    #[serde(default)]
    pub unconfirmed: Wei,
    /// Unix seconds from which he may take it out; 0 while it is locked.
    pub unlock_at: Wei,
    /// The block in whose state this was read.
    pub block: i64,
    /// When it was read, in Unix seconds.
    pub at_s: i64,
}

/// Why a voucher is not covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FundsProblem {
    /// For the client.
    NotCovered(String),
    /// The same, and a batch would help.
    CreditUsedUp(String),
}

impl Funds {
    /// `pending` are the payer's vouchers that the balance does not know yet.
    pub fn check(&self, pending: Wei, amount: Wei, credit_max: Wei, now_s: i64) -> Result<(), FundsProblem> {
        let needed = pending.saturating_add(amount);
        if needed > self.balance {
            let Self { balance, unconfirmed, .. } = self;
            let new = match *unconfirmed {
                Wei::ZERO => String::new(),
                unconfirmed => format!(" ({unconfirmed} more are in blocks that are too new to count)"),
            };
            let problem = format!(
                "the vault holds {balance} wei of the payer{new}, and {needed} are needed with what is not settled yet"
            );
            return Err(FundsProblem::NotCovered(problem));
        }
        let soon_s = u64::try_from(now_s.saturating_add(LIFE_MIN_S)).unwrap_or_default();
        if self.unlock_at != Wei::ZERO && self.unlock_at.0 <= alloy_primitives::U256::from(soon_s) {
            return Err(FundsProblem::NotCovered(
                "the payer may take the balance out of the vault too soon".to_owned(),
            ));
        }
        // A single voucher may be for more: nothing else is at risk with it.
        if pending != Wei::ZERO && needed > credit_max {
            let problem = format!(
                "{pending} wei of the payer are not settled yet, and {credit_max} are the most: pay again in a minute"
            );
            return Err(FundsProblem::CreditUsedUp(problem));
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use alloy_primitives::U256;

    fn wei(amount: u64) -> Wei {
        Wei(U256::from(amount))
    }

    fn funds(balance: u64, unlock_at: u64) -> Funds {
        Funds { balance: wei(balance), unlock_at: wei(unlock_at), block: 1, at_s: 1000, ..Funds::default() }
    }

    #[test]
    fn pending_vouchers_count_against_the_balance() {
        assert_eq!(funds(100, 0).check(wei(60), wei(40), wei(1000), 1000), Ok(()));
        let problem = funds(100, 0).check(wei(60), wei(41), wei(1000), 1000).unwrap_err();
        assert!(matches!(problem, FundsProblem::NotCovered(text) if text.contains("101")));
        let beyond = Funds { balance: Wei(U256::MAX), ..funds(0, 0) };
        assert!(beyond.check(Wei(U256::MAX), wei(1), wei(0), 1000).is_err(), "sums do not wrap");
    }

    #[test]
    fn a_balance_that_leaves_within_90_seconds_covers_nothing() {
        assert_eq!(funds(100, 1091).check(wei(0), wei(1), wei(1000), 1000), Ok(()));
        for unlock_at in [1, 1000, 1090] {
            assert!(funds(100, unlock_at).check(wei(0), wei(1), wei(1000), 1000).is_err(), "{unlock_at}");
        }
    }

    #[test]
    fn a_single_voucher_may_exceed_the_credit() {
        assert_eq!(funds(1000, 0).check(wei(0), wei(500), wei(100), 1000), Ok(()));
        assert_eq!(funds(1000, 0).check(wei(60), wei(40), wei(100), 1000), Ok(()));
        let problem = funds(1000, 0).check(wei(60), wei(41), wei(100), 1000).unwrap_err();
        assert!(matches!(problem, FundsProblem::CreditUsedUp(_)));
    }
}
