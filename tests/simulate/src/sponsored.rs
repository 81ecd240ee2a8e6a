//! Calls that the relay was asked to send: the model that the chain is compared with.

use crate::{account::ExecutedCall, ledger::Outcome};
use alloy_primitives::B256;
use std::collections::BTreeMap;

/// Caps of a day.
pub const ACCOUNT_PER_DAY: u64 = 3;
pub const PER_DAY: u64 = 5;
const DAY_S: i64 = 86_400;

/// A call, and what its sender was answered.
#[derive(Clone, Debug)]
pub struct SponsoredCall {
    pub account: String,
    /// Of data that no other call has.
    pub data_hash: B256,
    pub outcome: Outcome,
}

#[derive(Default)]
pub struct SponsoredCalls {
    pub calls: Vec<SponsoredCall>,
}

impl SponsoredCall {
    fn is(&self, executed: &ExecutedCall) -> bool {
        (&self.account, self.data_hash) == (&executed.account, executed.data_hash)
    }
}

impl SponsoredCalls {
    /// Whether each acknowledged call was carried out.
    pub fn are_executed(&self, executed: &[ExecutedCall]) -> bool {
        self.missing(executed).next().is_none()
    }

    fn missing<'c>(&'c self, executed: &'c [ExecutedCall]) -> impl Iterator<Item = &'c SponsoredCall> {
        let acknowledged = self.calls.iter().filter(|call| call.outcome == Outcome::Acknowledged);
        acknowledged.filter(|call| !executed.iter().any(|executed| call.is(executed)))
    }

    /// What was acknowledged was carried out, what was refused was not, nothing was sent twice, and no more than the caps. `sent` has how
    /// often each calldata is in a block, whatever came of it.
    pub fn check(&self, executed: &[ExecutedCall], sent: &BTreeMap<Vec<u8>, usize>) -> Vec<String> {
        let mut found: Vec<String> = self
            .missing(executed)
            .map(|call| format!("a call of {} was acknowledged and never carried out", call.account))
            .collect();
        for executed in executed {
            match self.calls.iter().find(|call| call.is(executed)).map(|call| call.outcome) {
                None => found.push(format!("nobody signed a call of {} that was carried out", executed.account)),
                Some(Outcome::Refused) => {
                    found.push(format!("a call of {} was refused and carried out", executed.account))
                }
                Some(_) => {}
            }
        }
        let times = sent.values().max().copied().unwrap_or_default();
        if times > 1 {
            found.push(format!("one signed call was sent {times} times"));
        }
        found.extend(check_caps(executed));
        found
    }
}

fn check_caps(executed: &[ExecutedCall]) -> Vec<String> {
    let (mut accounts, mut days) = (BTreeMap::new(), BTreeMap::new());
    for call in executed {
        let day = call.at_s.div_euclid(DAY_S);
        *accounts.entry((&call.account, day)).or_insert(0_u64) += 1;
        *days.entry(day).or_insert(0_u64) += 1;
    }
    let of_accounts = accounts.iter().filter(|(_, count)| **count > ACCOUNT_PER_DAY);
    let of_days = days.iter().filter(|(_, count)| **count > PER_DAY);
    let accounts = of_accounts.map(|((account, day), count)| format!("{count} calls of {account} on day {day}"));
    accounts.chain(of_days.map(|(day, count)| format!("{count} calls were sent on day {day}"))).collect()
}
