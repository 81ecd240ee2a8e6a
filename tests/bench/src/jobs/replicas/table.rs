//! The table of a run: figures of each contestant by round, and the goals.

use super::lock_waits::LockWaits;
use crate::{
    report::{figure, judged, judged_at_least, time},
    rounds::median,
};
use std::fmt::Write as _;

pub const ONE: &str = "1 gateway, 1 ms to PostgreSQL";
pub const THREE: &str = "3 gateways, 1 ms to PostgreSQL";

const PER_S_MIN: f64 = 1_000.0;
const GATEWAY_MS_MAX: f64 = 0.35;
const POSTGRES_MS_MAX: f64 = 0.6;
const HALF_LOAD_P99_MS_MAX: f64 = 30.0;
const THREE_TO_ONE_MAX: f64 = 1.1;
const ABORTED_MAX: f64 = 0.02;

/// One contestant in one round.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub per_s: f64,
    /// CPU time for one write of the gateways and of PostgreSQL, where there are such.
    pub gateway_ms: Option<f64>,
    pub postgres_ms: Option<f64>,
    pub p50_us: f64,
    pub p99_us: f64,
    pub half_load_p99_us: Option<f64>,
    pub round_trips: Option<f64>,
    pub waits: LockWaits,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub name: &'static str,
    pub rounds: Vec<Figures>,
    /// Of all attempts to write, the part that PostgreSQL rolled back.
    pub aborted: Option<f64>,
}

impl Entry {
    fn median(&self, figure: impl Fn(&Figures) -> Option<f64>) -> Option<f64> {
        let figures: Vec<f64> = self.rounds.iter().filter_map(figure).collect();
        (!figures.is_empty()).then(|| median(figures))
    }

    fn waits(&self) -> LockWaits {
        let mut waits = LockWaits::default();
        self.rounds.iter().for_each(|round| waits.add(&round.waits));
        waits
    }

    fn row(&self) -> String {
        let cell = |found: Option<f64>, show: &dyn Fn(f64) -> String| found.map_or_else(|| "–".to_owned(), show);
        let cells = [
            cell(self.median(|round| Some(round.per_s)), &|per_s| format!("{per_s:.0}")),
            cell(self.median(|round| round.gateway_ms), &figure),
            cell(self.median(|round| round.postgres_ms), &figure),
            cell(self.median(|round| Some(round.p50_us)), &time),
            cell(self.median(|round| Some(round.p99_us)), &time),
            cell(self.median(|round| round.half_load_p99_us), &time),
            cell(self.median(|round| round.round_trips), &figure),
            cell(self.aborted, &percent),
            self.waits().cell(),
        ];
        format!("| {} | {} |", self.name, cells.join(" | "))
    }
}

fn percent(part: f64) -> String {
    format!("{} %", figure(part * 100.0))
}

pub fn table(entries: &[Entry]) -> String {
    let mut text =
        "| | writes per second | CPU ms per write, gateways | CPU ms per write, PostgreSQL | median | 99 % within | \
                    99 % at half load within | round trips per write | aborted | waits for locks |\n\
                    |---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n"
            .to_owned();
    for entry in entries {
        let _ = writeln!(text, "{}", entry.row());
    }
    text
}

/// A line for each goal.
pub fn verdicts(entries: &[Entry]) -> Vec<String> {
    let find = |name: &str| entries.iter().find(|entry| entry.name == name);
    let (Some(one), Some(three)) = (find(ONE), find(THREE)) else { return Vec::new() };
    let mut lines = of_one(one);
    lines.extend(of_three(one, three));
    for entry in [one, three] {
        lines.push(no_waits(entry));
        lines.extend(entry.aborted.map(|part| {
            let asked = format!("{}: at most {} of all attempts aborted", entry.name, percent(ABORTED_MAX));
            judged(&asked, &percent(part), part / ABORTED_MAX)
        }));
    }
    lines
}

