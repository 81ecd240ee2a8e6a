//! The views that the gateway itself publishes.

pub fn views() -> Vec<String> {
    vec![gateway_activity::VIEW.to_owned(), gateway_indexer::POSITIONS_VIEW.to_owned()]
}
