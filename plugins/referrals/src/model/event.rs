//! Events of the activity log. Clients depend on these members: wire names, public data only.

use plugin_api::{Address, AgentId, Event, Hash256, JobId, Wei};
use serde::Serialize;

/// The owner of a new agent said who brought it.
#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("referral.claim", subject = "agent", id = new_agent_id)]
pub struct ReferralClaimed<'a> {
    pub new_agent_id: AgentId,
    pub new_agent_name: &'a str,
    pub ref_agent_id: AgentId,
    pub ref_agent_name: &'a str,
    pub reward_wei: Wei,
}

/// Both owners were paid, by transactions that are final. It has no actor.
#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("referral.paid", subject = "agent", id = new_agent_id, unique_key(new_agent_id))]
pub struct ReferralPaid {
    pub new_agent_id: AgentId,
    pub ref_agent_id: AgentId,
    pub new_owner: Address,
    pub ref_owner: Address,
    pub reward_wei: Wei,
    pub job_id: JobId,
    pub tx_new: Hash256,
    pub tx_ref: Hash256,
}
