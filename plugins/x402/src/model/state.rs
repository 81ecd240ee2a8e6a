//! The state of a voucher. It is computed from the stored row and from what the vault's logs say, so that a reorganisation that takes
//! a log back needs no repair.

use plugin_api::{Address, Hash256, JsonSchema, Wei, handles::Bind};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Bind)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Taken for work that is being done.
    Reserved,
    /// Accepted, waits for its batch.
    Queued,
    /// In a batch.
    Submitted,
    /// Paid on the chain.
    Settled,
    /// The vault did not take it, or it expired before its batch.
    Skipped,
    /// No batch with it alone succeeded.
    Failed,
    /// The vault that it was made for is not used any more.
    Unsettleable,
    /// The work failed. The nonce stays used.
    Voided,
}

/// A stored voucher with what the logs of its vault say.
#[derive(Clone, Debug, Deserialize)]
pub struct VoucherRow {
    pub payer: Address,
    pub nonce: Wei,
    pub payee: Address,
    pub amount: Wei,
    pub reference: Hash256,
    pub expiry_s: i64,
    pub resource: String,
    pub state: State,
    pub reason: Option<String>,
    /// Until when a reservation holds.
    pub until_s: Option<i64>,
    pub created_at: i64,
    /// Of the log that decided, once it is final.
    pub tx: Option<Hash256>,
    pub closed_at: Option<i64>,
    /// Of `Settled` with payer and nonce.
    pub settled_payee: Option<Address>,
    pub settled_amount: Option<Wei>,
    pub settled_ref: Option<Hash256>,
    pub settled_tx: Option<Hash256>,
    pub settled_at: Option<i64>,
    pub settled_block: Option<i64>,
    /// Of `Skipped` in a transaction of its batch.
    pub skip_reason: Option<String>,
    pub skip_tx: Option<Hash256>,
    pub skipped_at: Option<i64>,
}

/// What became of a voucher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub state: State,
    pub reason: Option<String>,
    pub tx: Option<Hash256>,
    /// When it was settled or skipped.
    pub at: Option<i64>,
}

pub const REPLACED: &str = "the payer settled another voucher with this nonce";
pub const EXPIRED: &str = "it expired before it was settled";
pub const OVERDUE: &str = "the work did not end in time";

/// Whether only the payer can have made the vault skip the voucher for this reason: he spent what he had promised. A voucher that
/// expired did so here.
pub fn is_payers_doing(reason: &str) -> bool {
    matches!(reason, REPLACED | "insufficient balance" | "bad signature")
}

impl VoucherRow {
    pub fn outcome(&self, now_s: i64) -> Outcome {
        if let Some(tx) = self.settled_tx {
            let is_this = self.settled_payee == Some(self.payee)
                && self.settled_amount == Some(self.amount)
                && self.settled_ref == Some(self.reference);
            let (state, reason) =
                if is_this { (State::Settled, None) } else { (State::Skipped, Some(REPLACED.to_owned())) };
            return Outcome { state, reason, tx: Some(tx), at: self.settled_at };
        }
        if let (State::Submitted, Some(tx)) = (self.state, self.skip_tx) {
            return Outcome {
                state: State::Skipped,
                reason: self.skip_reason.clone(),
                tx: Some(tx),
                at: self.skipped_at,
            };
        }
        let (state, reason) = match self.state {
            State::Reserved if self.until_s.is_some_and(|until_s| until_s < now_s) => {
                (State::Voided, Some(OVERDUE.to_owned()))
            }
            State::Queued if self.expiry_s < now_s => (State::Skipped, Some(EXPIRED.to_owned())),
            state => (state, self.reason.clone()),
        };
        Outcome { state, reason, tx: self.tx, at: self.closed_at }
    }

    /// Why a voucher with the nonce of this one is refused, for a client that has lost the answer.
    pub fn seen(&self, now_s: i64) -> String {
        let outcome = self.outcome(now_s);
        let tx = outcome.tx.map_or_else(|| "null".to_owned(), |tx| tx.to_string());
        format!("the nonce is used: its voucher is {}, txHash {tx}", outcome.state.name())
    }
}

/// What a payer has at risk, by his vouchers that are open here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exposure {
    /// What the vault will take from his balance, but had not when the balance was read.
    pub pending: Wei,
    /// Whether he has spent elsewhere what he had promised.
    pub is_broken: bool,
}

