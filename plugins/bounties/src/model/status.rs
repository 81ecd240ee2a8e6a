//! The status of a bounty.

use crate::error::BountyError;
use plugin_api::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nobody is awarded, or the escrow job was refunded.
    Open,
    /// The poster awarded an agent, or hired one for it.
    Awarded,
    /// The escrow job is completed.
    Completed,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Awarded => "awarded",
            Self::Completed => "completed",
        }
    }
}

/// Query member `status` of a list: empty filters nothing, any other word than a status is refused.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct StatusFilter(String);

impl StatusFilter {
    pub fn status(&self) -> Result<Option<Status>, BountyError> {
        let statuses = [Status::Open, Status::Awarded, Status::Completed];
        match self.0.as_str() {
            "" => Ok(None),
            text => {
                let named = statuses.into_iter().find(|status| status.as_str() == text);
                named.map(Some).ok_or(BountyError::StatusFilter)
            }
        }
    }
}
