//! One file per route, named after its operation.

pub mod list_work;
pub mod stream_work;

use crate::{
    Work,
    model::{FilterView, search_terms},
    store,
};
use plugin_api::{HostError, RequestContext, stream::LabelTest};
use std::collections::BTreeMap;

/// What the labels of work must pass. Without search terms, an agent's own words become the terms.
async fn tests_of(cx: &RequestContext<Work>, filter: &FilterView) -> Result<BTreeMap<String, LabelTest>, HostError> {
    let mut terms = search_terms(filter.capability.as_deref().unwrap_or_default());
    if let Some(agent) = filter.agent_id
        && terms.is_empty()
    {
        terms = search_terms(&store::agents::words_of(&cx.db(), agent).await?);
    }
    Ok(filter.tests(terms))
}
