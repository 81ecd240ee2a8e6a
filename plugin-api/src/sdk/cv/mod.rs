//! Claims about an agent for its credential: what the plugin that owns the facts states, and where the evidence is.
//!
//! The plugin `aicv` collects them, checks each one and signs what is left. So a claim says little about its evidence: it names a
//! log, and `aicv` reads that log itself.

mod shape;
mod size;

pub use size::json_bytes;

use super::{
    AgentId, Hash256,
    point::{CV_CLAIMS, Point, members},
};
use crate::sdk::Address;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// [`CV_CLAIMS`] for the gateway, which compares contributions and reads none.
pub const CV_CLAIMS_SHAPE: Point<CvClaimsInput, shape::CvRecordShape> = Point::new(CV_CLAIMS.name());

/// Whose credential it is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CvClaimsInput {
    pub agent_id: AgentId,
    /// The agent's owner today.
    pub owner: Address,
    /// How many claims of one kind to state at most, where the specification sets no lower number.
    pub claims_max: u32,
}

/// What a plugin knows of the agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct CvRecord {
    /// Kinds of claims that the plugin states whenever there is something to state.
    pub covers: Vec<String>,
    pub claims: Vec<CvClaim>,
    /// How many more facts there are than claims, by kind.
    pub left_out: BTreeMap<String, u64>,
    /// Claims that are too large, by kind: see [`Self::within_bounds`].
    pub too_large: BTreeMap<String, u64>,
    /// Members of the credential's summary.
    pub summary: Map<String, Value>,
    /// Types of activity that this plugin publishes and that are contributions to the commons: `aicv` counts the events.
    pub activity_types: Vec<String>,
}

impl CvRecord {
    /// Of a plugin that states nothing itself: its events count as contributions to the commons.
    pub fn of_activity(types: &[&str]) -> Self {
        Self { activity_types: types.iter().map(ToString::to_string).collect(), ..Self::default() }
    }

    /// How many facts are left out of these kinds: of each the number of all facts, and of those that are stated.
    ///
    /// ```
    /// use plugin_api::point::CvRecord;
    ///
    /// assert_eq!(CvRecord::left_out([("EscrowJob", 70, 50)]).get("EscrowJob"), Some(&20));
    /// ```
    pub fn left_out<const N: usize>(kinds: [(&str, i64, usize); N]) -> BTreeMap<String, u64> {
        let more = |total: i64, stated: usize| u64::try_from(total).unwrap_or_default().saturating_sub(stated as u64);
        kinds.map(|(kind, total, stated)| (kind.to_owned(), more(total, stated))).into()
    }

    /// Without claims that are larger than [`CvClaim::BYTES_MAX`], and without those for which the contribution has no room: a text that
    /// somebody wrote to the chain costs its own claim, and not the contribution.
    #[must_use]
    pub fn within_bounds(mut self) -> Self {
        let (mut room, too_large) = (RECORD_BYTES_MAX, &mut self.too_large);
        self.claims.retain(|claim| {
            let bytes = claim.bytes();
            // The members are a part of the whole.
            let is_small = bytes <= CvClaim::BYTES_MAX || claim.members_bytes() <= CvClaim::BYTES_MAX;
            let rest = room.checked_sub(bytes).filter(|_| is_small);
            if rest.is_none() {
                *too_large.entry(claim.kind.clone()).or_default() += 1;
            }
            room = rest.unwrap_or(room);
            rest.is_some()
        });
        self
    }
}

/// Of all claims of a contribution: the gateway takes 4 MiB.
const RECORD_BYTES_MAX: usize = 3 * 1024 * 1024;

