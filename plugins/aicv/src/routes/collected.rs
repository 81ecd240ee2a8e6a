//! What plugins and the chain say about an agent at one block.
//!
//! The rule: an index commits its rows together with its position. Positions are read before and after everything else that is read from the
//! database; where a position is the same both times, and the same for all, all that the chain tells was read as of that one block.
//! Otherwise it is read again. What a plugin did not answer is named, and never taken for nothing.

use super::{
    plugins::{self, NEEDED, OWN, Plugins},
    readings::Readings,
    sources::Sources,
};
use crate::{
    Aicv,
    error::CvError,
    model::{GET_AGENT, RegistryState},
    store::positions::{self, Position},
};
use futures_util::future::join;
use plugin_api::{
    Address, AgentId, HandlerError, HostError, RequestContext,
    chain::{ContractCall, MAIN},
    handles::Environment,
    point::CvRecord,
};
use std::{collections::BTreeMap, time::Duration};

/// How long plugins may be apart, or silent, before those are left out.
const PATIENCE_MS: i64 = 2_000;
/// And before there is no document, because it is one without which nothing can be said. Blocks come each second, and on a slow machine all
/// indexes are at one block for a part of it only.
const NEEDED_PATIENCE_MS: i64 = 10_000;
const PAUSE: Duration = Duration::from_millis(50);
/// After one that did not answer: each failure is a fault of the plugin, and many at once pause what all agents need.
const SILENT_PAUSE: Duration = Duration::from_millis(900);
const RETRY_S: u32 = 2;
pub const INDEXING: CvError = CvError::Indexing { seconds: RETRY_S };

/// All of it, as of one block.
pub struct Collected {
    pub readings: Readings,
    pub state: RegistryState,
    pub position: Position,
    /// What is left out, because the plugin's index is at another block.
    pub behind: Vec<(String, CvRecord)>,
    pub plugins: Plugins,
    /// Plugins that state what they derive from the chain.
    pub stating: Vec<String>,
}

/// What a whole record was made of, and as of which block.
#[derive(Debug)]
pub struct Basis {
    pub sources: Sources,
    pub state: RegistryState,
    pub stating: Vec<String>,
    pub position: Position,
}

/// What was read.
pub enum Collection {
    New(Box<(Sources, Collected)>),
    /// All that the basis is made of, at this block. What follows from logs is the same while the basis' block is on the chain.
    Unchanged(Position),
}

impl Collection {
    /// `basis` is that of an earlier record.
    pub async fn read(
        cx: &RequestContext<Aicv>,
        agent: AgentId,
        mut basis: Option<&Basis>,
    ) -> Result<Self, HandlerError<CvError>> {
        let begun_ms = cx.now_ms();
        loop {
            let waited_ms = cx.now_ms() - begun_ms;
            match attempt(cx, agent, waited_ms >= PATIENCE_MS, basis).await? {
                Attempt::Read(read) => return Ok(read),
                Attempt::OtherState => basis = None,
                Attempt::Again(reason, _) if waited_ms >= NEEDED_PATIENCE_MS => return Err(reason.into()),
                Attempt::Again(_, pause) => cx.sleep(pause).await,
            }
        }
    }
}

impl Collected {
    /// Whether no plugin is missing.
    pub fn is_whole(&self) -> bool {
        self.behind.is_empty() && self.plugins.silent.is_empty()
    }
}

enum Attempt {
    Read(Collection),
    /// The registry answers something else than the basis has.
    OtherState,
    /// Why it has to be read again, and after which pause.
    Again(CvError, Duration),
}

