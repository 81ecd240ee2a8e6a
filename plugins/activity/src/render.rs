//! Converts rows of the log to events: resolves all addresses to authors at read time, with one lookup.

use crate::model::{self, ActivityEvent};
use plugin_api::{HostError, HostHandle, manifest::ActivityRow};

pub async fn events(host: &HostHandle, rows: Vec<ActivityRow>) -> Result<Vec<ActivityEvent>, HostError> {
    let authors = host.authors(rows.iter().flat_map(model::addresses)).await?;
    Ok(rows.into_iter().map(|row| ActivityEvent::new(row, |address| authors.get(address))).collect())
}
