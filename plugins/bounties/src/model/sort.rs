//! Sort orders of bounties. Ties are broken by the newer bounty first.

use plugin_api::JsonSchema;
use serde::Deserialize;

/// An unknown name is `new`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// Posted last.
    #[default]
    New,
    /// The highest reward.
    Reward,
    /// The next deadline; those without one at the end.
    Deadline,
    /// Where something happened last.
    Active,
}

impl Sort {
    /// Columns of a bounty with its state.
    pub fn order_by(self) -> &'static str {
        match self {
            Self::New => "created_at DESC, id DESC",
            Self::Reward => "reward DESC, id DESC",
            Self::Deadline => "deadline_order, id DESC",
            Self::Active => "active_at DESC, id DESC",
        }
    }

    /// Whether the order uses stored columns only.
    pub fn is_stored(self) -> bool {
        self != Self::Active
    }
}
