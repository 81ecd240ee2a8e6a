//! Runs steps in order, each with a heading and a duration, and sums up. Rule: whatever fails makes the whole fail, and
//! what was started is stopped.

use crate::{Failure, postgres::Cluster};
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

/// One thing that must hold.
pub struct Step {
    pub name: &'static str,
    /// Whether it also runs when only some tests are asked for.
    pub for_filter: bool,
    pub run: fn(&mut Suite) -> Result<Outcome, Failure>,
}

pub enum Outcome {
    Passed,
    /// Not done on this machine, for this reason.
    Skipped(String),
}

/// What steps share; dropped at the end, which stops the database.
pub struct Suite {
    pub root: PathBuf,
    pub filter: Option<String>,
    pub postgres: Option<Cluster>,
}

struct StepResult {
    name: &'static str,
    verdict: Verdict,
    took: Duration,
}

enum Verdict {
    Passed,
    Skipped(String),
    Failed(Failure),
    NotRun,
}

impl Suite {
    /// Runs the steps; after a failed one only with `keep_going`.
    pub fn run(mut self, steps: &[Step], keep_going: bool) -> Result<(), Failure> {
        let mut lines: Vec<StepResult> = Vec::new();
        let filtered = self.filter.is_some();
        for step in steps.iter().filter(|step| !filtered || step.for_filter) {
            let stopped = !keep_going && lines.iter().any(StepResult::is_failure);
            lines.push(if stopped { StepResult::not_run(step) } else { self.run_step(step) });
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
            Ok(Outcome::Passed) => Verdict::Passed,
            Ok(Outcome::Skipped(reason)) => Verdict::Skipped(reason),
            Err(failure) => Verdict::Failed(failure),
        };
        let line = StepResult { name: step.name, verdict, took: started.elapsed() };
        line.print();
        line
    }
}

impl StepResult {
    fn not_run(step: &Step) -> Self {
        Self { name: step.name, verdict: Verdict::NotRun, took: Duration::ZERO }
    }

    fn is_failure(&self) -> bool {
        matches!(self.verdict, Verdict::Failed(_))
    }

    fn print(&self) {
        let (word, detail) = match &self.verdict {
            Verdict::Passed => ("ok", ""),
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

    fn suite(filter: Option<&str>) -> Suite {
        Suite { root: PathBuf::new(), filter: filter.map(ToOwned::to_owned), postgres: None }
    }

    fn passes(_: &mut Suite) -> Result<Outcome, Failure> {
        Ok(Outcome::Passed)
    }

    fn fails(_: &mut Suite) -> Result<Outcome, Failure> {
        Err("broken".to_owned())
    }

    /// Shows whether a step behind a failure ran: it fails too.
    const BOTH_FAIL: &[Step] =
        &[Step { name: "first", for_filter: true, run: fails }, Step { name: "second", for_filter: false, run: fails }];

    #[test]
    fn what_passes_or_is_skipped_is_no_failure() {
        let skips = |_: &mut Suite| Ok(Outcome::Skipped("not here".to_owned()));
        let steps =
            [Step { name: "a", for_filter: false, run: passes }, Step { name: "b", for_filter: false, run: skips }];
        assert_eq!(suite(None).run(&steps, false), Ok(()));
    }

    #[test]
    fn a_failure_stops_the_rest_unless_told_otherwise() {
        assert_eq!(suite(None).run(BOTH_FAIL, false), Err("1 of 2 steps failed".to_owned()));
        assert_eq!(suite(None).run(BOTH_FAIL, true), Err("2 of 2 steps failed".to_owned()));
    }

    #[test]
    fn a_filter_leaves_out_what_is_not_about_tests() {
        assert_eq!(suite(Some("x")).run(BOTH_FAIL, true), Err("1 of 1 steps failed".to_owned()));
    }
}
