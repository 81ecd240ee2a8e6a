//! Which of two versions is newer: part by part, divided at `.` and `-`, numbers by value.

use std::cmp::Ordering;

pub fn compare(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (parts(one), parts(other));
    loop {
        let order = match (one.next(), other.next()) {
            (None, None) => return Ordering::Equal,
            (Some(part), None) => against_nothing(part),
            (None, Some(part)) => against_nothing(part).reverse(),
            (Some(part), Some(counterpart)) => part.cmp(&counterpart),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Text before numbers: `1.0.0-rc.1` is older than `1.0.0-1`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Text(&'a str),
    Number(u128),
}

fn parts(version: &str) -> impl Iterator<Item = Part<'_>> {
    version.split(['.', '-']).map(|part| part.parse().map_or(Part::Text(part), Part::Number))
}

/// `1.0` equals `1.0.0`, and `1.0-rc` is older than `1.0`.
fn against_nothing(part: Part<'_>) -> Ordering {
    match part {
        Part::Number(number) => number.cmp(&0),
        Part::Text(_) => Ordering::Less,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("0.6.0", "0.6.0", Ordering::Equal)]
    #[case("0.10.0", "0.9.9", Ordering::Greater)]
    #[case("1.0", "1.0.0", Ordering::Equal)]
    #[case("1.0.1", "1.0", Ordering::Greater)]
    #[case("1.0.0-rc.1", "1.0.0", Ordering::Less)]
    #[case("1.0.0-rc.2", "1.0.0-rc.10", Ordering::Less)]
    #[case("007", "7", Ordering::Equal)]
    #[case("99999999999999999999999999999999", "1", Ordering::Greater)]
    fn compares_by_number(#[case] one: &str, #[case] other: &str, #[case] expected: Ordering) {
        assert_eq!(compare(one, other), expected);
        assert_eq!(compare(other, one), expected.reverse());
    }
}
