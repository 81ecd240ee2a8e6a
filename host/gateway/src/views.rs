//! The views that the gateway itself publishes.

use gateway_activity::{VIEW, VIEW_OF_RETRACTED, VIEW_WITH_RETRACTED};
use gateway_indexer::POSITIONS_VIEW;

/// Those of them that a plugin reads only by its grants.
pub const PRIVATE: [&str; 1] = [VIEW_WITH_RETRACTED];

pub fn views() -> Vec<String> {
    [VIEW, VIEW_WITH_RETRACTED, VIEW_OF_RETRACTED, POSITIONS_VIEW].map(str::to_owned).to_vec()
}
