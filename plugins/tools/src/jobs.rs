//! Probes whether tools are online: each once per interval, a few at a time, a new one in the next round. Requests are spread
//! evenly, with any number of tools and after any pause of the gateway.

use crate::{Tools, store};
use futures_util::{StreamExt as _, stream};
use plugin_api::{
    Fetch, HostError, Job, PluginContext,
    handles::{FetchError, FetchResponse},
};
use std::time::Duration;
use store::probes::{Outcome, Probe};

/// Interval between two rounds.
const ROUND_S: u32 = 5;
/// Probes per round beyond the share, for new tools and to catch up after a pause.
const CATCH_UP_PROBES: i64 = 8;
/// Concurrent probes.
const CONCURRENT_PROBES: usize = 8;
/// Timeout of each of the two requests.
const TIMEOUT: Duration = Duration::from_secs(5);
const REDIRECTS_MAX: u8 = 3;
/// A round ends after this long; the remaining tools are first in the next one.
const ROUND_MAX_MS: i64 = 30_000;

pub fn job() -> Job<Tools> {
    Job::every("probe_tools", Duration::from_secs(ROUND_S.into()), probe_tools)
}

async fn probe_tools(cx: PluginContext<Tools>) -> Result<(), HostError> {
    let (begun_ms, interval_s) = (cx.now_ms(), i64::from(cx.plugin().config.probe_interval_s));
    let db = cx.db();
    let count = probes_per_round(store::tools::count_all(&db).await?.0, interval_s);
    let due = store::probes::due(&db, cx.now_s() - interval_s, count).await?;
    // A slow tool occupies only one of the concurrent probes.
    let mut probes = stream::iter(due)
        .map(|tool| probe(&cx, tool))
        .buffer_unordered(CONCURRENT_PROBES)
        .ready_chunks(CONCURRENT_PROBES);
    while let Some(some) = probes.next().await {
        cx.write(async move |tx| store::probes::record(tx, &some, interval_s).await).await?;
        if cx.now_ms() - begun_ms > ROUND_MAX_MS {
            break;
        }
    }
    Ok(())
}

/// Number of tools per round, so that all are probed within the interval.
fn probes_per_round(tools: i64, interval_s: i64) -> i64 {
    tools * i64::from(ROUND_S) / interval_s + CATCH_UP_PROBES
}

async fn probe(cx: &PluginContext<Tools>, tool: store::probes::DueTool) -> Probe {
    let outcome = outcome(cx, &tool.url).await.unwrap_or_else(|retry_after_s| Outcome::Postponed { retry_after_s });
    Probe { tool, outcome, at_s: cx.now_s() }
}

/// An error is the number of seconds after which the gateway lets the probe out: until then the host has had its requests.
async fn outcome(cx: &PluginContext<Tools>, url: &str) -> Result<Outcome, i64> {
    if status(request(cx, "HEAD", url).background().send(cx).await)?.is_some_and(is_online_by_head) {
        return Ok(Outcome::Online);
    }
    // It belongs to the probe that began with the `HEAD`: a second one in the background would be one too many for a host that
    // never answered 2xx.
    let is_online = status(request(cx, "GET", url).send(cx).await)?.is_some_and(is_online_by_get);
    Ok(if is_online { Outcome::Online } else { Outcome::Offline })
}

/// Many tools do not support `HEAD`, so any other status is followed by a `GET`.
fn is_online_by_head(status: u16) -> bool {
    (200..400).contains(&status)
}

/// Whether a server responds at the URL, not whether it serves this request: a tool that asks for a key or a body is online.
fn is_online_by_get(status: u16) -> bool {
    status < 500 && status != 404
}

fn request(cx: &PluginContext<Tools>, method: &str, url: &str) -> Fetch {
    Fetch::new(method, url)
        .header("user-agent", format!("{}-gateway/tool-probe", cx.environment().brand.marker))
        .timeout(TIMEOUT)
        .truncate_at(0)
        .redirects_max(REDIRECTS_MAX)
}

/// The status of the response, if there was one.
fn status(fetched: Result<FetchResponse, FetchError>) -> Result<Option<u16>, i64> {
    match fetched {
        Err(FetchError::DestinationBusy { retry_after, .. }) => {
            Err(i64::try_from(retry_after.as_secs()).unwrap_or(i64::MAX))
        }
        fetched => Ok(fetched.ok().map(|response| response.status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tools_are_probed_within_the_interval_and_few_at_once() {
        for (tools, interval_s) in [(0, 600), (1, 600), (10_000, 600), (100_000, 600), (50, 10)] {
            let rounds = interval_s / i64::from(ROUND_S);
            let probes_per_round = probes_per_round(tools, interval_s);
            assert!(probes_per_round * rounds >= tools, "{tools} in {interval_s} s");
            assert!((probes_per_round - CATCH_UP_PROBES) * rounds <= tools, "{tools} in {interval_s} s");
        }
    }
}