/// One claim.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CvClaim {
    /// A kind of the vocabulary, for example `EscrowJob`.
    pub kind: String,
    /// Behind `fmx:<agentId>:` in the claim's id, for example `job:7`.
    pub id: String,
    /// Unix seconds.
    pub stated_at: Option<i64>,
    /// The members of its kind. One that the log tells may be left out: `aicv` fills it in. One that is stated must equal the log.
    pub fields: Map<String, Value>,
    /// Events of the chain that prove it, the deciding one first. Without any it is an assertion of the gateway, or of the agent.
    pub logs: Vec<CvLog>,
    /// Of an assertion: the route or URL that it comes from.
    pub source: Option<String>,
    /// Of an assertion: what it rests on.
    pub note: Option<String>,
}

impl CvClaim {
    /// Without time and evidence.
    ///
    /// ```
    /// use plugin_api::{Hash256, point::{CvClaim, CvLog}};
    ///
    /// fn deposit(id: i64, amount: &str, at_s: i64, tx: Hash256) -> CvClaim {
    ///     let claim = CvClaim::new("Deposit", format!("deposit:{id}"), [("amountWei", amount.into())]);
    ///     claim.stated(at_s).proved_by([CvLog::new("bank", "Deposited", tx)])
    /// }
    /// ```
    pub fn new<const N: usize>(kind: &str, id: impl Into<String>, fields: [(&str, Value); N]) -> Self {
        let (kind, id, fields) = (kind.to_owned(), id.into(), members(fields));
        Self { kind, id, stated_at: None, fields, logs: Vec::new(), source: None, note: None }
    }

    /// Unix seconds.
    pub fn stated(self, at_s: i64) -> Self {
        Self { stated_at: Some(at_s), ..self }
    }

    /// The deciding event first.
    pub fn proved_by(self, logs: impl IntoIterator<Item = CvLog>) -> Self {
        Self { logs: logs.into_iter().collect(), ..self }
    }

    /// An assertion: the route or URL that it comes from, and what it rests on.
    pub fn asserted(self, source: impl Into<String>, note: impl Into<String>) -> Self {
        Self { source: Some(source.into()), note: Some(note.into()), ..self }
    }

    /// Of the members of one claim, with source and note: `aicv` signs no larger one. Texts of the chain have no bound of their own.
    pub const BYTES_MAX: usize = 8192;

    /// What [`Self::BYTES_MAX`] is about.
    pub fn members_bytes(&self) -> usize {
        let texts = [&self.source, &self.note].into_iter().flatten().map(String::len);
        texts.fold(json_bytes(&self.fields), usize::saturating_add)
    }
}

/// An event of a configured contract.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CvLog {
    /// The contract's key in the configuration, for example `escrow`.
    pub contract: String,
    /// The event's name.
    pub event: String,
    /// Without it, the event is looked for among those that name the agent.
    pub tx: Option<Hash256>,
}

impl CvLog {
    pub fn new(contract: &str, event: &str, tx: impl Into<Option<Hash256>>) -> Self {
        Self { contract: contract.to_owned(), event: event.to_owned(), tx: tx.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(id: usize, text_bytes: usize) -> CvClaim {
        CvClaim::new("Feedback", format!("feedback:{id}"), [("tag1", "x".repeat(text_bytes).into())])
    }

    #[test]
    fn a_large_claim_costs_itself_and_many_cost_the_last() {
        let record = CvRecord { claims: vec![claim(1, 90_000), claim(2, 10)], ..CvRecord::default() }.within_bounds();
        let ids: Vec<&str> = record.claims.iter().map(|claim| claim.id.as_str()).collect();
        assert_eq!((ids, record.too_large.get("Feedback")), (vec!["feedback:2"], Some(&1)));
        let many =
            CvRecord { claims: (0..1000).map(|id| claim(id, 8000)).collect(), ..CvRecord::default() }.within_bounds();
        let bytes = serde_json::to_vec(&many).map_or(0, |bytes| bytes.len());
        assert!(bytes < 4 * 1024 * 1024 && many.claims.len() > 300, "{bytes} {}", many.claims.len());
        assert_eq!(many.claims.len() as u64 + many.too_large.get("Feedback").copied().unwrap_or_default(), 1000);
    }
}
