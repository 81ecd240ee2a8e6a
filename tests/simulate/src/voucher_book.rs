//! The vouchers that payers have signed, and what they were told: the model that the vault and the database are compared with.

use crate::{ledger::Outcome, vault::Settlement};
use std::collections::BTreeMap;

/// A voucher, and what its payer knows of it.
#[derive(Clone, Debug)]
pub struct IssuedVoucher {
    pub payer: String,
    pub nonce: String,
    pub amount: String,
    pub outcome: Outcome,
}

#[derive(Default)]
pub struct VoucherBook {
    pub issued: Vec<IssuedVoucher>,
}

impl IssuedVoucher {
    fn is_of(&self, settlement: &Settlement) -> bool {
        (&self.payer, &self.nonce, &self.amount) == (&settlement.payer, &settlement.nonce, &settlement.amount)
    }
}

impl VoucherBook {
    /// Whether each acknowledged voucher was settled.
    pub fn are_settled(&self, settlements: &[Settlement]) -> bool {
        self.unsettled(settlements).next().is_none()
    }

    fn unsettled<'b>(&'b self, settlements: &'b [Settlement]) -> impl Iterator<Item = &'b IssuedVoucher> {
        let acknowledged = self.issued.iter().filter(|issued| issued.outcome == Outcome::Acknowledged);
        acknowledged.filter(|issued| !settlements.iter().any(|settlement| issued.is_of(settlement)))
    }

    /// What was acknowledged was settled once, for its amount, and nothing else; no voucher came to the vault twice. `indexed` is what
    /// the database has of the vault's settlements.
    pub fn check(&self, settlements: &[Settlement], skipped: usize, indexed: &[Settlement]) -> Vec<String> {
        let mut found: Vec<String> = self
            .unsettled(settlements)
            .map(|issued| {
                format!("the voucher {} of {} was acknowledged and never settled", issued.nonce, issued.payer)
            })
            .collect();
        let mut counts: BTreeMap<&Settlement, usize> = BTreeMap::new();
        for settlement in settlements {
            *counts.entry(settlement).or_default() += 1;
        }
        for (settlement, count) in counts {
            let Settlement { payer, nonce, amount } = settlement;
            let issued = self.issued.iter().find(|issued| issued.is_of(settlement));
            match issued.map(|issued| issued.outcome) {
                None => found.push(format!("nobody signed a voucher {nonce} of {payer} for {amount}")),
                Some(Outcome::Refused) => found.push(format!("the voucher {nonce} of {payer} was refused and settled")),
                _ if count > 1 => found.push(format!("the voucher {nonce} of {payer} was settled {count} times")),
                _ => {}
            }
        }
        if skipped > 0 {
            found.push(format!("the vault has skipped {skipped} vouchers: they were sent twice, too late or altered"));
        }
        found.extend(
            differs(settlements, indexed).then(|| "settlements of the vault and of the index differ".to_owned()),
        );
        found
    }
}

/// Whether the index does not have what the vault has settled.
pub fn differs(settlements: &[Settlement], indexed: &[Settlement]) -> bool {
    let sorted = |list: &[Settlement]| {
        let mut list = list.to_vec();
        list.sort();
        list
    };
    sorted(settlements) != sorted(indexed)
}
