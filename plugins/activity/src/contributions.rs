//! Contributions of the plugin activity to extension points.

use crate::{Activity, model, store::presence};
use plugin_api::{
    HostError, PluginContext,
    point::{Counters, NoInput, members},
};

pub async fn counters(cx: PluginContext<Activity>, _: NoInput) -> Result<Counters, HostError> {
    let online = presence::count(&cx.db(), model::online_since(cx.now_s())).await?;
    Ok(Counters { manifest: members([("onlineNow", online.into())]), ..Counters::default() })
}
