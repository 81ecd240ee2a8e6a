//! Contributions to extension points.

use crate::{Hello, store};
use plugin_api::{
    HostError, PluginContext,
    point::{Counters, NoInput, members},
};

/// The member `guests` of `/api/stats`.
pub async fn counters(cx: PluginContext<Hello>, _: NoInput) -> Result<Counters, HostError> {
    let guests = store::GUESTS.count(&cx.db()).await?;
    Ok(Counters { stats: members([("guests", guests.into())]), ..Counters::default() })
}
