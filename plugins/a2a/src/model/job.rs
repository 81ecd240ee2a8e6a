//! An escrow job as a task.

use super::{RpcError, TaskState};
use plugin_api::{Address, AgentId, Hash256, JobId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// In the order of the contract's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobStatus {
    None,
    Open,
    Delivered,
    Completed,
    Refunded,
    Disputed,
    Resolved,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Job {
    pub job_id: JobId,
    pub agent_id: AgentId,
    pub client: Address,
    pub status: JobStatus,
    /// Of a refunded job: whether the agent cancelled it.
    pub by_agent: Option<bool>,
    pub output_hash: Option<Hash256>,
    pub output_uri: Option<String>,
}

impl Job {
    pub fn task_state(&self) -> TaskState {
        match self.status {
            JobStatus::Delivered | JobStatus::Completed | JobStatus::Resolved => TaskState::Completed,
            JobStatus::Refunded if self.by_agent == Some(true) => TaskState::Canceled,
            JobStatus::Refunded => TaskState::Failed,
            JobStatus::None | JobStatus::Open | JobStatus::Disputed => TaskState::Working,
        }
    }

    /// Members of the task's metadata.
    pub fn metadata(&self) -> Map<String, Value> {
        let metadata = json!({
            "agentId": self.agent_id, "jobId": self.job_id, "jobStatus": self.status as u8, "prefunded": true,
        });
        metadata.as_object().cloned().unwrap_or_default()
    }
}

/// The id of the task that is a job.
pub fn task_id(job: JobId) -> String {
    format!("job-{job}")
}

/// The job of a task id that [`task_id`] made.
pub fn job_of_task(task: &str) -> Option<JobId> {
    let job = task.strip_prefix("job-")?.parse().ok().filter(|id| *id > 0).map(JobId)?;
    (task_id(job) == task).then_some(job)
}

/// `metadata.jobId`: an integer or its digits. The Python SDK has doubles only, and so writes 7 as `7.0`.
pub fn parse_job_id(id: &Value) -> Result<JobId, RpcError> {
    let written = match id.as_f64() {
        Some(double) if id.is_f64() => Value::from(format!("{double}")),
        _ => id.clone(),
    };
    serde_json::from_value(written)
        .map_err(|_invalid| RpcError::invalid_params("params.metadata.jobId: the number of a job is needed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_id_names_its_job() {
        assert_eq!(job_of_task(&task_id(JobId(7))), Some(JobId(7)));
        for other in
            ["", "7", "job-", "job-0", "job--7", "job-07", "job-7x", "Job-7", "task-7", "job-9223372036854775808"]
        {
            assert_eq!(job_of_task(other), None, "{other}");
        }
    }

    #[test]
    fn a_job_id_is_an_integer_or_its_digits() {
        for id in [json!(7), json!("7"), json!(7.0)] {
            assert_eq!(parse_job_id(&id), Ok(JobId(7)));
        }
        let numbers = [json!(0), json!(-1), json!(1.5), json!(-0.0), json!(-7.0), json!(1e300)];
        let others = [json!(""), json!("x"), json!([7]), json!(true), json!({})];
        for other in numbers.into_iter().chain(others) {
            assert!(parse_job_id(&other).is_err_and(|error| error.code == -32602), "{other}");
        }
    }

    #[test]
    fn statuses_have_the_numbers_of_the_contract() {
        let numbers =
            [JobStatus::None, JobStatus::Open, JobStatus::Delivered, JobStatus::Completed, JobStatus::Refunded];
        assert_eq!(numbers.map(|status| status as u8), [0, 1, 2, 3, 4]);
        assert_eq!([JobStatus::Disputed as u8, JobStatus::Resolved as u8], [5, 6]);
    }
}
