//! What a picture shows: the largest edges, as far as their ends are few enough.

use crate::model::{Edge, Kind};
use plugin_api::{Address, AgentId, Wei};
use serde::Serialize;
use std::{cmp::Reverse, collections::BTreeMap};

/// Agents and clients in the picture.
pub const NODES_MAX: usize = 500;

/// An agent, or an address that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Party {
    Agent(i64),
    Client(Address),
}

#[derive(Clone, Debug, Serialize)]
pub struct Node {
    pub party: Party,
    /// As the agent calls itself; of a client its address.
    pub name: String,
    pub is_active: bool,
    pub hired: usize,
    pub hired_by: usize,
}

/// An edge between two nodes, by their places in the list.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Arc {
    pub kind: Kind,
    pub from: usize,
    pub to: usize,
    pub volume: Wei,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Graph {
    /// Those with the most edges first.
    pub nodes: Vec<Node>,
    pub arcs: Vec<Arc>,
    /// All edges of the network.
    pub total: i64,
}

impl Graph {
    /// `edges` with the largest volume first; `agents` has name and whether it is active. An edge whose ends have no place left, or whose
    /// agents are not known, is left out.
    pub fn new(edges: &[Edge], agents: &BTreeMap<AgentId, (String, bool)>, total: i64) -> Self {
        let mut degrees: BTreeMap<Party, (usize, usize)> = BTreeMap::new();
        let mut shown = Vec::new();
        for edge in edges {
            let from = edge.ends.from_agent.map_or(Party::Client(edge.ends.from), |AgentId(id)| Party::Agent(id));
            let to = Party::Agent(edge.ends.to_agent.0);
            let is_known = |party: &Party| !matches!(party, Party::Agent(id) if !agents.contains_key(&AgentId(*id)));
            let new = usize::from(!degrees.contains_key(&from)) + usize::from(from != to && !degrees.contains_key(&to));
            if !is_known(&from) || !is_known(&to) || degrees.len() + new > NODES_MAX {
                continue;
            }
            degrees.entry(from).or_default().0 += 1;
            degrees.entry(to).or_default().1 += 1;
            shown.push((edge, from, to));
        }
        let mut parties: Vec<(Party, (usize, usize))> = degrees.into_iter().collect();
        parties.sort_by_key(|(party, (hired, hired_by))| (Reverse(hired + hired_by), *party));
        let places: BTreeMap<Party, usize> =
            parties.iter().enumerate().map(|(place, (party, _))| (*party, place)).collect();
        let arc = |(edge, from, to): (&Edge, Party, Party)| {
            let (from, to) = (*places.get(&from)?, *places.get(&to)?);
            Some(Arc { kind: edge.ends.kind, from, to, volume: edge.sums.volume })
        };
        let node = |(party, (hired, hired_by)): (Party, (usize, usize))| {
            let (name, is_active) = match party {
                Party::Agent(id) => agents.get(&AgentId(id)).cloned().unwrap_or_default(),
                Party::Client(address) => (address.to_string(), true),
            };
            Node { party, name, is_active, hired, hired_by }
        };
        Self {
            arcs: shown.into_iter().filter_map(arc).collect(),
            nodes: parties.into_iter().map(node).collect(),
            total,
        }
    }
}
