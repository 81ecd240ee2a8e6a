//! Converts rows to response types.

use crate::{Bounties, model, store};
use plugin_api::{HostError, RenderedJson};

pub fn detail(
    plugin: &Bounties,
    state: model::BountyState<'_>,
    claims: Vec<store::claims::ClaimRow>,
) -> Result<RenderedJson<model::BountyDetail<'static>>, HostError> {
    let claims = claims.into_iter().map(|row| claim(plugin, state.id, row)).collect();
    RenderedJson::object(state.kept, &model::DetailState { state, claims })
}

pub fn claim(plugin: &Bounties, bounty_id: model::BountyId, row: store::claims::ClaimRow) -> model::ClaimView {
    let store::claims::ClaimRow { id, agent_id, agent_name, claimer, pitch, created_at, updated_at } = row;
    let agent = model::AgentRef { agent_id, name: agent_name.clone() };
    let house = plugin.config.house_agents.contains(&agent_id.0);
    model::ClaimView { id, bounty_id, agent_id, agent_name, agent, claimer, pitch, house, created_at, updated_at }
}
