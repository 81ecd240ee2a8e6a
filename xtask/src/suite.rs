//! Runs steps in order, each with a heading and a duration, and sums up. Rule: whatever fails makes the whole fail,
//! what was started is stopped, and what was left out is said.

use crate::{Failure, postgres::Cluster, scratch::Scratch};
use std::{
    path::PathBuf,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// When `.ci/run` began, in Unix seconds: what it installed first is a part of CI's time, too.
const CI_STARTED: &str = "GATEWAY_CI_STARTED";

/// One thing that must hold.
pub struct Step {
    pub name: &'static str,
    /// Whether it also runs when only some tests are asked for.
    pub for_filter: bool,
    /// In CI it is left out when the run has taken longer by then: CI ends a run after a time, and on a slow machine a step that is left out
    /// says more than a run that was cut off. Elsewhere it always runs.
    pub begins_before: Option<Duration>,
    pub run: fn(&mut Suite) -> Result<Outcome, Failure>,
}

impl Step {
    /// Runs with a filter, too.
    pub const fn always(name: &'static str, run: fn(&mut Suite) -> Result<Outcome, Failure>) -> Self {
        Self { name, for_filter: true, begins_before: None, run }
    }

    /// Runs without a filter.
    pub const fn whole(name: &'static str, run: fn(&mut Suite) -> Result<Outcome, Failure>) -> Self {
        Self { for_filter: false, ..Self::always(name, run) }
    }

    pub const fn before_minutes(self, minutes: u64) -> Self {
        Self { begins_before: Some(Duration::from_secs(60 * minutes)), ..self }
    }
}

pub enum Outcome {
    Passed,
    /// All but this.
    PassedWithout(String),
    /// Not done on this machine, for this reason.
    Skipped(String),
}

/// What steps share; dropped at the end, which stops the database.
pub struct Suite {
    pub root: PathBuf,
    pub filter: Option<String>,
    pub postgres: Option<Cluster>,
    /// Where tests put their files.
    pub scratch: Option<Scratch>,
    started: Instant,
    /// How long `.ci/run` took before that.
    before: Duration,
    is_ci: bool,
}

struct StepResult {
    name: &'static str,
    verdict: Verdict,
    took: Duration,
}

enum Verdict {
    /// What was left out of it, if anything was.
    Passed(String),
    Skipped(String),
    Failed(Failure),
    NotRun,
}

impl Suite {
    pub fn new(root: PathBuf, filter: Option<String>, is_ci: bool) -> Self {
        let (started, before) = (Instant::now(), passed_before());
        Self { root, filter, postgres: None, scratch: None, started, before, is_ci }
    }

    /// Whether CI's time is short: the run has taken longer than this. Never elsewhere.
    pub fn is_later_than(&self, limit: Duration) -> bool {
        self.is_ci && self.elapsed() > limit
    }

    fn elapsed(&self) -> Duration {
        self.before + self.started.elapsed()
    }

    /// Runs the steps. In CI also those after a failed one, and not those that begin too late.
    pub fn run(mut self, steps: &[Step]) -> Result<(), Failure> {
        let mut lines: Vec<StepResult> = Vec::new();
        let filtered = self.filter.is_some();
        for step in steps.iter().filter(|step| !filtered || step.for_filter) {
            let stopped = !self.is_ci && lines.iter().any(StepResult::is_failure);
            let is_late = step.begins_before.is_some_and(|limit| self.is_later_than(limit));
            lines.push(match () {
                () if stopped => StepResult::not_run(step),
                () if is_late => StepResult::left_out(step, self.elapsed()),
                () => self.run_step(step),
            });
        }
        drop(self);
        println!("\n== summary");
        lines.iter().for_each(StepResult::print);
        match lines.iter().filter(|line| line.is_failure()).count() {
            0 => Ok(()),
            failed => Err(format!("{failed} of {} steps failed", lines.len())),
        }
    }

    fn run_step(&mut self, step: &Step) -> StepResult {
        println!("\n== {}", step.name);
        let started = Instant::now();
        let verdict = match (step.run)(self) {
            Ok(Outcome::Passed) => Verdict::Passed(String::new()),
            Ok(Outcome::PassedWithout(what)) => Verdict::Passed(format!("without {what}")),
            Ok(Outcome::Skipped(reason)) => Verdict::Skipped(reason),
            Err(failure) => Verdict::Failed(failure),
        };
        let line = StepResult { name: step.name, verdict, took: started.elapsed() };
        line.print();
        line
    }
}

/// How long `.ci/run` took before.
fn passed_before() -> Duration {
    let started = std::env::var(CI_STARTED).ok().and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
    #[allow(clippy::disallowed_methods, reason = "compared with what a shell noted")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    started.map_or(Duration::ZERO, |started| now.saturating_sub(started))
}

impl StepResult {
    fn left_out(step: &Step, elapsed: Duration) -> Self {
        let reason =
            format!("left out after {} minutes: `cargo xtask test` runs it outside of CI", elapsed.as_secs() / 60);
        let line = Self { name: step.name, verdict: Verdict::Skipped(reason), took: Duration::ZERO };
        println!("\n== {}", step.name);
        line.print();
        line
    }

    fn not_run(step: &Step) -> Self {
        Self { name: step.name, verdict: Verdict::NotRun, took: Duration::ZERO }
    }

    fn is_failure(&self) -> bool {
        matches!(self.verdict, Verdict::Failed(_))
    }

    fn print(&self) {
        let (word, detail) = match &self.verdict {
            Verdict::Passed(without) => ("ok", without.as_str()),
            Verdict::Skipped(reason) => ("skipped", reason.as_str()),
            Verdict::Failed(failure) => ("FAILED", failure.as_str()),
            Verdict::NotRun => ("not run", ""),
        };
        let line = format!("   {word:<8} {:<13} {:>6.1} s  {detail}", self.name, self.took.as_secs_f64());
        println!("{}", line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(filter: Option<&str>, is_ci: bool) -> Suite {
        Suite::new(PathBuf::new(), filter.map(ToOwned::to_owned), is_ci)
    }

    fn passes(_: &mut Suite) -> Result<Outcome, Failure> {
        Ok(Outcome::Passed)
    }

    fn fails(_: &mut Suite) -> Result<Outcome, Failure> {
        Err("broken".to_owned())
    }

    /// Shows whether a step behind a failure ran: it fails too.
    const BOTH_FAIL: &[Step] = &[Step::always("first", fails), Step::whole("second", fails)];

    #[test]
    fn what_passes_or_is_skipped_is_no_failure() {
        let skips = |_: &mut Suite| Ok(Outcome::Skipped("not here".to_owned()));
        let steps = [Step::whole("a", passes), Step::whole("b", skips)];
        assert_eq!(suite(None, false).run(&steps), Ok(()));
    }

    #[test]
    fn a_failure_stops_the_rest_unless_told_otherwise() {
        assert_eq!(suite(None, false).run(BOTH_FAIL), Err("1 of 2 steps failed".to_owned()));
        assert_eq!(suite(None, true).run(BOTH_FAIL), Err("2 of 2 steps failed".to_owned()));
    }

    #[test]
    fn a_step_that_would_begin_too_late_is_left_out_in_ci_only() {
        let late = [Step::whole("late", fails).before_minutes(0)];
        assert_eq!(suite(None, true).run(&late), Ok(()));
        assert_eq!(suite(None, false).run(&late), Err("1 of 1 steps failed".to_owned()));
        let early = [Step::whole("early", fails).before_minutes(1_000_000_000)];
        assert_eq!(suite(None, true).run(&early), Err("1 of 1 steps failed".to_owned()));
    }

    #[test]
    fn a_filter_leaves_out_what_is_not_about_tests() {
        assert_eq!(suite(Some("x"), true).run(BOTH_FAIL), Err("1 of 1 steps failed".to_owned()));
    }
}
