//! The plugin's contribution to `/api/stats`.

use crate::{Hello, store};
use plugin_api::{
    HostError, PluginContext,
    point::{Counters, NoInput},
};

pub async fn count_guests(cx: PluginContext<Hello>, _: NoInput) -> Result<Counters, HostError> {
    let guests = store::GUESTS.count(&cx.db()).await?;
    let stats = [("guests".to_owned(), guests.into())].into_iter().collect();
    Ok(Counters { stats, ..Counters::default() })
}
