//! Validations: a request, and the latest response to it.

use super::{records, totals};
use crate::chain::{ValidationRequest, ValidationResponse};
use plugin_api::{AgentId, HostError, JobId, Sql, Tx, contracts::ChainEvent, sql};

/// A request hash is used once.
pub fn request(event: &ChainEvent<ValidationRequest>) -> Sql {
    let request = &event.args;
    sql("INSERT INTO agents_validations (request_hash, validator, agent_id, job_id, request_uri, \
         requested_at, tx_request, block, log_index) VALUES ($1, $2, $3, \
         (SELECT id FROM agents_jobs WHERE id = $4 AND agent_id = $3), $5, $6, $7, $8, $9)")
    .bind((request.request_hash, request.validator_address, request.agent_id, named_job(&request.request_uri)))
    .bind((&request.request_uri, event.time_s, event.tx, event.block, event.log_index))
}

/// The job in a URI `fmx://job/<id>`.
fn named_job(uri: &str) -> Option<JobId> {
    let number = uri.strip_prefix("fmx://job/")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|id| is_number && *id > 0).map(JobId)
}

/// Stores the response and returns the agent's name. Only the first response to a request is counted.
pub async fn respond(tx: &Tx, event: &ChainEvent<ValidationResponse>) -> Result<Option<String>, HostError> {
    let response = &event.args;
    let before =
        sql("SELECT agent_id, response FROM agents_validations WHERE request_hash = $1").bind(response.request_hash);
    let update = sql("UPDATE agents_validations SET response = $2, response_uri = $3, tag = $4, responded_at = $5, \
         tx_response = $6 WHERE request_hash = $1")
    .bind((response.request_hash, response.response, &response.response_uri, &response.tag, event.time_s))
    .bind(event.tx);
    let name = sql("SELECT name FROM agents_agents WHERE id = $1").bind(response.agent_id);
    let [before, _, name] = tx.run_all([before, update, name]).await?;
    if let Some((agent, before)) = before.first::<(AgentId, Option<u8>)>()? {
        tx.defer(records::add_response(agent, before, response.response))?;
        if before.is_none() {
            tx.defer(totals::count_validation())?;
        }
    }
    name.first()
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
