//! Compares versions part by part, split at `.` and `-`, numbers by value.

use std::cmp::Ordering;

pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (parts(a), parts(b));
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (Some(part), None) => compare_to_missing(part),
            (None, Some(part)) => compare_to_missing(part).reverse(),
            (Some(part), Some(other)) => part.cmp(&other),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Text sorts before numbers: `1.0.0-rc.1` is older than `1.0.0-1`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum VersionPart<'a> {
    Text(&'a str),
    Number(u128),
}

fn parts(version: &str) -> impl Iterator<Item = VersionPart<'_>> {
    version.split(['.', '-']).map(|part| part.parse().map_or(VersionPart::Text(part), VersionPart::Number))
}

/// `1.0` equals `1.0.0`, and `1.0-rc` is older than `1.0`.
fn compare_to_missing(part: VersionPart<'_>) -> Ordering {
    match part {
        VersionPart::Number(number) => number.cmp(&0),
        VersionPart::Text(_) => Ordering::Less,
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
    fn compares_by_number(#[case] a: &str, #[case] b: &str, #[case] expected: Ordering) {
        assert_eq!(compare(a, b), expected);
        assert_eq!(compare(b, a), expected.reverse());
    }
}
