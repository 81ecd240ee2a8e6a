//! Which bounties a query selects, and in which order.

use crate::model::{BountyId, Status};
use plugin_api::{Address, Bind, JsonSchema, Search, Sql};
use serde::Deserialize;

#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub sort: Sort,
    pub status: Option<Status>,
    /// Searched in title and brief.
    pub search: Option<Search>,
    /// Normalised as in storage: trimmed, lower case.
    pub tag: Option<String>,
    pub poster: Option<Address>,
    /// Only the bounty with this id.
    pub only: Option<BountyId>,
    /// Open to claims at this second: without a deadline, or with a later one.
    pub due_after_s: Option<i64>,
}

/// Ties are broken by the newer bounty first. An unknown name is `new`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// Posted last.
    #[default]
    New,
    /// The highest reward.
    Reward,
    /// The next deadline; those without one at the end.
    Deadline,
    /// Where something happened last.
    Active,
}

impl Sort {
    /// Columns of a bounty with its state.
    pub fn order_by(self) -> &'static str {
        match self {
            Self::New => "created_at DESC, id DESC",
            Self::Reward => "reward DESC, id DESC",
            Self::Deadline => "deadline_order, id DESC",
            Self::Active => "active_at DESC, id DESC",
        }
    }
}

impl Selection {
    /// Whether filters and order use stored columns only.
    pub fn is_stored(&self) -> bool {
        self.status.is_none() && self.sort != Sort::Active
    }

    /// Appends `WHERE …` on `bounties_bounties b`, without the status.
    pub fn push_conditions(&self, statement: Sql) -> Sql {
        let search = self.search.as_ref();
        let contains = search
            .map(|search| format!("({} OR {})", search.condition("b.title", "{}"), search.condition("b.brief", "{}")));
        let conditions = [
            ("b.id = {}", self.only.map(Bind::into_value)),
            (contains.as_deref().unwrap_or_default(), search.map(|search| search.needle().into_value())),
            ("b.id IN (SELECT bounty_id FROM bounties_tags WHERE tag = {})", self.tag.as_deref().map(Bind::into_value)),
            ("b.poster = {}", self.poster.map(Bind::into_value)),
            ("b.deadline_order > {}", self.due_after_s.map(Bind::into_value)),
        ];
        let given = conditions.into_iter().filter_map(|(text, value)| Some((text, value?)));
        let words = std::iter::once("WHERE").chain(std::iter::repeat("AND"));
        words
            .zip(given)
            .fold(statement, |statement, (word, (text, value))| statement.push_bind(&format!(" {word} {text}"), value))
    }
}
