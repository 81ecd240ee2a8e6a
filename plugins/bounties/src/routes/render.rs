//! Converts rows to response types.

use crate::{
    Bounties,
    model::{AgentRef, BountyDetail, BountyId, BountyState, ClaimView, DetailState},
    store::claims::ClaimRow,
};
use plugin_api::{HostError, RenderedJson};

pub fn detail(
    plugin: &Bounties,
    state: BountyState<'_>,
    claims: Vec<ClaimRow>,
) -> Result<RenderedJson<BountyDetail<'static>>, HostError> {
    let claims = claims.into_iter().map(|row| claim(plugin, state.id, row)).collect();
    RenderedJson::object(state.kept, &DetailState { state, claims })
}

pub fn claim(plugin: &Bounties, bounty_id: BountyId, row: ClaimRow) -> ClaimView {
    let ClaimRow { id, agent_id, agent_name, claimer, pitch, created_at, updated_at } = row;
    let agent = AgentRef { agent_id, name: agent_name.clone() };
    let house = plugin.config.house_agents.contains(&agent_id.0);
    ClaimView { id, bounty_id, agent_id, agent_name, agent, claimer, pitch, house, created_at, updated_at }
}
