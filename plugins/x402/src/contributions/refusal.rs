//! Why a payment is not accepted.

use crate::model::FundsProblem;
use plugin_api::{Hash256, HostError};

/// Why a payment is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// For the client.
    pub reason: String,
    /// Of the voucher that was seen before.
    pub tx: Option<Hash256>,
    /// Whether a batch helps the payer.
    pub wants_batch: bool,
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self { reason, tx: None, wants_batch: false }
    }
}

impl From<&str> for Refusal {
    fn from(reason: &str) -> Self {
        reason.to_owned().into()
    }
}

impl From<FundsProblem> for Refusal {
    fn from(problem: FundsProblem) -> Self {
        match problem {
            FundsProblem::NotCovered(reason) => reason.into(),
            FundsProblem::CreditUsedUp(reason) => Self { reason, tx: None, wants_batch: true },
        }
    }
}

/// Why no payment came of it.
#[derive(Debug)]
pub enum Stop {
    Refused(Refusal),
    /// Nothing can be paid now.
    Disabled(String),
    Host(HostError),
}

impl From<HostError> for Stop {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<String> for Stop {
    fn from(reason: String) -> Self {
        Self::Refused(reason.into())
    }
}

impl From<&str> for Stop {
    fn from(reason: &str) -> Self {
        Self::Refused(reason.into())
    }
}

impl From<FundsProblem> for Stop {
    fn from(problem: FundsProblem) -> Self {
        Self::Refused(problem.into())
    }
}
