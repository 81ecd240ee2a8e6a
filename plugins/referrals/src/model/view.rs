//! A referral as answers show it.

use plugin_api::{AgentId, Author, Hash256, JobId, JsonSchema, Wei};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReferralStatus {
    /// The new agent has done no job that counts.
    Registered,
    /// It has, and the rewards are not paid yet.
    Pending,
    Paid,
}

/// Its row and its JSON.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all(serialize = "camelCase"))]
#[schemars(rename_all = "camelCase")]
pub struct ReferralView {
    pub new_agent_id: AgentId,
    pub new_agent_name: Option<String>,
    pub ref_agent_id: AgentId,
    pub ref_agent_name: Option<String>,
    /// Who is paid: the owners when the referral was claimed.
    pub new_owner: Author,
    pub ref_owner: Author,
    /// When it was claimed, in unix seconds.
    pub ts: i64,
    pub status: ReferralStatus,
    /// When the job was completed, in unix seconds.
    pub eligible_at: Option<i64>,
    /// The first job that counts.
    pub job_id: Option<JobId>,
    /// When both transfers were final, in unix seconds.
    pub paid_at: Option<i64>,
    /// The transfer to `newOwner`.
    pub tx_new: Option<Hash256>,
    /// The transfer to `refOwner`.
    pub tx_ref: Option<Hash256>,
    /// For each of the two.
    pub reward_wei: Wei,
    /// Why it is not paid although it could be.
    pub reason: Option<String>,
}
