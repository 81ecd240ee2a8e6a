//! What `/api/status` reports of jobs. The rule: a job is ok when it runs on time and its last run succeeded, whether
//! or not its plugin serves requests. The error of a run is for the operator and never public.

use super::store::JobStatus;
use gateway_storage::StorageError;
use plugin_api::point::ServiceStatus;
use serde_json::{Map, Value, json};

/// A job that no gateway runs although it has been due for longer than this is overdue.
const OVERDUE_MS: i64 = 60_000;

/// The service `jobs`. Jobs of a plugin run, and are counted, only while `is_serving` is true for it.
pub fn service_status(
    jobs: Result<Vec<JobStatus>, StorageError>,
    is_serving: impl Fn(&str) -> bool,
    now_ms: i64,
) -> ServiceStatus {
    let Ok(jobs) = jobs else {
        let detail = Some("their records cannot be read".to_owned());
        return ServiceStatus { ok: false, enabled: None, detail, numbers: Map::new() };
    };
    let jobs: Vec<JobStatus> = jobs.into_iter().filter(|job| is_serving(&job.plugin)).collect();
    let (failing, overdue) = (names_of(&jobs, has_failed), names_of(&jobs, |job| is_overdue(job, now_ms)));
    let running = jobs.iter().filter(|job| job.holder.is_some()).count();
    let problems = [("the last run failed: ", &failing), ("overdue: ", &overdue)];
    let problems: Vec<String> = problems
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(problem, names)| format!("{problem}{}", names.join(", ")))
        .collect();
    let members = json!({ "jobs": jobs.len(), "running": running, "failing": failing, "overdue": overdue });
    let Value::Object(numbers) = members else { return ServiceStatus::default() };
    let detail = (!problems.is_empty()).then(|| problems.join("; "));
    ServiceStatus { ok: problems.is_empty(), enabled: None, detail, numbers }
}

fn names_of(jobs: &[JobStatus], predicate: impl Fn(&JobStatus) -> bool) -> Vec<String> {
    jobs.iter().filter(|job| predicate(job)).map(|job| format!("{}.{}", job.plugin, job.job)).collect()
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

    fn finished(name: &str, result: &str) -> JobStatus {
        JobStatus { last_result: Some(result.to_owned()), ..job(name) }
    }

    fn service_json(jobs: Vec<JobStatus>, now_ms: i64) -> Value {
        serde_json::to_value(service_status(Ok(jobs), |plugin| plugin == "forum", now_ms)).unwrap()
    }

    #[test]
    fn jobs_that_succeeded_or_are_not_due_are_ok() {
        let running = JobStatus { holder: Some("a gateway".to_owned()), next_run_ms: 0, ..job("slow") };
        let off = JobStatus { plugin: "off".to_owned(), next_run_ms: 0, ..finished("old", "failed") };
        assert_eq!(
            service_json(vec![job("new"), finished("good", "ok"), running, off], 1_060_000),
            json!({ "ok": true, "jobs": 3, "running": 1, "failing": [], "overdue": [] })
        );
    }

    #[test]
    fn failed_and_overdue_jobs_are_listed_without_their_errors() {
        assert_eq!(
            service_json(
                vec![finished("bad", "timed_out"), JobStatus { next_run_ms: 999_999, ..job("late") }],
                1_060_000
            ),
            json!({
                "ok": false, "detail": "the last run failed: forum.bad; overdue: forum.late", "jobs": 2, "running": 0,
                "failing": ["forum.bad"], "overdue": ["forum.late"]
            })
        );
    }

    #[test]
    fn unreadable_records_are_not_ok() {
        let service = service_status(Err(StorageError::Internal("disk".to_owned())), |_| true, 0);
        assert!(!service.ok && !service.detail.unwrap().contains("disk"));
    }
}
