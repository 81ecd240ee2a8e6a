//! A page that a search found, and its rank.

use crate::model::PageId;
use serde::Deserialize;

/// A matching page.
#[derive(Deserialize)]
pub struct Hit {
    pub id: PageId,
    score: f64,
}

impl Hit {
    /// Lower is better. Nine decimals, in whatever form the database returns them.
    pub fn rank(&self) -> f64 {
        (self.score * 1e9).round() / 1e9
    }
}
