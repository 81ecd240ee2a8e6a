//! From rows of the log to what readers get: addresses become authors here, at read time, with one question for all.

use crate::model::{self, ActivityEvent};
use plugin_api::{HostError, HostHandle, manifest::ActivityRow};

pub async fn events(host: &HostHandle, rows: Vec<ActivityRow>) -> Result<Vec<ActivityEvent>, HostError> {
    let authors = host.authors(rows.iter().flat_map(model::addresses)).await?;
    Ok(rows.into_iter().map(|row| ActivityEvent::new(row, |address| authors.get(address))).collect())
}