impl Exposure {
    /// `block` is that of the balance: what was settled after it is not missing there yet.
    pub fn of(rows: &[VoucherRow], block: i64, now_s: i64) -> Self {
        rows.iter().fold(Self::default(), |sum, row| {
            let outcome = row.outcome(now_s);
            let amount = match (outcome.state, row.settled_amount) {
                (State::Reserved | State::Queued | State::Submitted, _) => row.amount,
                (_, Some(amount)) if row.settled_block.is_some_and(|settled| settled > block) => amount,
                _ => Wei::ZERO,
            };
            let is_broken = outcome.state == State::Skipped && outcome.reason.as_deref().is_some_and(is_payers_doing);
            Self { pending: sum.pending.saturating_add(amount), is_broken: sum.is_broken || is_broken }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TX: Hash256 = Hash256([7; 32]);

    fn row(state: State) -> VoucherRow {
        VoucherRow {
            payer: Address([1; 20]),
            nonce: Wei::ZERO,
            payee: Address([2; 20]),
            amount: Wei::ZERO,
            reference: Hash256([0; 32]),
            expiry_s: 1000,
            resource: String::new(),
            state,
            reason: None,
            until_s: Some(500),
            created_at: 0,
            tx: None,
            closed_at: None,
            settled_payee: None,
            settled_amount: None,
            settled_ref: None,
            settled_tx: None,
            settled_at: None,
            settled_block: None,
            skip_reason: None,
            skip_tx: None,
            skipped_at: None,
        }
    }

    fn settled(row: VoucherRow) -> VoucherRow {
        VoucherRow {
            settled_payee: Some(row.payee),
            settled_amount: Some(row.amount),
            settled_ref: Some(row.reference),
            settled_tx: Some(TX),
            settled_at: Some(9),
            ..row
        }
    }

    #[test]
    fn a_settlement_decides_in_every_state() {
        for state in [State::Reserved, State::Queued, State::Submitted, State::Voided, State::Failed, State::Skipped] {
            let outcome = settled(row(state)).outcome(100);
            assert_eq!(
                outcome,
                Outcome { state: State::Settled, reason: None, tx: Some(TX), at: Some(9) },
                "{state:?}"
            );
        }
    }

    #[test]
    fn a_settlement_of_another_voucher_skips_this_one() {
        let others = [
            VoucherRow { settled_payee: Some(Address([9; 20])), ..settled(row(State::Submitted)) },
            VoucherRow { settled_amount: Some(Wei(alloy_primitives::U256::ONE)), ..settled(row(State::Submitted)) },
            VoucherRow { settled_ref: Some(Hash256([9; 32])), ..settled(row(State::Submitted)) },
        ];
        for other in others {
            let outcome = other.outcome(100);
            assert_eq!((outcome.state, outcome.reason.as_deref()), (State::Skipped, Some(REPLACED)));
            assert!(outcome.reason.as_deref().is_some_and(is_payers_doing));
        }
    }

    #[test]
    fn a_skip_counts_for_a_voucher_in_a_batch() {
        let skipped = |state| VoucherRow { skip_tx: Some(TX), skip_reason: Some("expired".to_owned()), ..row(state) };
        assert_eq!(skipped(State::Submitted).outcome(100).state, State::Skipped);
        assert_eq!(skipped(State::Queued).outcome(100).state, State::Queued, "it is in another batch now");
        assert!(!is_payers_doing("expired"));
    }

    #[test]
    fn time_ends_reservations_and_vouchers() {
        assert_eq!(row(State::Reserved).outcome(500).state, State::Reserved);
        assert_eq!(row(State::Reserved).outcome(501).state, State::Voided);
        assert_eq!(row(State::Queued).outcome(1000).state, State::Queued);
        assert_eq!(row(State::Queued).outcome(1001).state, State::Skipped);
        assert_eq!(row(State::Submitted).outcome(1001).state, State::Submitted, "the vault decides");
    }

    #[test]
    fn what_the_balance_does_not_know_is_pending() {
        let one = |state| VoucherRow { amount: Wei(alloy_primitives::U256::from(10)), ..row(state) };
        let of = |rows: &[VoucherRow]| Exposure::of(rows, 5, 100).pending.to_string();
        let in_block = |block| VoucherRow { settled_block: Some(block), ..settled(one(State::Submitted)) };
        assert_eq!(of(&[one(State::Reserved), one(State::Queued), one(State::Submitted)]), "30");
        assert_eq!((of(&[in_block(5)]), of(&[in_block(6)])), ("0".to_owned(), "10".to_owned()));
        let replaced = VoucherRow { settled_amount: Some(Wei(alloy_primitives::U256::from(7))), ..in_block(6) };
        let exposure = Exposure::of(&[replaced], 5, 100);
        assert_eq!((exposure.pending.to_string().as_str(), exposure.is_broken), ("7", true));
        assert_eq!(Exposure::of(&[one(State::Reserved)], 5, 501), Exposure::default(), "its time is over");
        assert_eq!(Exposure::of(&[one(State::Queued)], 5, 1001), Exposure::default(), "that it expired is our doing");
    }
}
