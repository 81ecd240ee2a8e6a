//! Rounds: every server once in each, so that what disturbs the machine for a while disturbs all of them; then medians.

use crate::{load::LoadResult, server::Server, settle::settle};
use anyhow::{Context as _, Result};

/// One server in one round.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub cpu_us: f64,
    pub per_s: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    pub rss_kib: u64,
}

impl Sample {
    pub fn of(counted: &LoadResult, server: &Server) -> Result<Self> {
        Ok(Self {
            cpu_us: counted.cpu_us(),
            per_s: counted.per_s(),
            p50_us: counted.within_us(0.5),
            p99_us: counted.within_us(0.99),
            rss_kib: server.rss_kib()?,
        })
    }
}

/// What is measured in turn with others.
pub struct Contestant<'a> {
    pub name: String,
    pub measure: Box<dyn FnMut() -> Result<Sample> + 'a>,
}

impl<'a> Contestant<'a> {
    pub fn new(name: impl Into<String>, measure: impl FnMut() -> Result<Sample> + 'a) -> Self {
        Self { name: name.into(), measure: Box::new(measure) }
    }
}

/// A contestant's samples, one a round.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub samples: Vec<Sample>,
}

pub fn in_turn(rounds: usize, mut contestants: Vec<Contestant<'_>>) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> =
        contestants.iter().map(|one| Row { name: one.name.clone(), samples: Vec::new() }).collect();
    for round in 1..=rounds {
        for (contestant, row) in contestants.iter_mut().zip(&mut rows) {
            settle()?;
            let sample = (contestant.measure)().with_context(|| contestant.name.clone())?;
            let Sample { cpu_us, per_s, p99_us, .. } = sample;
            println!("  {round}/{rounds} {:<34} {cpu_us:8.2} µs CPU  {per_s:9.0}/s  99 % in {p99_us:.0} µs", row.name);
            row.samples.push(sample);
        }
    }
    Ok(rows)
}

impl Row {
    pub fn median(&self, figure: impl Fn(&Sample) -> f64) -> f64 {
        median(self.samples.iter().map(figure).collect())
    }

    /// This row's CPU time as a part of another's: the median of the rounds' ratios.
    pub fn ratio_to(&self, other: &Self) -> f64 {
        median(self.samples.iter().zip(&other.samples).map(|(own, other)| own.cpu_us / other.cpu_us).collect())
    }
}

pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.as_slice() {
        [] => f64::NAN,
        all if all.len() % 2 == 1 => all[middle],
        all => f64::midpoint(all[middle - 1], all[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cpu_us: &[f64]) -> Row {
        let sample = |cpu_us: &f64| Sample { cpu_us: *cpu_us, per_s: 1.0, p50_us: 1.0, p99_us: 1.0, rss_kib: 1 };
        Row { name: "x".into(), samples: cpu_us.iter().map(sample).collect() }
    }

    #[test]
    fn a_disturbed_round_does_not_count() {
        let (one, other) = (row(&[1.0, 100.0, 3.0]), row(&[2.0, 100.0, 6.0]));
        assert!((one.median(|sample| sample.cpu_us) - 3.0).abs() < 1e-9);
        assert!((one.ratio_to(&other) - 0.5).abs() < 1e-9);
        assert!((row(&[1.0, 2.0]).median(|sample| sample.cpu_us) - 1.5).abs() < 1e-9);
    }
}
