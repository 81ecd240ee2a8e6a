//! Response types of a validation: a request to judge work, and the validator's response.

use plugin_api::{Address, AgentId, Hash256, JobId, JsonSchema};
use serde::{Deserialize, Serialize};

/// A request to a validator, with the answer once there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all(serialize = "camelCase"))]
#[schemars(rename_all = "camelCase")]
pub struct ValidationView {
    pub request_hash: Hash256,
    pub validator: Address,
    pub agent_id: AgentId,
    /// The job that the request names, if it names one of this agent, or for which the gateway's oracle made it.
    pub job_id: Option<JobId>,
    #[serde(rename(serialize = "requestURI"))]
    #[schemars(rename = "requestURI")]
    pub request_uri: String,
    /// 0 to 100; null until there is an answer. The latest, if there were several.
    pub response: Option<u8>,
    #[serde(rename(serialize = "responseURI"))]
    #[schemars(rename = "responseURI")]
    pub response_uri: Option<String>,
    pub tag: Option<String>,
    /// Unix seconds.
    pub requested_at: i64,
    /// Unix seconds.
    pub responded_at: Option<i64>,
    pub tx_request: Hash256,
    pub tx_response: Option<Hash256>,
}

/// What the newest validations of an agent amount to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationSummary {
    /// Answered ones among the 20 newest.
    pub count: u32,
    /// Their mean, rounded.
    pub avg_response: Option<u8>,
    /// The newest request, answered or not.
    pub latest: Option<ValidationView>,
}

impl ValidationSummary {
    /// Summarises the newest validations, newest first.
    pub fn of(newest: Vec<ValidationView>) -> Self {
        let responses = newest.iter().filter_map(|validation| validation.response);
        let (count, sum) =
            responses.fold((0u32, 0u32), |(count, sum), response| (count + 1, sum + u32::from(response)));
        let mean = (count > 0).then(|| (2 * sum + count) / (2 * count));
        let avg_response = mean.and_then(|mean| u8::try_from(mean).ok());
        Self { count, avg_response, latest: newest.into_iter().next() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(response: Option<u8>) -> ValidationView {
        ValidationView {
            request_hash: Hash256([0; 32]),
            validator: Address::ZERO,
            agent_id: AgentId(1),
            job_id: None,
            request_uri: String::new(),
            response,
            response_uri: None,
            tag: None,
            requested_at: 0,
            responded_at: None,
            tx_request: Hash256([0; 32]),
            tx_response: None,
        }
    }

    #[test]
    fn a_summary_counts_answers_and_rounds_their_mean() {
        let of = |responses: &[Option<u8>]| {
            let summary = ValidationSummary::of(responses.iter().copied().map(answered).collect());
            (summary.count, summary.avg_response, summary.latest.map(|latest| latest.response))
        };
        assert_eq!(of(&[]), (0, None, None));
        assert_eq!(of(&[None]), (0, None, Some(None)));
        assert_eq!(of(&[None, Some(80), Some(91)]), (2, Some(86), Some(None)));
        assert_eq!(of(&[Some(0), Some(0), Some(1)]), (3, Some(0), Some(Some(0))));
        assert_eq!(of(&[Some(100); 20]), (20, Some(100), Some(Some(100))));
    }
}
