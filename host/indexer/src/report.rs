//! The state of one index for operators and `/api/status`. The rule: an index is ok when it keeps up with the head, not
//! when its task runs.

use gateway_config::MAIN;
use serde::{Deserialize, Serialize};

/// An index with a larger lag does not keep up.
pub(crate) const LAG_BLOCKS_MAX: u64 = 30;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// The plugin is off, no chain is configured, or none of the plugin's contracts is deployed.
    #[default]
    Off,
    /// Reading blocks far below the head.
    Backfilling,
    /// At the head, or a few blocks behind.
    Following,
    /// Another gateway on this database holds the lease.
    Elsewhere,
    /// The last tick failed; the index tries again.
    Failing,
    /// The index waits for an operator.
    Stopped,
}

impl IndexState {
    /// As on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Backfilling => "backfilling",
            Self::Following => "following",
            Self::Elsewhere => "elsewhere",
            Self::Failing => "failing",
            Self::Stopped => "stopped",
        }
    }
}

/// One index, for the operator and for status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexReport {
    pub plugin: String,
    pub chain: String,
    pub state: IndexState,
    /// Why it is not following.
    pub reason: Option<String>,
    pub start_block: Option<u64>,
    /// The last block whose events are in the tables.
    pub indexed_block: Option<u64>,
    pub head: Option<u64>,
    pub lag_blocks: Option<u64>,
    /// Events since this gateway started.
    pub events: u64,
    pub blocks_per_s: u64,
    /// Seconds until it reaches the head, at the present rate.
    pub left_s: Option<u64>,
}

impl IndexReport {
    /// For a person: the plugin, with the chain unless it is the main one.
    pub(super) fn name(&self) -> String {
        match self.chain.as_str() {
            MAIN | "" => self.plugin.clone(),
            chain => format!("{} on {chain}", self.plugin),
        }
    }

    /// Measures the lag against this head, or against the last one that the index saw.
    pub(super) fn update_lag(&mut self, head: Option<u64>) {
        self.head = head.or(self.head);
        let indexed = self.indexed_block.or(self.start_block);
        self.lag_blocks = self.head.zip(indexed).map(|(head, indexed)| head.saturating_sub(indexed));
    }

    /// Whether it reads the chain, or will: an index that has no reason for being off has not begun yet.
    pub(super) fn is_running(&self) -> bool {
        match self.state {
            IndexState::Off => self.reason.is_none(),
            IndexState::Stopped => false,
            IndexState::Backfilling | IndexState::Following | IndexState::Elsewhere | IndexState::Failing => true,
        }
    }

    pub(super) fn is_ok(&self) -> bool {
        let is_reading = matches!(self.state, IndexState::Backfilling | IndexState::Following | IndexState::Elsewhere);
        is_reading && self.lag_blocks.is_none_or(|lag| lag <= LAG_BLOCKS_MAX)
    }

    /// One line for an operator about an index that is not ok.
    pub(super) fn describe(&self) -> String {
        let (Self { state, reason, lag_blocks, left_s, .. }, plugin) = (self, self.name());
        match (reason, lag_blocks, left_s) {
            (Some(reason), ..) => format!("{plugin} is {}: {reason}", state.name()),
            (None, Some(lag), Some(left)) => format!("{plugin} is {lag} blocks behind, about {left} s to go"),
            (None, Some(lag), None) => format!("{plugin} is {lag} blocks behind"),
            (None, None, _) => format!("{plugin} is {}", state.name()),
        }
    }
}
