//! Reads of validations for routes, newest first.

use super::jobs::JobRow;
use crate::model::{AgentId, ValidationView};
use plugin_api::{HostError, Query, sql};

const COLUMNS: &str = "request_hash, validator, agent_id, job_id, request_uri, response, response_uri, tag, \
     requested_at, responded_at, tx_request, tx_response";

/// Number of an agent's newest validations that its summary covers.
const SUMMARY_COUNT_MAX: u32 = 20;

pub async fn newest(db: &impl Query, agent: AgentId) -> Result<Vec<ValidationView>, HostError> {
    let newest = sql(format!(
        "SELECT {COLUMNS} FROM agents_validations WHERE agent_id = $1 ORDER BY block DESC, log_index DESC LIMIT {SUMMARY_COUNT_MAX}"
    ));
    db.rows(newest.bind(agent)).await
}

/// The newest validation of the job, else the newest of the agent's delivery.
pub async fn of_job(db: &impl Query, job: &JobRow) -> Result<Option<ValidationView>, HostError> {
    let naming = sql(format!(
        "SELECT {COLUMNS} FROM agents_validations WHERE job_id = $1 ORDER BY block DESC, log_index DESC LIMIT 1"
    ));
    if let Some(validation) = db.row(naming.bind(job.id)).await? {
        return Ok(Some(validation));
    }
    let Some(output) = job.output_hash else { return Ok(None) };
    let delivered = sql(format!("SELECT {COLUMNS} FROM agents_validations WHERE request_hash = $1 AND agent_id = $2"));
    db.row(delivered.bind(output).bind(job.agent_id)).await
}
