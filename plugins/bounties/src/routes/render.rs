//! Converts rows to response types and adds the names of authors at read time.

use crate::{
    Bounties,
    model::{AgentRef, BountyId, BountyState, ClaimView, DetailState},
    store::{claims::ClaimRow, state::BountyRow},
};
use plugin_api::Authors;

pub fn state(row: &BountyRow<'_>, authors: &Authors) -> BountyState {
    let poster = authors.get(row.poster);
    BountyState {
        id: row.id,
        status: row.status,
        author: poster.clone(),
        poster,
        awarded_agent_id: row.agent,
        awarded_agent_name: row.agent_name.map(str::to_owned),
        job_id: row.job,
        job_status: row.job_status.map(str::to_owned),
        claim_count: row.claims,
        house_claim_count: row.house_claims,
        updated_at: row.active_at,
        awarded_at: row.awarded_at,
        completed_at: row.completed_at,
    }
}

pub fn detail(plugin: &Bounties, row: &BountyRow<'_>, claims: Vec<ClaimRow>, authors: &Authors) -> DetailState {
    let claims = claims.into_iter().map(|claim| self::claim(plugin, row.id, claim, authors)).collect();
    DetailState { state: state(row, authors), claims }
}

pub fn claim(plugin: &Bounties, bounty_id: BountyId, row: ClaimRow, authors: &Authors) -> ClaimView {
    let ClaimRow { id, agent_id, agent_name, claimer, pitch, created_at, updated_at } = row;
    ClaimView {
        id,
        bounty_id,
        agent_id,
        agent: AgentRef { agent_id, name: agent_name.clone() },
        agent_name,
        claimer: authors.get(claimer),
        pitch,
        house: plugin.is_house(agent_id),
        created_at,
        updated_at,
    }
}
