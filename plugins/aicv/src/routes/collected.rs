//! What plugins and the chain say about an agent at one block.
//!
//! The rule: an index commits its rows together with its position. Positions are read before and after everything else; where a position
//! is the same both times, and the same for all, all that the chain tells was read as of that one block. Otherwise it is read again.

use crate::{
    Aicv,
    error::CvError,
    model::{Agent, AgentName, GET_AGENT, RegistryState},
    store::{
        agents,
        positions::{self, Position},
    },
};
use plugin_api::{
    AgentId, HandlerError, HostError, HostErrorCode, RequestContext,
    chain::{ContractCall, MAIN},
    point::{CV_CLAIMS, CvClaimsInput, CvRecord},
};
use std::{collections::BTreeMap, time::Duration};

/// How long indexes may be apart before those that are behind are left out.
const PATIENCE_MS: i64 = 2_000;
const PAUSE: Duration = Duration::from_millis(50);
/// Claims of one kind in a record.
pub const CLAIMS_MAX: u32 = 1_000;
/// Plugins without which nothing can be said.
const NEEDED: [&str; 2] = ["agents", "audit"];
const RETRY_S: u32 = 2;

/// All of it, as of one block.
pub struct Collected {
    pub agent: Agent,
    pub state: RegistryState,
    pub position: Position,
    /// By plugin.
    pub records: Vec<(String, CvRecord)>,
    /// What is left out, because the plugin's index is behind.
    pub behind: Vec<(String, CvRecord)>,
}

impl Collected {
    pub async fn read(cx: &RequestContext<Aicv>, agent: AgentId) -> Result<Self, HandlerError<CvError>> {
        let deadline_ms = cx.now_ms() + PATIENCE_MS;
        loop {
            let is_last = cx.now_ms() >= deadline_ms;
            if let Some(collected) = attempt(cx, agent, is_last).await? {
                return Ok(collected);
            }
            if is_last {
                return Err(CvError::Indexing { seconds: RETRY_S }.into());
            }
            cx.sleep(PAUSE).await;
        }
    }
}

/// `None` when positions differ, or moved meanwhile.
async fn attempt(
    cx: &RequestContext<Aicv>,
    id: AgentId,
    leaves_out: bool,
) -> Result<Option<Collected>, HandlerError<CvError>> {
    let before = positions::read(&cx.db()).await?;
    let Some(position) = reference(&before) else { return Ok(None) };
    let unknown = || CvError::UnknownAgent(id.to_string());
    let agent = agents::find(&cx.db(), &AgentName::Id(id)).await?.ok_or_else(unknown)?;
    let input = CvClaimsInput { agent_id: id, owner: agent.owner, claims_max: CLAIMS_MAX };
    let contributed = cx.collect(CV_CLAIMS, &input).await?;
    let Some(state) = read_state(cx, id, position).await? else { return Ok(None) };
    let after = positions::read(&cx.db()).await?;
    let is_at = |plugin: &str| {
        let own = (before.get(plugin), after.get(plugin));
        own == (Some(&position), Some(&position)) || own == (None, None)
    };
    let own = NEEDED.into_iter().chain(["aicv"]);
    if !own.into_iter().all(is_at) {
        return Ok(None);
    }
    let (records, behind): (Vec<_>, Vec<_>) = contributed.into_iter().partition(|(plugin, _)| is_at(plugin));
    let is_whole = behind.is_empty() || leaves_out;
    Ok(is_whole.then_some(Collected { agent, state, position, records, behind }))
}

/// Where the index of agents is, if the audit's is there as well.
fn reference(positions: &BTreeMap<String, Position>) -> Option<Position> {
    let [agents, audit] = NEEDED.map(|plugin| positions.get(plugin).copied());
    agents.filter(|_| agents == audit)
}

/// The registry's answer about the agent in the state of that block; `None` when the block is on another branch now.
async fn read_state(
    cx: &RequestContext<Aicv>,
    agent: AgentId,
    position: Position,
) -> Result<Option<RegistryState>, HandlerError<CvError>> {
    let unreadable = |error: HostError| {
        cx.warn(&format!("the state of agent {agent} at block {}: {}", position.block, error.message));
        CvError::Unreadable { seconds: RETRY_S }
    };
    let unknown = || HostError::new(HostErrorCode::Disabled, "no registry is configured");
    let registry = cx.environment().contract("registry").ok_or_else(unknown).map_err(unreadable)?;
    let number = u64::try_from(position.block).unwrap_or_default();
    let call = ContractCall::new(registry, GET_AGENT).arg(agent).map_err(unreadable)?;
    let chain = cx.chain(MAIN);
    let mut answers = chain.calls::<RegistryState>(vec![call], Some(number)).await.map_err(unreadable)?;
    let state = answers.pop().transpose().map_err(unreadable)?;
    let block = chain.block(number).await.map_err(unreadable)?;
    Ok(state.filter(|_| block.is_some_and(|block| block.hash == position.hash)))
}
