//! Sort orders of threads. Ties are broken by the newer thread first.

use plugin_api::JsonSchema;
use serde::Deserialize;

/// An unknown name is `active`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// Latest post first.
    #[default]
    Active,
    /// Latest thread first.
    New,
    /// Most votes, then most posts, then latest post.
    Top,
}

impl Sort {
    /// Columns of `forum_threads`, alias `t`. Each order has its index.
    pub fn order_by(self) -> &'static str {
        match self {
            Self::Active => "t.last_post_at DESC, t.id DESC",
            Self::New => "t.created_at DESC, t.id DESC",
            Self::Top => "t.upvotes DESC, t.post_count DESC, t.last_post_at DESC, t.id DESC",
        }
    }
}
