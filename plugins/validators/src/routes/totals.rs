//! The public numbers of the waitlist, without addresses and contacts.

use crate::{Validators, model, store};
use plugin_api::{HostError, JsonSchema, RequestContext};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Entries.
    total: i64,
    /// Seats that they ask for.
    seats: i64,
    /// Entries by platform.
    by_platform: BTreeMap<&'static str, i64>,
    /// Entries that their address signed.
    verified: i64,
    /// What the programme is to be.
    programme: &'static str,
    /// Where people read more; null where nobody serves pages.
    page: Option<String>,
}

const PROGRAMME: &str = "In development, there is no deposit contract yet. Planned: a deposit of 2,000 FMX for a seat; a node that \
     checks every block and signs a checkpoint about every 23 minutes; about 1.5 FMX a day for a seat.";

pub async fn read(cx: &RequestContext<Validators>) -> Result<Totals, HostError> {
    let counts = store::count_by_platform(&cx.db()).await?;
    let sum = |of: fn(&store::PlatformCount) -> i64| counts.iter().map(of).sum();
    let of = |platform| counts.iter().find(|count| count.platform == platform).map_or(0, |count| count.entries);
    let platforms = [model::Platform::Windows, model::Platform::Linux, model::Platform::Both];
    Ok(Totals {
        total: sum(|count| count.entries),
        seats: sum(|count| count.seats),
        by_platform: platforms.map(|platform| (platform.name(), of(platform))).into(),
        verified: sum(|count| count.verified),
        programme: PROGRAMME,
        page: cx.environment().web_url.as_ref().map(|web_url| format!("{web_url}/validators")),
    })
}