async fn attempt(
    cx: &RequestContext<Aicv>,
    agent: AgentId,
    leaves_out: bool,
    basis: Option<&Basis>,
) -> Result<Attempt, HandlerError<CvError>> {
    let (db, environment) = (cx.db(), cx.environment());
    let mut plugins = Plugins::read(cx).await?;
    if let Some(plugin) = NEEDED.into_iter().find(|plugin| plugins.is_off(plugin)) {
        return Err(CvError::Off(plugin).into());
    }
    let registry = environment.contract("registry").ok_or(CvError::NoRegistry)?;
    let before = positions::read(&db).await?;
    // It is read at the beginning of the time in which they are at one block.
    let Some(position) = common(&before, environment, &plugins, leaves_out) else {
        return Ok(Attempt::Again(INDEXING, PAUSE));
    };
    let (sources, records) = Sources::read(cx, agent, &mut plugins, basis.map(|basis| &basis.sources)).await?;
    let is_same = |basis: &&Basis| !leaves_out && plugins.silent.is_empty() && basis.sources == sources;
    let same = basis.filter(is_same);
    let read = match same {
        // The chain is asked about that very block, whatever the indexes do meanwhile.
        None => Some(join(Readings::read(cx, &sources, records), read_state(cx, registry, agent, position)).await),
        Some(_) => None,
    };
    let read = read.map(|(readings, state)| Ok::<_, HostError>((readings?, state))).transpose()?;
    let after = positions::read(&db).await?;
    if let Some(plugin) = NEEDED.into_iter().find(|plugin| plugins.silent.contains(*plugin)) {
        return Ok(Attempt::Again(CvError::Silent { plugin, seconds: RETRY_S }, SILENT_PAUSE));
    }
    let is_at = |plugin: &str| {
        let has_none = !before.contains_key(plugin) && !after.contains_key(plugin);
        let is_there = |positions: &Positions| positions.get(plugin) == Some(&Some(position));
        is_there(&before) && is_there(&after) || has_none && !plugins::follows(environment, plugin)
    };
    let stating = same.map(|basis| basis.stating.as_slice()).unwrap_or_default();
    if !NEEDED.into_iter().chain([OWN]).chain(stating.iter().map(String::as_str)).all(is_at) {
        return Ok(Attempt::Again(INDEXING, PAUSE));
    }
    let Some((mut readings, state)) = read else {
        let state = read_state(cx, registry, agent, position).await?;
        return Ok(match (state, basis) {
            (None, _) => Attempt::Again(INDEXING, PAUSE),
            (Some(state), Some(basis)) if basis.state == state => Attempt::Read(Collection::Unchanged(position)),
            (Some(_), _) => Attempt::OtherState,
        });
    };
    let stating = readings.records.iter().filter(|(_, record)| !states_nothing(record));
    let stating = stating.map(|(plugin, _)| plugin.clone()).collect();
    // Where no fact is stated the index does not matter: events are counted in the gateway's log.
    let is_here = |(plugin, record): &(String, CvRecord)| states_nothing(record) || is_at(plugin);
    let (records, behind): (Vec<_>, Vec<_>) = readings.records.into_iter().partition(is_here);
    readings.records = records;
    let is_whole = behind.is_empty() && plugins.silent.is_empty();
    if !is_whole && !leaves_out {
        return Ok(Attempt::Again(INDEXING, if plugins.silent.is_empty() { PAUSE } else { SILENT_PAUSE }));
    }
    let Some(state) = state? else { return Ok(Attempt::Again(INDEXING, PAUSE)) };
    let collected = Collected { readings, state, position, behind, plugins, stating };
    Ok(Attempt::Read(Collection::New(Box::new((sources, collected)))))
}

type Positions = BTreeMap<String, Option<Position>>;

/// The block of the plugins without which nothing can be said, and of the others while they are waited for.
fn common(positions: &Positions, environment: &Environment, plugins: &Plugins, leaves_out: bool) -> Option<Position> {
    let waited_for = plugins::followers(environment).filter(|plugin| !leaves_out && plugins.serves(plugin));
    let position = positions.get("agents").copied().flatten()?;
    let mut all = NEEDED.into_iter().chain([OWN]).chain(waited_for);
    all.all(|plugin| positions.get(plugin) == Some(&Some(position))).then_some(position)
}

fn states_nothing(record: &CvRecord) -> bool {
    record.covers.is_empty() && record.claims.is_empty() && record.summary.is_empty()
}

/// The registry's answer about the agent in the state of that block; `None` when the block is on another branch now.
async fn read_state(
    cx: &RequestContext<Aicv>,
    registry: Address,
    agent: AgentId,
    position: Position,
) -> Result<Option<RegistryState>, HandlerError<CvError>> {
    let unreadable = |error: HostError| {
        cx.warn(&format!("the state of agent {agent} at block {}: {}", position.block, error.message));
        CvError::Unreadable { seconds: RETRY_S }
    };
    let call = || ContractCall::new(registry, GET_AGENT).arg(agent).map_err(unreadable);
    let chain = cx.chain(MAIN);
    // By its hash, so that a reorganisation makes it fail.
    match chain.calls_at::<RegistryState>(vec![call()?], position.hash).await {
        Ok(None) => return Ok(None),
        Ok(Some(mut answers)) => return Ok(answers.pop().transpose().map_err(unreadable)?),
        // No server answers, or none takes a hash (EIP-1898): of such a one the block is compared after the call.
        Err(_) => {}
    }
    let number = u64::try_from(position.block).unwrap_or_default();
    let mut answers = chain.calls::<RegistryState>(vec![call()?], Some(number)).await.map_err(unreadable)?;
    let state = answers.pop().transpose().map_err(unreadable)?;
    let block = chain.block(number).await.map_err(unreadable)?;
    Ok(state.filter(|_| block.is_some_and(|block| block.hash == position.hash)))
}
