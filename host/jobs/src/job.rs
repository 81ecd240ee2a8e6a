//! The jobs of a manifest. The rule: a set of jobs is valid as a whole, or every problem is reported.

use super::schedule::ParsedSchedule;
use plugin_api::{abi::is_snake_case, manifest::JobSpec};
use std::{collections::BTreeSet, sync::Arc, time::Duration};

const NAME_BYTES_MAX: usize = 64;

/// The longest time limit of a run: one that hangs keeps its job from running for that long.
const TIMEOUT_MAX_MS: u64 = 24 * 60 * 60 * 1_000;

/// The shortest lease: each is renewed three times in its length.
const LEASE_MIN_MS: u64 = 1_000;

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobFailure {
    Failed(String),
    Panicked {
        message: String,
        /// `file:line:column`, empty if unknown.
        location: String,
    },
    /// It ended itself at its time limit.
    TimedOut,
}

/// The validated jobs of one plugin.
#[derive(Clone, Debug)]
pub struct JobSet {
    pub(crate) plugin: Arc<str>,
    pub(crate) jobs: Vec<Job>,
}

#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The index in the manifest.
    pub index: u32,
    pub name: Arc<str>,
    pub schedule: ParsedSchedule,
    pub timeout_ms: u64,
    /// Where it is less than [`JobRunner::lease`](crate::JobRunner::lease).
    pub lease: Option<Duration>,
}

/// Every problem with the jobs of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", problems.join("; "))]
pub struct InvalidJobs {
    pub problems: Vec<String>,
}

impl JobSet {
    pub fn new(plugin: &str, specs: &[JobSpec]) -> Result<Self, InvalidJobs> {
        let (mut jobs, mut problems, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (index, spec) in (0u32..).zip(specs) {
            match Job::new(index, spec) {
                Ok(_) if !names.insert(&spec.name) => problems.push(format!("job {}: is there twice", spec.name)),
                Ok(job) => jobs.push(job),
                Err(problem) => problems.push(format!("job {}: {problem}", spec.name)),
            }
        }
        if problems.is_empty() { Ok(Self { plugin: plugin.into(), jobs }) } else { Err(InvalidJobs { problems }) }
    }
}

impl Job {
    fn new(index: u32, spec: &JobSpec) -> Result<Self, String> {
        if spec.name.len() > NAME_BYTES_MAX || !is_snake_case(&spec.name) {
            return Err(format!("name: expected a-z, 0-9 and _, first a letter, at most {NAME_BYTES_MAX} characters"));
        }
        if !(1..=TIMEOUT_MAX_MS).contains(&spec.timeout_ms) {
            return Err(format!("timeout_ms {}: expected 1 to {TIMEOUT_MAX_MS}", spec.timeout_ms));
        }
        if spec.lease_ms.is_some_and(|lease_ms| lease_ms < LEASE_MIN_MS) {
            return Err(format!("lease_ms: expected at least {LEASE_MIN_MS}"));
        }
        let schedule = ParsedSchedule::parse(&spec.schedule)?;
        let (name, lease) = (spec.name.as_str().into(), spec.lease_ms.map(Duration::from_millis));
        Ok(Self { index, name, schedule, timeout_ms: spec.timeout_ms, lease })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use plugin_api::manifest::Schedule;

    fn spec(name: &str, schedule: Schedule, timeout_ms: u64) -> JobSpec {
        JobSpec { name: name.to_owned(), schedule, timeout_ms, lease_ms: None }
    }

    #[test]
    fn every_problem_is_reported_with_the_name_of_the_job() {
        let error = JobSet::new(
            "forum",
            &[
                spec("digest", Schedule::Cron("0 25 * * *".to_owned()), 1_000),
                spec("sweep", Schedule::EveryMs(1_000), 0),
                spec("prune", Schedule::EveryMs(1_000), u64::MAX),
                spec("a b", Schedule::EveryMs(1_000), 1_000),
                JobSpec { lease_ms: Some(999), ..spec("follow", Schedule::EveryMs(1_000), 1_000) },
                spec("good", Schedule::EveryMs(1_000), 1_000),
                spec("good", Schedule::EveryMs(2_000), 1_000),
            ],
        )
        .unwrap_err();
        assert_eq!(error.problems.len(), 6, "{error}");
        for part in [
            "job digest: cron line `0 25 * * *`",
            "job sweep: timeout_ms 0",
            "job prune: timeout_ms",
            "job a b: name",
            "job follow: lease_ms",
            "twice",
        ] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn jobs_keep_their_index_in_the_manifest() {
        let specs = [spec("a", Schedule::EveryMs(100), 1), spec("b", Schedule::Cron("* * * * *".to_owned()), 1)];
        let set = JobSet::new("forum", &specs).unwrap();
        assert_eq!(set.jobs.iter().map(|job| (job.index, &*job.name)).collect::<Vec<_>>(), [(0, "a"), (1, "b")]);
    }
}
