//! Asks tools whether they are there: each once per interval, a few at a time, a new one with the next round. No moment brings
//! a flood, however many tools there are or however long the gateway was away.

use crate::{
    Tools,
    model::{is_alive, means_alive},
    store::{
        probes::{self, Due, Probe},
        tool_list,
    },
};
use futures_util::{StreamExt as _, stream};
use plugin_api::{Fetch, Gateway, HostError, Job};
use std::time::Duration;

/// Time between two rounds.
const ROUND_S: u32 = 5;
/// More than its share a round may take: new tools, and what was held up.
const SPARE: i64 = 8;
/// Tools that are asked at the same time.
const AT_ONCE: usize = 8;
/// Time for each of the two questions.
const TIMEOUT: Duration = Duration::from_secs(5);
const REDIRECTS_MAX: u8 = 3;
/// A round ends after this; who is left is first in the next.
const ROUND_MAX_MS: i64 = 30_000;

pub fn job() -> Job<Tools> {
    Job::every("probe_tools", Duration::from_secs(ROUND_S.into()), probe_tools)
}

async fn probe_tools(gateway: Gateway<Tools>) -> Result<(), HostError> {
    let (begun_ms, interval_s) = (gateway.now_ms(), i64::from(gateway.plugin().config.probe_interval_s));
    let db = gateway.db();
    let (tools, _) = tool_list::count_all(&db).await?;
    let due = probes::due(&db, gateway.now_s() - interval_s, share(tools, interval_s)).await?;
    // A slow one holds up nobody but its place.
    let mut asked = stream::iter(due).map(|tool| probe(&gateway, tool)).buffer_unordered(AT_ONCE).ready_chunks(AT_ONCE);
    while let Some(some) = asked.next().await {
        let tx = gateway.begin();
        probes::record(&tx, &some).await?;
        tx.commit().await?;
        if gateway.now_ms() - begun_ms > ROUND_MAX_MS {
            break;
        }
    }
    Ok(())
}

/// How many a round takes, so that all are asked within the interval.
fn share(tools: i64, interval_s: i64) -> i64 {
    tools * i64::from(ROUND_S) / interval_s + SPARE
}

async fn probe(gateway: &Gateway<Tools>, tool: Due) -> Probe {
    let online = match ask(gateway, "HEAD", &tool.url).await {
        Some(status) if is_alive(status) => true,
        _ => ask(gateway, "GET", &tool.url).await.is_some_and(means_alive),
    };
    Probe { tool, online, at_s: gateway.now_s() }
}

/// The status of an answer, if there was one.
async fn ask(gateway: &Gateway<Tools>, method: &str, url: &str) -> Option<u16> {
    let fetch = Fetch::new(method, url)
        .header("user-agent", format!("{}-gateway/health", gateway.environment().brand.marker))
        .timeout(TIMEOUT)
        .cut_at(0)
        .redirects_max(REDIRECTS_MAX);
    fetch.send(gateway).await.ok().map(|answer| answer.status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tools_are_asked_within_the_interval_and_never_many_at_once() {
        for (tools, interval_s) in [(0, 600), (1, 600), (10_000, 600), (100_000, 600), (50, 10)] {
            let rounds = interval_s / i64::from(ROUND_S);
            let share = share(tools, interval_s);
            assert!(share * rounds >= tools, "{tools} in {interval_s} s");
            assert!((share - SPARE) * rounds <= tools, "{tools} in {interval_s} s");
        }
    }
}
