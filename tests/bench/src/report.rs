//! The tables, as the terminal and BENCHMARKS.md show them.

use crate::{
    jobs::{Comparison, Goal},
    rounds::Row,
};
use std::fmt::Write as _;

pub fn section(outcome: &Comparison) -> String {
    let Comparison { title, how, operation, rows, goals } = outcome;
    let mut text = format!("## {title}\n\n{how}\n\n");
    let _ = writeln!(text, "| | CPU µs per {operation} | first ÷ this | per second | median | 99 % within | memory |");
    text.push_str("|---|---:|---:|---:|---:|---:|---:|\n");
    for row in rows {
        // Rows without a goal are different things, not different servers.
        let compared = rows.first().filter(|_| !goals.is_empty());
        let ratio = compared.map_or_else(|| "–".to_owned(), |first| figure(first.ratio_to(row)));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.0} | {} | {} | {:.0} MiB |",
            row.name,
            figure(row.median(|sample| sample.cpu_us)),
            ratio,
            row.median(|sample| sample.per_s),
            time(row.median(|sample| sample.p50_us)),
            time(row.median(|sample| sample.p99_us)),
            row.median(|sample| sample.rss_kib as f64) / 1024.0,
        );
    }
    text.push('\n');
    for goal in goals {
        let _ = writeln!(text, "{}", verdict(goal, rows));
    }
    text
}

/// One line for each goal: what was asked, and by how much it is met or missed.
fn verdict(goal: &Goal, rows: &[Row]) -> String {
    let find = |name: &str| rows.iter().find(|row| row.name == name);
    let lacking = |name: &str| format!("- Not judged: `{name}` was not measured.");
    match goal {
        Goal::AtMostKib { what, found, max } => {
            judged(&format!("{what}: at most {max} KiB"), &format!("{} KiB", figure(*found)), found / max)
        }
        &Goal::PartOf { row, other, max } => match (find(row), find(other)) {
            (Some(own), Some(peer)) => {
                let ratio = own.ratio_to(peer);
                judged(&format!("{row}: at most {} of {other}", figure(max)), &figure(ratio), ratio / max)
            }
            (None, _) => lacking(row),
            (_, None) => lacking(other),
        },
        &Goal::AtMostUsMore { row, other, max } => match (find(row), find(other)) {
            (Some(own), Some(peer)) => {
                let more_us = own.median(|sample| sample.cpu_us) - peer.median(|sample| sample.cpu_us);
                let asked = format!("{row}: at most {max} µs more than {other}");
                judged(&asked, &format!("{} µs", figure(more_us)), more_us / max)
            }
            (None, _) => lacking(row),
            (_, None) => lacking(other),
        },
        &Goal::LongerThan { row, other, max } => match (find(row), find(other)) {
            (Some(own), Some(peer)) => {
                let ratio = peer.median(|sample| sample.per_s) / own.median(|sample| sample.per_s);
                judged(&format!("{row}: at most {} times as long as {other}", figure(max)), &figure(ratio), ratio / max)
            }
            (None, _) => lacking(row),
            (_, None) => lacking(other),
        },
        &Goal::MedianAtMostMs { row, max } => match find(row) {
            Some(own) => {
                let median_ms = own.median(|sample| sample.p50_us) / 1000.0;
                judged(&format!("{row}: half within {max} ms"), &format!("{} ms", figure(median_ms)), median_ms / max)
            }
            None => lacking(row),
        },
        &Goal::AtMostUs { row, max } => match find(row) {
            Some(own) => {
                let cpu_us = own.median(|sample| sample.cpu_us);
                judged(&format!("{row}: at most {max} µs"), &format!("{} µs", figure(cpu_us)), cpu_us / max)
            }
            None => lacking(row),
        },
    }
}

/// The line of a goal: what was asked, what was found, and the part of the goal that this is, of which more is worse.
pub fn judged(asked: &str, found: &str, part_of_goal: f64) -> String {
    let verdict = if part_of_goal <= 1.0 {
        format!("**met**, {:.0} % below", (1.0 - part_of_goal) * 100.0)
    } else {
        format!("**not met**, {:.0} % above", (part_of_goal - 1.0) * 100.0)
    };
    format!("- {asked}. Measured: {found}; {verdict}.")
}

/// The same of a goal of which more is better.
pub fn judged_at_least(asked: &str, found: &str, part_of_goal: f64) -> String {
    let verdict = if part_of_goal >= 1.0 {
        format!("**met**, {:.0} % above", (part_of_goal - 1.0) * 100.0)
    } else {
        format!("**not met**, {:.0} % below", (1.0 - part_of_goal) * 100.0)
    };
    format!("- {asked}. Measured: {found}; {verdict}.")
}

/// Three digits.
pub fn figure(number: f64) -> String {
    match number.abs() {
        large if large >= 100.0 => format!("{number:.0}"),
        middle if middle >= 10.0 => format!("{number:.1}"),
        small if small >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

pub fn time(us: f64) -> String {
    if us.is_nan() {
        return "–".to_owned();
    }
    if us >= 1000.0 { format!("{} ms", figure(us / 1000.0)) } else { format!("{us:.0} µs") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::Sample;

    fn row(name: &str, cpu_us: f64) -> Row {
        let sample = Sample { cpu_us, per_s: 1.0, p50_us: 1.0, p99_us: 1.0, rss_kib: 1024 };
        Row { name: name.into(), samples: vec![sample; 3] }
    }

    #[test]
    fn a_goal_is_judged_by_what_was_measured() {
        let rows = [row("gateway", 30.0), row("peer", 100.0)];
        let judge = |max| verdict(&Goal::PartOf { row: "gateway", other: "peer", max }, &rows);
        assert_eq!(judge(0.4), "- gateway: at most 0.400 of peer. Measured: 0.300; **met**, 25 % below.");
        assert!(judge(0.2).ends_with("Measured: 0.300; **not met**, 50 % above."));
        assert!(verdict(&Goal::AtMostUs { row: "gateway", max: 20.0 }, &rows).contains("not met"));
        assert!(verdict(&Goal::PartOf { row: "gateway", other: "nobody", max: 1.0 }, &rows).contains("Not judged"));
    }
}
