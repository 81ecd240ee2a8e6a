//! Contributions of the plugin activity to extension points. The frames of the stream are in `topic.rs`.

use crate::{Activity, store::presence};
use plugin_api::{
    HostError, PluginContext,
    point::{Counters, NoInput, members},
};

pub async fn counters(cx: PluginContext<Activity>, _: NoInput) -> Result<Counters, HostError> {
    let online = presence::online(cx.now_s()).count(&cx.db()).await?;
    Ok(Counters { manifest: members([("onlineNow", online.into())]), ..Counters::default() })
}
