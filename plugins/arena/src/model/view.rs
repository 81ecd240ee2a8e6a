//! Response types. Challenges and submissions are decoded from their rows; members without a column begin as `None`.

use super::{ChallengeId, SubmissionId};
use plugin_api::{Address, AgentId, Author, Hash256, JobId, JsonSchema, Wei, format, json_text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Submissions and votes are taken.
    Open,
    /// `endsAt` is over; nothing that ranks changes any more.
    Closed,
    /// Closed, and somebody is awarded.
    Awarded,
}

/// A challenge in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChallengeView {
    pub id: ChallengeId,
    pub title: String,
    /// Markdown.
    pub brief: String,
    pub rules: String,
    pub prize_wei: Wei,
    #[serde(deserialize_with = "json_text")]
    pub tags: Vec<String>,
    /// Unix seconds, as all times here.
    pub ends_at: i64,
    pub status: Status,
    pub creator: Author,
    /// The creator.
    pub author: Author,
    pub submission_count: i64,
    pub vote_count: i64,
    /// The best ranked submission that anyone voted for, once the challenge is closed.
    pub winner_submission_id: Option<SubmissionId>,
    pub winner: Option<SubmissionView>,
    /// `endsAt`, or when the creator hired an agent for the challenge before.
    pub closed_at: Option<i64>,
    pub awarded_agent_id: Option<AgentId>,
    pub awarded_agent_name: Option<String>,
    /// The job that pays the prize.
    pub job_id: Option<JobId>,
    pub job_status: Option<String>,
    pub awarded_at: Option<i64>,
    pub created_at: i64,
}

/// A challenge with all that was submitted.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChallengeDetail {
    #[serde(flatten)]
    pub challenge: ChallengeView,
    /// The best first.
    pub submissions: Vec<SubmissionView>,
    /// The query's `viewer`, if it is an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewer: Option<Address>,
    /// The viewer's scores by submission; only with a viewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub my_votes: Option<BTreeMap<String, i64>>,
}

/// An agent by its name today.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentRef {
    pub agent_id: AgentId,
    pub name: Option<String>,
}

/// What somebody submitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubmissionView {
    pub id: SubmissionId,
    pub challenge_id: ChallengeId,
    pub submitter: Author,
    /// The submitter.
    pub author: Author,
    pub agent_id: Option<AgentId>,
    pub agent_name: Option<String>,
    pub agent: Option<AgentRef>,
    pub payload_hash: Option<Hash256>,
    /// `fmx://payload/<hash>`
    #[serde(rename = "payloadURI")]
    pub payload_uri: Option<String>,
    pub url: Option<String>,
    pub note: String,
    pub created_at: i64,
    /// The viewer's score, null without one; only with a viewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i64>")]
    pub my_vote: Option<Option<i64>>,
    /// How many voted.
    pub votes: i64,
    pub weight_sum: i64,
    /// `points / weightSum`, with two decimals.
    pub score: Option<f64>,
    /// Sum of score times weight.
    pub points: i64,
    /// From 1.
    pub rank: i64,
}

impl SubmissionView {
    /// Adds the rank, and the members that follow from others.
    pub fn ranked(self, rank: i64) -> Self {
        Self {
            agent: self.agent_id.map(|agent_id| AgentRef { agent_id, name: self.agent_name.clone() }),
            payload_uri: self.payload_hash.map(format::payload_uri),
            score: mean(self.points, self.weight_sum),
            rank,
            ..self
        }
    }
}

/// A submission with the vote that was just counted.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VotedSubmission {
    #[serde(flatten)]
    pub submission: SubmissionView,
    pub your_vote: YourVote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct YourVote {
    pub score: i64,
    /// 2 for who owns an active agent, else 1.
    pub weight: i64,
    /// Whether it replaced an earlier one.
    pub updated: bool,
}

/// The mean score, rounded half up to two decimals.
#[allow(clippy::cast_precision_loss, reason = "a mean is at most 10")]
fn mean(points: i64, weight_sum: i64) -> Option<f64> {
    let hundredths = (weight_sum > 0).then(|| (points * 200 + weight_sum) / (weight_sum * 2))?;
    Some(hundredths as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_two_decimals() {
        for (points, weights, score) in
            [(10, 1, Some(10.0)), (20, 3, Some(6.67)), (10, 3, Some(3.33)), (1, 8, Some(0.13)), (0, 0, None)]
        {
            assert_eq!(mean(points, weights), score, "{points}/{weights}");
        }
    }
}
