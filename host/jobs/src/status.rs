//! What `/api/status` says of jobs. The rule: a job is well when it runs at its time and its last run did its work, not
//! when its plugin serves. What a run failed of is for the operator, not for everybody.

use super::JobStatus;
use gateway_storage::StorageError;
use plugin_api::point::ServiceStatus;
use serde_json::{Map, Value, json};

/// A job that is due for longer than this and is run by nobody does not get its turn.
const OVERDUE_MS: i64 = 60_000;

/// The service `jobs`; `is_serving` says whether a plugin serves, because only then its jobs run.
pub fn service(
    known: Result<Vec<JobStatus>, StorageError>,
    is_serving: impl Fn(&str) -> bool,
    now_ms: i64,
) -> ServiceStatus {
    let Ok(known) = known else {
        let detail = Some("their records cannot be read".to_owned());
        return ServiceStatus { ok: false, enabled: None, detail, numbers: Map::new() };
    };
    let jobs: Vec<JobStatus> = known.into_iter().filter(|job| is_serving(&job.plugin)).collect();
    let (failing, overdue) = (named(&jobs, has_failed), named(&jobs, |job| is_overdue(job, now_ms)));
    let running = jobs.iter().filter(|job| job.holder.is_some()).count();
    let words = [("the last run failed: ", &failing), ("overdue: ", &overdue)];
    let words: Vec<String> = words
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what}{}", names.join(", ")))
        .collect();
    let members = json!({ "jobs": jobs.len(), "running": running, "failing": failing, "overdue": overdue });
    let Value::Object(numbers) = members else { return ServiceStatus::default() };
    let detail = (!words.is_empty()).then(|| words.join("; "));
    ServiceStatus { ok: words.is_empty(), enabled: None, detail, numbers }
}

fn named(jobs: &[JobStatus], is: impl Fn(&JobStatus) -> bool) -> Vec<String> {
    jobs.iter().filter(|job| is(job)).map(|job| format!("{}.{}", job.plugin, job.job)).collect()
}

fn has_failed(job: &JobStatus) -> bool {
    job.last_result.as_deref().is_some_and(|result| result != "ok")
}

fn is_overdue(job: &JobStatus, now_ms: i64) -> bool {
    job.holder.is_none() && job.next_run_ms < now_ms.saturating_sub(OVERDUE_MS)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn job(name: &str) -> JobStatus {
        JobStatus {
            plugin: "forum".to_owned(),
            job: name.to_owned(),
            schedule: "every 1 s".to_owned(),
            next_run_ms: 1_000_000,
            last_result: None,
            last_error: Some("/secret/path".to_owned()),
            last_started_ms: None,
            last_finished_ms: None,
            runs: 0,
            failures: 0,
            holder: None,
        }
    }

    fn result(name: &str, result: &str) -> JobStatus {
        JobStatus { last_result: Some(result.to_owned()), ..job(name) }
    }

    fn told(jobs: Vec<JobStatus>, now_ms: i64) -> Value {
        serde_json::to_value(service(Ok(jobs), |plugin| plugin == "forum", now_ms)).unwrap()
    }

    #[test]
    fn jobs_that_did_their_work_or_wait_for_their_time_are_well() {
        let running = JobStatus { holder: Some("a gateway".to_owned()), next_run_ms: 0, ..job("slow") };
        let off = JobStatus { plugin: "off".to_owned(), next_run_ms: 0, ..result("old", "failed") };
        assert_eq!(
            told(vec![job("new"), result("good", "ok"), running, off], 1_060_000),
            json!({ "ok": true, "jobs": 3, "running": 1, "failing": [], "overdue": [] })
        );
    }

    #[test]
    fn a_job_that_failed_or_does_not_get_its_turn_is_named_without_its_reason() {
        assert_eq!(
            told(vec![result("bad", "timed_out"), JobStatus { next_run_ms: 999_999, ..job("late") }], 1_060_000),
            json!({
                "ok": false, "detail": "the last run failed: forum.bad; overdue: forum.late", "jobs": 2, "running": 0,
                "failing": ["forum.bad"], "overdue": ["forum.late"]
            })
        );
    }

    #[test]
    fn records_that_cannot_be_read_are_not_well() {
        let service = service(Err(StorageError::Internal("disk".to_owned())), |_| true, 0);
        assert!(!service.ok && !service.detail.unwrap().contains("disk"));
    }
}
