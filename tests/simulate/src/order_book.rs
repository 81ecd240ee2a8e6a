//! What clients have ordered and paid for, and what they were told: the model that orders and vouchers of the database are compared with.

use crate::ledger::Outcome;
use std::collections::BTreeMap;

/// A voucher that was sent with orders, and what its payer knows of it.
#[derive(Clone, Debug)]
pub struct PaidOrder {
    /// Of the orders that it was sent with: one of them may be done.
    pub texts: Vec<String>,
    pub payer: String,
    pub nonce: String,
    /// Acknowledged: one order is done and charged. Refused: nothing is charged.
    pub outcome: Outcome,
}

/// An order that is done, as the database has it.
#[derive(Clone, Debug)]
pub struct StoredOrder {
    pub text: String,
    pub payer: String,
    pub nonce: String,
    /// Whether its own transaction has charged.
    pub is_signed: bool,
}

/// A voucher, as the database has it.
#[derive(Clone, Debug)]
pub struct StoredVoucher {
    pub payer: String,
    pub nonce: String,
    pub state: String,
}

impl StoredVoucher {
    fn is_charged(&self) -> bool {
        is_charged(&self.state)
    }

    pub fn is_reserved(&self) -> bool {
        self.state == "reserved"
    }
}

/// Whether the work of a voucher in this state was done and is paid for.
pub fn is_charged(state: &str) -> bool {
    matches!(state, "queued" | "submitted" | "settled")
}

#[derive(Default)]
pub struct OrderBook {
    pub orders: Vec<PaidOrder>,
}

type Key<'a> = (&'a str, &'a str);

impl OrderBook {
    pub fn acknowledged_count(&self) -> usize {
        self.orders.iter().filter(|order| order.outcome == Outcome::Acknowledged).count()
    }

    /// An order that is done is charged once, one that failed or was never done is not, and no voucher buys two. Work that is paid before
    /// it is done may be done without being charged: when nobody was told that it is done, because its gateway was killed.
    pub fn check(&self, done: &[StoredOrder], vouchers: &[StoredVoucher]) -> Vec<String> {
        let mut orders: BTreeMap<Key<'_>, Vec<&StoredOrder>> = BTreeMap::new();
        for order in done {
            orders.entry((&order.payer, &order.nonce)).or_default().push(order);
        }
        let vouchers: BTreeMap<Key<'_>, &StoredVoucher> =
            vouchers.iter().map(|voucher| ((&*voucher.payer, &*voucher.nonce), voucher)).collect();
        let mut found: Vec<String> =
            orders.iter().flat_map(|(key, orders)| self.check_done(orders, vouchers.get(key).copied())).collect();
        for paid in &self.orders {
            let key = (&*paid.payer, &*paid.nonce);
            let is_done = orders.contains_key(&key);
            let voucher = vouchers.get(&key);
            let is_charged = voucher.is_some_and(|voucher| voucher.is_charged());
            let what = match paid.outcome {
                _ if voucher.is_some_and(|voucher| voucher.is_reserved()) => "is still reserved",
                Outcome::Refused if is_charged => "was not to be charged, and is",
                _ if is_charged && !is_done => "is charged, and nothing was done for it",
                Outcome::Acknowledged if !is_done => "was acknowledged, and its order is lost",
                Outcome::Acknowledged if !is_charged => "was acknowledged, and is not charged",
                _ => continue,
            };
            let state = voucher.map(|voucher| &voucher.state);
            let PaidOrder { texts, payer, nonce, .. } = paid;
            found.push(format!("the voucher {nonce} of {payer} for {texts:?} {what}: it is {state:?}"));
        }
        found
    }

    /// `orders` are those that were done for one voucher.
    fn check_done(&self, orders: &[&StoredOrder], voucher: Option<&StoredVoucher>) -> Option<String> {
        let StoredOrder { text, payer, nonce, is_signed } = orders.first()?;
        let paid = self.orders.iter().find(|paid| paid.payer == *payer && paid.nonce == *nonce);
        let Some(paid) = paid.filter(|paid| paid.texts.contains(text)) else {
            return Some(format!("nobody sent the voucher {nonce} of {payer} with {text:?}, which was done for it"));
        };
        if orders.len() > 1 {
            return Some(format!("{} orders were done for the voucher {nonce} of {payer}", orders.len()));
        }
        let state = voucher.map(|voucher| &*voucher.state);
        let is_voided = state == Some("voided") && !is_signed && paid.outcome != Outcome::Acknowledged;
        let is_fine = voucher.is_some_and(StoredVoucher::is_charged) || is_voided;
        // One that is still reserved is found by its voucher.
        let is_open = voucher.is_some_and(StoredVoucher::is_reserved);
        (!is_fine && !is_open)
            .then(|| format!("{text:?} was done and is not charged: its voucher {nonce} is {state:?}"))
    }
}