fn of_one(one: &Entry) -> Vec<String> {
    let ms = |what: &str, found: Option<f64>, max: f64| {
        let asked = format!("{ONE}: {what} at most {max} ms");
        found.map(|found| judged(&asked, &format!("{} ms", figure(found)), found / max))
    };
    let per_s = one.median(|round| Some(round.per_s)).map(|per_s| {
        let asked = format!("{ONE}: at least {PER_S_MIN:.0} writes per second");
        judged_at_least(&asked, &format!("{per_s:.0}"), per_s / PER_S_MIN)
    });
    let half_load_p99_ms = one.median(|round| round.half_load_p99_us).map(|us| us / 1000.0);
    let lines = [
        per_s,
        ms("CPU time of the gateway", one.median(|round| round.gateway_ms), GATEWAY_MS_MAX),
        ms("CPU time of PostgreSQL", one.median(|round| round.postgres_ms), POSTGRES_MS_MAX),
        ms("99 % at half load within", half_load_p99_ms, HALF_LOAD_P99_MS_MAX),
    ];
    lines.into_iter().flatten().collect()
}

/// The median of the rounds' ratios: what disturbs a round disturbs both.
fn of_three(one: &Entry, three: &Entry) -> Option<String> {
    let both = |round: &Figures| Some(round.gateway_ms? + round.postgres_ms?);
    let ratio = |(three, one): (&Figures, &Figures)| Some(both(three)? / both(one)?);
    let ratios: Vec<f64> = three.rounds.iter().zip(&one.rounds).filter_map(ratio).collect();
    if ratios.is_empty() {
        return None;
    }
    let ratio = median(ratios);
    let asked =
        format!("{THREE}: CPU time per write, gateways and PostgreSQL, at most {THREE_TO_ONE_MAX} of 1 gateway's");
    Some(judged(&asked, &figure(ratio), ratio / THREE_TO_ONE_MAX))
}

fn no_waits(entry: &Entry) -> String {
    let waits = entry.waits();
    let verdict = if waits.between_transactions() == 0 { "met" } else { "not met" };
    format!(
        "- {}: no wait for a lock that is held until a commit. Measured: {} samples; **{verdict}**.",
        entry.name,
        waits.cell()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn entry(name: &'static str, postgres_ms: f64, aborted: f64) -> Entry {
        let round = Figures {
            per_s: 1200.0,
            gateway_ms: Some(0.3),
            postgres_ms: Some(postgres_ms),
            half_load_p99_us: Some(12_000.0),
            waits: LockWaits { samples: 9, events: BTreeMap::new() },
            ..Figures::default()
        };
        Entry { name, rounds: vec![round; 3], aborted: Some(aborted) }
    }

    #[test]
    fn each_goal_is_judged_by_what_was_measured() {
        let mut three = entry(THREE, 0.55, 0.03);
        three.rounds[0].waits.events.insert("advisory".to_owned(), 2);
        let lines = verdicts(&[entry(ONE, 0.5, 0.0), three]);
        let ends: Vec<&str> =
            lines.iter().filter_map(|line| line.split_once("Measured: ")).map(|(_, end)| end).collect();
        let expected = [
            "1200; **met**, 20 % above.",
            "0.300 ms; **met**, 14 % below.",
            "0.500 ms; **met**, 17 % below.",
            "12.0 ms; **met**, 60 % below.",
            "1.06; **met**, 3 % below.",
            "none of 27 samples; **met**.",
            "0.000 %; **met**, 100 % below.",
            "advisory in 2 of 27 samples; **not met**.",
            "3.00 %; **not met**, 50 % above.",
        ];
        assert_eq!(ends, expected);
    }

    #[test]
    fn what_a_contestant_does_not_have_is_left_out() {
        let row = Entry { name: "x", rounds: vec![Figures::default()], aborted: None }.row();
        assert_eq!(row, "| x | 0 | – | – | 0 µs | 0 µs | – | – | – | – |");
        assert_eq!(table(&[]).lines().map(|line| line.matches('|').count()).collect::<Vec<_>>(), [11, 11]);
        assert!(verdicts(&[entry(ONE, 0.5, 0.0)]).is_empty());
    }
}
