//! Reads of validations for routes, newest first.

use crate::model::{JobRow, ValidationView};
use plugin_api::{AgentId, HostError, List, Query};

const VALIDATIONS: List = List::new(
    "agents_validations",
    "request_hash, validator, agent_id, coalesce(job_id, (SELECT min(o.job_id) FROM agents_oracle_requests o \
         WHERE o.output_hash = agents_validations.request_hash AND o.agent_id = agents_validations.agent_id)) AS job_id, request_uri, response, response_uri, tag, requested_at, responded_at, \
     tx_request, tx_response",
)
.order_by("block DESC, log_index DESC");

/// Number of an agent's newest validations that its summary covers.
const SUMMARY_COUNT_MAX: u32 = 20;

pub async fn newest(db: &impl Query, agent: AgentId) -> Result<Vec<ValidationView>, HostError> {
    VALIDATIONS.filter("agent_id = {}", Some(agent)).first(SUMMARY_COUNT_MAX).rows(db).await
}

/// The newest validation of the job, else the newest of the agent's delivery.
pub async fn of_job(db: &impl Query, job: &JobRow) -> Result<Option<ValidationView>, HostError> {
    if let Some(validation) = first(db, VALIDATIONS.filter("job_id = {}", Some(job.id))).await? {
        return Ok(Some(validation));
    }
    let Some(output) = job.output_hash else { return Ok(None) };
    let of_output = VALIDATIONS.filter("request_hash = {}", Some(output));
    first(db, of_output.filter("agent_id = {}", Some(job.agent_id))).await
}

async fn first(db: &impl Query, validations: List) -> Result<Option<ValidationView>, HostError> {
    Ok(validations.first(1).rows(db).await?.pop())
}
