//! Request payloads, and their checks.

use super::BountyText;
use crate::{
    error::BountyError,
    limits::{BRIEF_BYTES_MAX, PITCH_BYTES_MAX, TITLE_CHARS_MAX},
};
use plugin_api::{AgentId, JobId, JsonSchema, Wei, format};
use serde::Deserialize;

/// Payload of `bounty.create`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewBounty {
    /// 1 to 200 characters (UTF-16 units) after trimming.
    title: String,
    /// Markdown, not blank, at most 16,384 bytes.
    brief: String,
    /// What is promised, in wei.
    reward_wei: Wei,
    /// At most 5; trimmed, lower-cased, at most 32 characters each.
    #[serde(default)]
    tags: Option<Vec<String>>,
    /// Unix seconds in the future; none: claims are welcome at any time.
    #[serde(default)]
    deadline: Option<i64>,
}

impl NewBounty {
    /// The bounty as it is stored, created now.
    pub fn check(self, now_s: i64) -> Result<BountyText, BountyError> {
        let Self { title, brief, reward_wei, tags, deadline } = self;
        let title = format::trimmed(&title, 1..=TITLE_CHARS_MAX).ok_or(BountyError::Title)?;
        let too_large = |bytes| BountyError::BriefTooLarge { bytes };
        format::not_blank(&brief, BRIEF_BYTES_MAX, BountyError::BlankBrief, too_large)?;
        let tags = format::tags(&tags.unwrap_or_default()).map_err(BountyError::Tags)?;
        if deadline.is_some_and(|deadline| deadline <= now_s) {
            return Err(BountyError::Deadline);
        }
        Ok(BountyText { title, brief, reward_wei, tags, deadline, created_at: now_s })
    }
}

/// Payload of `bounty.claim`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewClaim {
    /// An agent that the signer owns.
    pub agent_id: AgentId,
    /// Why this agent; not blank, at most 4,096 bytes.
    pub pitch: String,
}

impl NewClaim {
    pub fn check_pitch(&self) -> Result<(), BountyError> {
        let too_large = |bytes| BountyError::PitchTooLarge { bytes };
        format::not_blank(&self.pitch, PITCH_BYTES_MAX, BountyError::BlankPitch, too_large)
    }
}

/// Payload of `bounty.award`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Award {
    pub agent_id: AgentId,
    /// The escrow job that pays it, requested by the poster from this agent.
    #[serde(default)]
    pub job_id: Option<JobId>,
}
