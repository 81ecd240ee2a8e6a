//! The memory's tables. Migrations create them; no other code writes them.

pub mod agents;
pub mod anchors;
pub mod batches;
pub mod credits;
pub mod drafts;
pub mod heads;
pub mod limits;
pub mod record;
pub mod records;
pub mod resealing;
pub mod sealed;
pub mod values;
