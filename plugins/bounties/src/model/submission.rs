//! Request payloads, and their checked forms.

use super::{AgentId, JobId};
use crate::error::BountyError;
use plugin_api::{JsonSchema, Wei, format};
use serde::Deserialize;

pub const TITLE_CHARS_MAX: usize = 200;
pub const BRIEF_BYTES_MAX: usize = 16_384;
pub const PITCH_BYTES_MAX: usize = 4_096;

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

/// A checked bounty.
#[derive(Debug, PartialEq, Eq)]
pub struct BountyDraft {
    pub title: String,
    pub brief: String,
    pub reward: Wei,
    pub tags: Vec<String>,
    pub deadline: Option<i64>,
}

impl NewBounty {
    pub fn check(self, now_s: i64) -> Result<BountyDraft, BountyError> {
        let Self { title, brief, reward_wei, tags, deadline } = self;
        let title = title.trim();
        if !(1..=TITLE_CHARS_MAX).contains(&format::utf16_len(title)) {
            return Err(BountyError::Title);
        }
        if brief.trim().is_empty() {
            return Err(BountyError::BlankBrief);
        }
        if brief.len() > BRIEF_BYTES_MAX {
            return Err(BountyError::BriefTooLarge { bytes: brief.len() });
        }
        let tags = format::tags(&tags.unwrap_or_default()).map_err(BountyError::Tags)?;
        if deadline.is_some_and(|deadline| deadline <= now_s) {
            return Err(BountyError::Deadline);
        }
        Ok(BountyDraft { title: title.to_owned(), brief, reward: reward_wei, tags, deadline })
    }
}

/// Payload of `bounty.claim`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewClaim {
    /// An agent that the signer owns.
    agent_id: AgentId,
    /// Why this agent; not blank, at most 4,096 bytes.
    pitch: String,
}

#[derive(Debug)]
pub struct ClaimDraft {
    pub agent: AgentId,
    pub pitch: Result<String, BountyError>,
}

impl NewClaim {
    /// Does not check the pitch: its errors are reported after those of the bounty and the agent.
    pub fn check(self) -> ClaimDraft {
        let Self { agent_id, pitch } = self;
        let pitch = match pitch.len() {
            _ if pitch.trim().is_empty() => Err(BountyError::BlankPitch),
            bytes if bytes > PITCH_BYTES_MAX => Err(BountyError::PitchTooLarge { bytes }),
            _ => Ok(pitch),
        };
        ClaimDraft { agent: agent_id, pitch }
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(payload: Value) -> Result<BountyDraft, BountyError> {
        serde_json::from_value::<NewBounty>(payload).unwrap().check(100)
    }

    #[test]
    fn title_and_tags_are_normalised_and_the_brief_is_not() {
        let draft = check(json!({ "title": " T ", "brief": " b\n", "rewardWei": "007", "tags": [" A", "a"] })).unwrap();
        assert_eq!((draft.title.as_str(), draft.brief.as_str()), ("T", " b\n"));
        assert_eq!((draft.reward.to_string().as_str(), draft.tags.len(), draft.deadline), ("7", 1, None));
    }

    #[test]
    fn a_deadline_lies_ahead() {
        let deadline =
            |deadline: Value| check(json!({ "title": "t", "brief": "b", "rewardWei": 1, "deadline": deadline }));
        assert_eq!(deadline(json!(101)).unwrap().deadline, Some(101));
        assert_eq!(deadline(json!(null)).unwrap().deadline, None);
        for past in [100, 0, -5] {
            assert_eq!(deadline(json!(past)), Err(BountyError::Deadline), "{past}");
        }
    }

    #[test]
    fn a_reward_is_an_amount_and_must_be_there() {
        for reward in [json!("0"), json!(9_007_199_254_740_991_i64), json!("1".repeat(77))] {
            assert!(check(json!({ "title": "t", "brief": "b", "rewardWei": reward })).is_ok());
        }
        for payload in [
            json!({ "title": "t", "brief": "b" }),
            json!({ "title": "t", "brief": "b", "rewardWei": null }),
            json!({ "title": "t", "brief": "b", "rewardWei": -1 }),
            json!({ "title": "t", "brief": "b", "rewardWei": 1.5 }),
            json!({ "title": "t", "brief": "b", "rewardWei": "1e18" }),
            json!({ "title": "t", "brief": "b", "rewardWei": "9".repeat(78) }),
        ] {
            assert!(serde_json::from_value::<NewBounty>(payload.clone()).is_err(), "{payload}");
        }
    }

    #[test]
    fn a_pitch_has_at_most_4096_bytes() {
        let pitch = |pitch: String| {
            serde_json::from_value::<NewClaim>(json!({ "agentId": 1, "pitch": pitch })).unwrap().check().pitch
        };
        assert!(pitch("é".repeat(2_048)).is_ok());
        assert_eq!(pitch("é".repeat(2_048) + "a"), Err(BountyError::PitchTooLarge { bytes: 4_097 }));
        assert_eq!(pitch(" \n".to_owned()), Err(BountyError::BlankPitch));
    }
}
