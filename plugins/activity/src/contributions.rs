//! Contributions of the plugin activity to extension points. The frames of the stream are in `topic.rs`.

use crate::{Activity, store::presence};
use plugin_api::{HostError, PluginContext, point};

pub async fn counters(cx: PluginContext<Activity>, _: point::NoInput) -> Result<point::Counters, HostError> {
    let online = presence::online(cx.now_s()).count(&cx.db()).await?;
    Ok(point::Counters::manifest([("onlineNow", online.into())]))
}
