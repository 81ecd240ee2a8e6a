//! What a transaction of the load test is for, by who sends it to whom.

use plugin_api::{Address, JsonSchema, Wei, handles::Bind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Bind)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// From the float to a wallet.
    Fund,
    /// From a wallet to another one.
    Transfer,
    /// From a wallet back to the float.
    Sweep,
    /// The same at the end, of what was left in a wallet.
    Final,
    /// From the float to the sink.
    Sink,
}

impl Kind {
    pub const ALL: [Self; 5] = [Self::Fund, Self::Transfer, Self::Sweep, Self::Final, Self::Sink];

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Of a transaction that a labelled address sends; whether it is the end of the test only its runner knows. What goes elsewhere
    /// counts as a transfer: it is the load test's all the same.
    pub fn of(from: Address, to: Option<Address>, float: Option<Address>, sink: Option<Address>) -> Self {
        match to {
            Some(_) if to == sink && sink.is_some() => Self::Sink,
            Some(_) if Some(from) == float => Self::Fund,
            Some(_) if to == float => Self::Sweep,
            _ => Self::Transfer,
        }
    }
}

/// Number and volume of some transactions by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TotalsByKind(pub BTreeMap<Kind, (i64, Wei)>);

impl TotalsByKind {
    pub fn count(&mut self, kind: Kind, value: Wei) {
        self.add(kind, 1, value);
    }

    pub fn add(&mut self, kind: Kind, transactions: i64, volume: Wei) {
        let (count, sum) = self.0.entry(kind).or_default();
        (*count, *sum) = (count.saturating_add(transactions), sum.saturating_add(volume));
    }

    /// Counts a transaction as another kind than before.
    pub fn move_one(&mut self, from: Kind, to: Kind, value: Wei) {
        if let Some((count, sum)) = self.0.get_mut(&from) {
            (*count, *sum) = (count.saturating_sub(1), sum.saturating_sub(value));
            self.add(to, 1, value);
        }
    }

    pub fn transactions(&self) -> i64 {
        self.0.values().map(|(count, _)| *count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_from_sender_and_recipient() {
        let [float, one, two, sink, stranger] = [1, 2, 3, 4, 5].map(|byte| Address([byte; 20]));
        let kind = |from, to| Kind::of(from, to, Some(float), Some(sink));
        assert_eq!(kind(float, Some(one)), Kind::Fund);
        assert_eq!(kind(one, Some(two)), Kind::Transfer);
        assert_eq!(kind(one, Some(float)), Kind::Sweep);
        assert_eq!(kind(float, Some(sink)), Kind::Sink);
        assert_eq!((kind(one, None), kind(one, Some(stranger))), (Kind::Transfer, Kind::Transfer));
        assert_eq!(Kind::of(one, None, None, None), Kind::Transfer);
        assert_eq!(Kind::ALL.map(|kind| Kind::parse(kind.name())), Kind::ALL.map(Some));
    }
}
