//! What an owner may do in a minute and in a day, counted on all gateways.

use crate::model::DAY_S;
use plugin_api::counter::Counter;

const TABLE: &str = "webhooks_counters";
pub const TESTS: Counter = Counter::new(TABLE, "tests", 60);
/// Deliveries.
pub const REPLAYS: Counter = Counter::new(TABLE, "replays", DAY_S);
