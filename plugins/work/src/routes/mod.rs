//! One file per route, named after its operation.

pub mod list_work;
pub mod stream_work;

use crate::{
    Work,
    model::{Filter, Terms},
    store,
};
use plugin_api::{HostError, RequestContext};

/// Without search terms, an agent's own words become the terms.
async fn with_words_of_agent(cx: &RequestContext<Work>, filter: &mut Filter) -> Result<(), HostError> {
    if let Some(agent) = filter.agent
        && filter.terms.words().is_empty()
    {
        filter.terms = Terms::of(&store::words_of(&cx.db(), agent).await?);
    }
    Ok(())
}
