//! Validations: a request, and the latest response to it.

use super::{agents::outcome, totals};
use crate::{
    chain::{ValidationRequested, ValidationResponded},
    model::JobId,
};
use plugin_api::{ChainEvent, HostError, Sql, Tx, sql};
use serde::Deserialize;

/// A request hash is used once.
pub fn request(event: &ChainEvent<ValidationRequested>) -> Sql {
    let request = &event.args;
    let (block, log_index) = (place(event.block), place(event.log_index));
    sql("INSERT INTO agents_validations (request_hash, validator, agent_id, job_id, request_uri, \
         requested_at, tx_request, block, log_index) VALUES ($1, $2, $3, \
         (SELECT id FROM agents_jobs WHERE id = $4 AND agent_id = $3), $5, $6, $7, $8, $9)")
    .bind(request.request_hash)
    .bind(request.validator_address)
    .bind(request.agent_id)
    .bind(named_job(&request.request_uri))
    .bind(&request.request_uri)
    .bind(event.time_s)
    .bind(event.tx)
    .bind(block)
    .bind(log_index)
}

/// The job in a URI `fmx://job/<id>`.
fn named_job(uri: &str) -> Option<JobId> {
    let number = uri.strip_prefix("fmx://job/")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|id| is_number && *id > 0).map(JobId)
}

fn place(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Stores the response and returns the agent's name. Only the first response to a request is counted.
pub async fn respond(tx: &Tx, event: &ChainEvent<ValidationResponded>) -> Result<Option<String>, HostError> {
    #[derive(Deserialize)]
    struct PreviousResponse {
        is_answered: bool,
    }
    let response = &event.args;
    let previous = sql("SELECT CASE WHEN response IS NULL THEN 0 ELSE 1 END AS is_answered FROM agents_validations \
         WHERE request_hash = $1");
    let update = sql("UPDATE agents_validations SET response = $2, response_uri = $3, tag = $4, responded_at = $5, \
         tx_response = $6 WHERE request_hash = $1")
    .bind(response.request_hash)
    .bind(response.response)
    .bind(&response.response_uri)
    .bind(&response.tag)
    .bind(event.time_s)
    .bind(event.tx);
    let name = sql("SELECT name FROM agents_agents WHERE id = $1").bind(response.agent_id);
    let outcomes = tx.batch(vec![previous.bind(response.request_hash), update, name]).await?;
    if outcome(&outcomes, 0)?.first::<PreviousResponse>()?.is_some_and(|previous| !previous.is_answered) {
        tx.defer(totals::count_validation())?;
    }
    outcome(&outcomes, 2)?.first()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_named_by_its_uri_alone() {
        assert_eq!(named_job("fmx://job/12"), Some(JobId(12)));
        for other in [
            "fmx://job/",
            "fmx://job/0",
            "fmx://job/+1",
            "fmx://job/1x",
            "fmx://bounty/1",
            "",
            "fmx://job/99999999999999999999",
        ] {
            assert_eq!(named_job(other), None, "{other}");
        }
    }
}
