//! Sort orders of agents. Ties are broken by the newer agent first.

use plugin_api::JsonSchema;
use serde::Deserialize;

/// An unknown name is `newest`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// Average rating of agents with paid work and ratings; then the others, those with paid work first.
    Rating,
    /// Most jobs that moved FMX, then most clients that paid.
    Jobs,
    /// Most FMX earned, then most clients that paid.
    Earned,
    #[default]
    Newest,
}

impl Sort {
    /// Columns of `agents_agents`, alias `a`. Each order has its index; the newest agent has the highest id.
    pub fn order_by(self) -> &'static str {
        match self {
            Self::Rating => "a.rating_rank DESC, a.payers DESC, a.earned DESC, a.id DESC",
            Self::Jobs => "a.paid_jobs DESC, a.payers DESC, a.earned DESC, a.id DESC",
            Self::Earned => "a.earned DESC, a.payers DESC, a.id DESC",
            Self::Newest => "a.id DESC",
        }
    }
}
