//! Citations: a job pays a challenge when its input begins with `fmx://arena/<id>`.

use super::ChallengeId;

const SCHEME: &str = "fmx://arena/";

/// Parses the scheme in any case, then digits.
pub fn cited_challenge(input_uri: &str) -> Option<ChallengeId> {
    let (scheme, rest) = input_uri.split_at_checked(SCHEME.len())?;
    let digits = rest.split(|character: char| !character.is_ascii_digit()).next()?;
    let id = digits.parse().ok().filter(|id| *id > 0).map(ChallengeId);
    id.filter(|_| scheme.eq_ignore_ascii_case(SCHEME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_behind_the_scheme() {
        for uri in ["fmx://arena/7", "FMX://Arena/7", "fmx://arena/7/prize", "fmx://arena/07"] {
            assert_eq!(cited_challenge(uri), Some(ChallengeId(7)), "{uri}");
        }
        for uri in [
            "",
            "fmx://arena/",
            "fmx://arena/x",
            "fmx://arena/0",
            "fmx://bounty/7",
            " fmx://arena/7",
            "ünïcödé-ünïcödé",
        ] {
            assert_eq!(cited_challenge(uri), None, "{uri}");
        }
    }
}
