//! Fetches the cards of active agents, each once per interval, a few at a time, so that requests are spread evenly. It learns
//! who is online. An agent's response changes only its own row of `agents_cards`.

use crate::{
    Agents, model,
    store::{
        self,
        cards::{Outcome, Probe},
        probes::IdRange,
    },
};
use futures_util::{StreamExt as _, stream};
use plugin_api::{
    AgentId, Fetch, HostError, Job, PluginContext,
    handles::{FetchError, FetchResponse},
};
use std::time::Duration;

/// Interval between two rounds.
const ROUND: Duration = Duration::from_secs(5);
const ROUND_S: i64 = 5;
/// Probes per round beyond the share, to catch up after a pause.
const CATCH_UP_PROBES: i64 = 8;
/// Concurrent probes.
const CONCURRENT_PROBES: usize = 8;
/// Timeout of one probe.
const TIMEOUT: Duration = Duration::from_secs(5);
const REDIRECTS_MAX: u8 = 3;
/// A round begins no probe after this long, also when agents are left.
const ROUND_MAX_MS: i64 = 30_000;

pub fn job() -> Job<Agents> {
    Job::every("probe_cards", ROUND, probe_cards)
}

async fn probe_cards(cx: PluginContext<Agents>) -> Result<(), HostError> {
    let (begun_ms, interval_s) = (cx.now_ms(), i64::from(cx.plugin().config.probe_interval_s));
    let db = cx.db();
    let (all, active) = store::agents::count(&db).await?;
    let sweep = &cx.plugin().sweep;
    let mut range = IdRange::read(&db, sweep.position(), agents_per_round(all, interval_s)).await?;
    let probes_max = probes_per_round(active, interval_s);
    let due = store::probes::due(&db, range, cx.now_s() - interval_s, probes_max).await?;
    let ids: Vec<AgentId> = due.iter().map(|agent| agent.id).collect();
    // An agent that does not answer takes one of the places, and holds up none behind it.
    let in_time = due.into_iter().enumerate().take_while(|_| cx.now_ms() - begun_ms <= ROUND_MAX_MS);
    let mut probes = stream::iter(in_time)
        .map(|(place, agent)| probe(&cx, place, agent))
        .buffer_unordered(CONCURRENT_PROBES)
        .ready_chunks(CONCURRENT_PROBES);
    let mut is_probed = vec![false; ids.len()];
    while let Some(some) = probes.next().await {
        some.iter().for_each(|(place, _)| is_probed[*place] = true);
        let some: Vec<Probe> = some.into_iter().map(|(_, probe)| probe).collect();
        cx.write(async move |tx| store::cards::record(tx, &some, interval_s).await).await?;
    }
    // The next round begins with the first one that this round did not get to.
    let left = is_probed.iter().position(|is_probed| !is_probed).map(|place| AgentId(ids[place].0 - 1));
    let may_be_more = i64::try_from(ids.len()) == Ok(probes_max);
    if let Some(last) = left.or(ids.last().copied().filter(|_| may_be_more)) {
        range = range.up_to(last);
    }
    let counted = store::probes::count(&db, range).await?;
    match sweep.advance(range, counted) {
        Some(progress) => store::probes::store_progress(&cx, progress).await,
        None => Ok(()),
    }
}

/// Number of agents that a round looks at, so that all are seen twice within the interval.
fn agents_per_round(all: i64, interval_s: i64) -> i64 {
    (2 * all * ROUND_S / interval_s).clamp(IdRange::AGENTS_MIN, IdRange::AGENTS_MAX)
}

/// Number of agents per round, so that all are probed within the interval.
fn probes_per_round(active: i64, interval_s: i64) -> i64 {
    active * ROUND_S / interval_s + CATCH_UP_PROBES
}

/// With its place among those that are due.
async fn probe(cx: &PluginContext<Agents>, place: usize, agent: store::probes::DueAgent) -> (usize, Probe) {
    let marker = &cx.environment().brand.marker;
    let fetched = Fetch::get(model::card_url(&agent.endpoint, marker))
        .header("accept", "application/json")
        .header("user-agent", format!("{marker}-gateway/health"))
        .timeout(TIMEOUT)
        .response_bytes_max(model::CARD_BYTES_MAX)
        .redirects_max(REDIRECTS_MAX)
        .background()
        .send(cx)
        .await;
    let outcome = match fetched {
        Err(FetchError::DestinationBusy { retry_after, .. }) => {
            Outcome::Postponed { retry_after_s: i64::try_from(retry_after.as_secs()).unwrap_or(i64::MAX) }
        }
        fetched => {
            let response = fetched.ok().filter(FetchResponse::is_success);
            let card = response.and_then(|response| model::Card::parse(&response.body, marker));
            card.map_or(Outcome::Offline, |card| Outcome::Online(Box::new(card)))
        }
    };
    (place, Probe { agent, outcome, at_ms: cx.now_ms() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_agents_are_probed_within_the_interval() {
        for (active, interval_s) in [(0, 300), (1, 300), (10_000, 300), (100_000, 300), (50, 10)] {
            assert!(
                probes_per_round(active, interval_s) * (interval_s / ROUND_S) >= active,
                "{active} in {interval_s} s"
            );
        }
    }
}
