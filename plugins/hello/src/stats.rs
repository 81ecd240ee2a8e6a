//! The plugin's part of `/api/stats`.

use crate::{Hello, store};
use plugin_api::{
    Gateway, HostError,
    point::{Counters, NoInput},
};

pub async fn count_guests(gateway: Gateway<Hello>, _: NoInput) -> Result<Counters, HostError> {
    let guests = store::count_guests(&gateway.db()).await?;
    let stats = [("guests".to_owned(), guests.into())].into_iter().collect();
    Ok(Counters { stats, ..Counters::default() })
}
