//! Which bounties a query selects, and in which order.

use crate::model::{BountyId, Status};
use plugin_api::{Address, JsonSchema, Search, SearchIndex, Sql, handles::Bind, sql};
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

const SEARCHED: SearchIndex = SearchIndex::new("bounties_bounties", &["title", "brief"]);

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
    /// Whether it selects by nothing but status and tag.
    pub fn is_unfiltered(&self) -> bool {
        self.search.is_none() && self.poster.is_none() && self.only.is_none() && self.due_after_s.is_none()
    }

    /// Conditions on `bounties_bounties b`, without the one on the status.
    pub fn conditions(&self) -> Vec<Sql> {
        let conditions = [
            ("b.id = {}", self.only.map(Bind::into_value)),
            ("b.id IN (SELECT bounty_id FROM bounties_tags WHERE tag = {})", self.tag.as_deref().map(Bind::into_value)),
            ("b.poster = {}", self.poster.map(Bind::into_value)),
            ("b.deadline_order > {}", self.due_after_s.map(Bind::into_value)),
        ];
        let given = conditions.into_iter().filter_map(|(text, value)| Some(sql("").push_bind(text, value?)));
        let found = self.search.iter().map(|search| sql("b.id IN (").push_sql(SEARCHED.select("id", search)).push(")"));
        found.chain(given).collect()
    }
}
