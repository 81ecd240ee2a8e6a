//! What is signed, and a claim on its way to its payout.

use plugin_api::{Address, AgentId, Hash256, JobId, JsonSchema, Wei, handles::Bind};
use serde::{Deserialize, Serialize};

/// The claim of a new agent's owner.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewReferral {
    /// An agent of the signer.
    pub new_agent_id: AgentId,
    /// The agent that brought it.
    #[serde(rename = "ref")]
    pub referrer: AgentId,
}

/// What an operator releases.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// The agent of the referral.
    pub new_agent_id: AgentId,
    /// With it the transfer to this side, which failed for good, is sent again. Without it the payout is released from the daily limit.
    #[serde(default)]
    pub side: Option<Side>,
}

/// Who of the two is paid: the owner of the new agent, or that of the referrer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Bind)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    New,
    Ref,
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::New, Self::Ref];

    /// The member of the view that has its owner.
    pub fn member(self) -> &'static str {
        match self {
            Self::New => "newOwner",
            Self::Ref => "refOwner",
        }
    }
}

/// A claim that is stored.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    pub new_agent: AgentId,
    pub ref_agent: AgentId,
    pub new_owner: Address,
    pub ref_owner: Address,
    pub reward: Wei,
}

/// An open claim with the job that makes it eligible.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Eligible {
    pub new_agent: AgentId,
    pub ref_agent: AgentId,
    pub new_owner: Address,
    pub ref_owner: Address,
    pub reward: Wei,
    pub job_id: JobId,
    /// Of the completion: its block, time and transaction.
    pub block: i64,
    pub eligible_at: i64,
    pub tx: Hash256,
    /// When an operator released it.
    pub released_at: Option<i64>,
}

impl Eligible {
    /// Whether it may have been paid since the backup from which the database was restored at this time.
    pub fn may_be_paid(&self, restored_s: i64) -> bool {
        self.eligible_at <= restored_s && self.released_at.is_none_or(|released_at| released_at <= restored_s)
    }

    pub fn owner(&self, side: Side) -> Address {
        match side {
            Side::New => self.new_owner,
            Side::Ref => self.ref_owner,
        }
    }
}
