//! The payment of a signed write: charged in its transaction, by the payment service.

use parking_lot::Mutex;
use plugin_api::payment::{CheckedPayment, Price};

/// What came with the request, and what became of it in the last attempt of its write.
pub struct RequestCharge {
    /// The URL that is paid for.
    pub resource: String,
    /// `None` when no payment came.
    pub checked: Option<CheckedPayment>,
    outcome: Mutex<ChargeOutcome>,
}

#[derive(Clone, Debug, Default)]
pub enum ChargeOutcome {
    /// The write has not asked for it.
    #[default]
    NotCharged,
    /// What the client is told, when the write is committed: a JSON text.
    Charged(String),
    /// It does not suffice for this price, for this reason; none when no payment came.
    Refused(Price, Option<String>),
    /// Nothing can be paid now, for this reason.
    Disabled(String),
}

impl RequestCharge {
    pub fn new(resource: String, checked: Option<CheckedPayment>) -> Self {
        Self { resource, checked, outcome: Mutex::default() }
    }

    pub fn outcome(&self) -> ChargeOutcome {
        self.outcome.lock().clone()
    }

    /// Whether it could not be charged: then the write is not committed.
    pub fn is_refused(&self) -> bool {
        matches!(*self.outcome.lock(), ChargeOutcome::Refused(..) | ChargeOutcome::Disabled(_))
    }

    pub(crate) fn set(&self, outcome: ChargeOutcome) {
        *self.outcome.lock() = outcome;
    }
}
