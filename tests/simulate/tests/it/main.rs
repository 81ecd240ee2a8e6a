//! The simulation in CI: seeds that find nothing, twice with equal traces, and every planted fault found.
#![allow(clippy::unwrap_used, reason = "tests")]

use gateway_simulate::Fault;
use std::{
    collections::BTreeSet,
    process::{Command, Output},
};

fn simulate(arguments: &[&str]) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_simulate")).args(arguments).output().unwrap();
    let text = [&*output.stdout, &*output.stderr].map(String::from_utf8_lossy).concat();
    (output, text)
}

#[test]
fn seeds_find_nothing_and_play_the_same_run_twice() {
    let (output, text) = simulate(&["--seeds", "2", "--days", "1"]);
    assert!(output.status.success(), "{text}");
    let mut paid = [0; 5];
    for run in ["seed 1, 1 gateway: ", "seed 2, 1 gateway: ", "seed 1, 3 gateways: ", "seed 2, 3 gateways: "] {
        let line = text.lines().find_map(|line| line.strip_prefix(run)).unwrap();
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        // Writes, drips and kills: a run in which nothing happens proves nothing.
        assert!(numbers[0] >= 20 && numbers[1] >= 3 && numbers[2] >= 1, "{line}");
        paid.iter_mut().zip(&numbers[3..]).for_each(|(sum, count)| *sum += count);
    }
    // Payouts, vouchers, calls, orders and referrals. Of all runs: in one the servers of the deposits' chain may lie and fail the whole time.
    let [payouts, vouchers, calls, orders, referrals] = paid;
    assert!(payouts >= 4 && vouchers >= 24 && calls >= 8 && orders >= 12 && referrals >= 4, "{text}");
    let databases: Vec<&str> = text.lines().filter(|line| line.starts_with("database: ")).collect();
    assert_eq!(databases.len(), 2, "{text}");
    for line in databases {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        // Commits, conflicts, and COMMITs whose answers were lost or that were late.
        assert!(numbers[0] >= 200 && numbers[1..].iter().all(|count| *count > 0), "{line}");
    }
    let traces: BTreeSet<&str> = text.lines().filter(|line| line.starts_with("trace ")).collect();
    assert_eq!(traces.len(), 4, "each seed plays another run: {text}");
}

#[test]
fn all_plugins_run_and_answer() {
    let (output, text) = simulate(&["--seed", "3", "--days", "1", "--all-plugins"]);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("seed 3, ")).count(), 2, "{text}");
}

#[test]
fn every_planted_fault_is_found() {
    assert!(Fault::ALL.len() >= 50);
    let (output, text) = simulate(&["--faults", "--seeds", "6", "--days", "3"]);
    assert!(output.status.success(), "{text}");
    for fault in Fault::ALL {
        assert!(text.contains(&format!("{}: seed ", fault.name())), "{}: {text}", fault.name());
    }
}

#[test]
fn a_failing_run_says_how_to_play_it_again() {
    let (output, text) = simulate(&["--seed", "7", "--days", "1", "--fault", "no-such-fault"]);
    assert!(!output.status.success() && text.contains("there is no fault"), "{text}");
    let (output, text) = simulate(&["--seed", "1", "--days", "1", "--fault", "answers-without-writing"]);
    assert!(output.status.success() && text.contains("answers-without-writing is found"), "{text}");
}
