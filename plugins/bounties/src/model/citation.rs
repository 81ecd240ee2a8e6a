//! Citations: a job pays a bounty when its input begins with `fmx://bounty/<id>`.

use super::BountyId;

const SCHEME: &str = "fmx://bounty/";

/// Parses the scheme in any case, then digits.
pub fn cited_bounty(input_uri: &str) -> Option<BountyId> {
    let (scheme, rest) = input_uri.split_at_checked(SCHEME.len())?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return None;
    }
    let digits = rest.split(|character: char| !character.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().ok().filter(|id| *id > 0).map(BountyId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_behind_the_scheme() {
        for uri in
            ["fmx://bounty/12", "FMX://Bounty/12", "fmx://bounty/12/more", "fmx://bounty/12?x=1", "fmx://bounty/012"]
        {
            assert_eq!(cited_bounty(uri), Some(BountyId(12)), "{uri}");
        }
    }

    #[test]
    fn other_inputs_are_no_citations() {
        for uri in [
            "",
            "fmx://bounty/",
            "fmx://bounty/x1",
            "fmx://bounty/0",
            "fmx://bounty/-1",
            " fmx://bounty/1",
            "fmx://arena/1",
            "fmx://bounty/99999999999999999999",
            "fmx://bount\u{e9}/1",
            "ünïcödé-ünïcödé",
        ] {
            assert_eq!(cited_bounty(uri), None, "{uri}");
        }
    }
}
