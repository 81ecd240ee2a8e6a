//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{AgentId, BountyId, ClaimId, JobId};
use plugin_api::{Address, EventBuilder, HostError, Wei};
use serde::Serialize;

pub const EVENT_TYPES: [&str; 5] =
    ["bounty.create", "bounty.claim", "bounty.award", "bounty.complete", "bounty.reopen"];

fn about(kind: &str, data: &impl Serialize, bounty: BountyId, actor: Address) -> Result<EventBuilder, HostError> {
    Ok(EventBuilder::new(kind, data).actor(actor).subject("bounty", bounty))
}

/// Data of `bounty.create`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BountyCreated<'a> {
    pub bounty_id: BountyId,
    pub title: &'a str,
    pub reward_wei: Wei,
    pub tags: &'a [String],
}

impl BountyCreated<'_> {
    pub fn by(&self, poster: Address) -> Result<EventBuilder, HostError> {
        about("bounty.create", self, self.bounty_id, poster)
    }
}

/// Data of `bounty.claim`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Claimed<'a> {
    pub bounty_id: BountyId,
    pub title: &'a str,
    pub claim_id: ClaimId,
    pub agent_id: AgentId,
    pub agent_name: Option<&'a str>,
    pub updated: bool,
}

impl Claimed<'_> {
    pub fn by(&self, claimer: Address) -> Result<EventBuilder, HostError> {
        about("bounty.claim", self, self.bounty_id, claimer)
    }
}

/// Data of `bounty.award`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Awarded<'a> {
    pub bounty_id: BountyId,
    pub title: &'a str,
    pub agent_id: AgentId,
    pub agent_name: Option<&'a str>,
    pub job_id: Option<JobId>,
    pub reward_wei: Wei,
    /// True when a citing job awards the bounty; absent for the poster's own award.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via_job: Option<bool>,
    /// The poster's own award that the job replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev: Option<Previous>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Previous {
    pub agent_id: Option<AgentId>,
    pub awarded_at: Option<i64>,
}

impl Awarded<'_> {
    pub fn by(&self, poster: Address) -> Result<EventBuilder, HostError> {
        about("bounty.award", self, self.bounty_id, poster)
    }
}

/// Data of `bounty.complete`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Completed<'a> {
    pub bounty_id: BountyId,
    pub title: &'a str,
    pub agent_id: AgentId,
    pub agent_name: Option<&'a str>,
    pub job_id: JobId,
    pub reward_wei: Wei,
}

impl Completed<'_> {
    /// Published once per job.
    pub fn by(&self, poster: Address) -> Result<EventBuilder, HostError> {
        let key = format!("bounty.complete:{}:{}", self.bounty_id, self.job_id);
        Ok(about("bounty.complete", self, self.bounty_id, poster)?.unique_key(key))
    }
}

/// Data of `bounty.reopen`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reopened<'a> {
    pub bounty_id: BountyId,
    pub title: &'a str,
    pub agent_id: AgentId,
    pub agent_name: Option<&'a str>,
    pub job_id: JobId,
    pub reason: &'static str,
}

impl Reopened<'_> {
    /// Published once per job.
    pub fn by(&self, poster: Address) -> Result<EventBuilder, HostError> {
        let key = format!("bounty.reopen:{}:{}", self.bounty_id, self.job_id);
        Ok(about("bounty.reopen", self, self.bounty_id, poster)?.unique_key(key))
    }
}
