//! Chain events: which challenge the input of an escrow job cites.

use crate::{Arena, model::ChallengeId, store::awards};
use plugin_api::{ChainEvent, HostError, PluginContext, Tx, contracts::escrow::JobRequested};

pub const DERIVED_TABLES: [&str; 1] = ["arena_links"];

const SCHEME: &str = "fmx://arena/";

pub async fn job_requested(_: PluginContext<Arena>, tx: Tx, event: ChainEvent<JobRequested>) -> Result<(), HostError> {
    let Some(challenge) = cited_challenge(&event.args.input_uri) else { return Ok(()) };
    awards::insert_link(&tx, challenge, &event.args, event.time_s)
}

/// A job pays a challenge when its input begins with `fmx://arena/<id>`, the scheme in any case.
fn cited_challenge(input_uri: &str) -> Option<ChallengeId> {
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
        let others = ["", "fmx://arena/", "fmx://arena/x", "fmx://arena/0", "fmx://bounty/7", " fmx://arena/7"];
        for uri in others.into_iter().chain(["ünïcödé-ünïcödé"]) {
            assert_eq!(cited_challenge(uri), None, "{uri}");
        }
    }
}
