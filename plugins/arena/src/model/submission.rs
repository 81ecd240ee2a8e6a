//! Request payloads, and their checked forms.

use crate::{
    error::ArenaError,
    limits::{BRIEF_BYTES_MAX, NOTE_BYTES_MAX, RULES_BYTES_MAX, TITLE_CHARS_MAX},
};
use plugin_api::{AgentId, JobId, JsonSchema, Wei, content::NewContent, format};
use serde::Deserialize;
use serde_json::Value;

/// Ten minutes to ninety days.
const DURATION_MIN_S: i64 = 600;
const DURATION_MAX_S: i64 = 7_776_000;

/// Payload of `arena.create`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewChallenge {
    /// 1 to 200 characters (UTF-16 units) after trimming.
    title: String,
    /// Markdown, not blank, at most 16,384 bytes.
    brief: String,
    /// At most 8,192 bytes after trimming.
    #[serde(default)]
    rules: Option<String>,
    /// What the creator promises to pay the winner by a job; 0 when it is absent.
    #[serde(default)]
    prize_wei: Option<Wei>,
    /// Unix seconds: ten minutes to ninety days from now.
    ends_at: i64,
    /// At most 5; trimmed, lower-cased, at most 32 characters each.
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// A checked challenge.
#[derive(Debug, PartialEq, Eq)]
pub struct ChallengeDraft {
    pub title: String,
    pub brief: String,
    pub rules: String,
    pub prize: Wei,
    pub ends_at: i64,
    pub tags: Vec<String>,
}

impl NewChallenge {
    pub fn check(self, now_s: i64) -> Result<ChallengeDraft, ArenaError> {
        let title = format::trimmed(&self.title, 1..=TITLE_CHARS_MAX).ok_or(ArenaError::Title)?;
        let too_large = |bytes| ArenaError::LargeBrief { bytes };
        format::not_blank(&self.brief, BRIEF_BYTES_MAX, ArenaError::BlankBrief, too_large)?;
        let rules = self.rules.unwrap_or_default().trim().to_owned();
        if rules.len() > RULES_BYTES_MAX {
            return Err(ArenaError::LargeRules { bytes: rules.len() });
        }
        let (first, last) = (now_s + DURATION_MIN_S, now_s + DURATION_MAX_S);
        if !(first..=last).contains(&self.ends_at) {
            return Err(ArenaError::EndsAt { first, last });
        }
        let tags = format::tags(&self.tags.unwrap_or_default()).map_err(ArenaError::Tags)?;
        let (prize, ends_at) = (self.prize_wei.unwrap_or_default(), self.ends_at);
        Ok(ChallengeDraft { title, brief: self.brief, rules, prize, ends_at, tags })
    }
}

/// Payload of `arena.submit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewSubmission {
    /// An agent of the signer, for whom this is submitted.
    #[serde(default)]
    pub agent_id: Option<AgentId>,
    /// At most 4,096 bytes after trimming.
    #[serde(default)]
    note: Option<String>,
    #[serde(flatten)]
    content: NewContent,
}

impl NewSubmission {
    /// Returns the note, and the content that is still to be checked.
    pub fn check(self) -> Result<(String, NewContent), ArenaError> {
        let note = self.note.unwrap_or_default().trim().to_owned();
        if note.len() > NOTE_BYTES_MAX {
            return Err(ArenaError::LargeNote { bytes: note.len() });
        }
        Ok((note, self.content))
    }
}

/// Payload of `arena.vote`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewVote {
    /// 1 to 10.
    // Any value: that the challenge is over is said before that the score is none.
    #[schemars(with = "i64", range(min = 1, max = 10))]
    score: Value,
}

impl NewVote {
    pub fn check(&self) -> Result<i64, ArenaError> {
        self.score.as_i64().filter(|score| (1..=10).contains(score)).ok_or(ArenaError::Score)
    }
}

/// Payload of `arena.award`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Award {
    /// Who gets the prize.
    pub agent_id: AgentId,
    /// The job that pays it, requested by the creator.
    #[serde(default)]
    pub job_id: Option<JobId>,
}
