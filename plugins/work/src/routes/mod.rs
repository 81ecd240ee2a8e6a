//! One file per route, named after its operation.

pub mod list_work;
pub mod stream_work;

use crate::{
    Work,
    model::{Filter, Terms},
    store,
};
use plugin_api::{Context, HostError};

/// An agent that looks for work and names no words is served by its own.
async fn with_words_of_agent(cx: &Context<Work>, filter: &mut Filter) -> Result<(), HostError> {
    if let Some(agent) = filter.agent
        && filter.terms.words().is_empty()
    {
        filter.terms = Terms::of(&store::words_of(&cx.db(), agent).await?);
    }
    Ok(())
}
