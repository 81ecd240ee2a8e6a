//! The views that the gateway itself publishes.

pub fn views() -> Vec<String> {
    [gateway_activity::VIEW, gateway_activity::VIEW_WITH_RETRACTED, gateway_indexer::POSITIONS_VIEW]
        .map(str::to_owned)
        .to_vec()
}
