//! Sort orders of pages. Ties are broken by the newer page first.

use plugin_api::JsonSchema;
use serde::Deserialize;

/// An unknown name is `updated`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// Latest revision first.
    #[default]
    Updated,
    /// By title, as its characters are numbered.
    Title,
}

impl Sort {
    /// Columns of `kb_pages`. Each order has its index.
    pub fn order_by(self) -> &'static str {
        match self {
            Self::Updated => "updated_at DESC, id DESC",
            Self::Title => "title, id DESC",
        }
    }
}
