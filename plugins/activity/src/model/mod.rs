//! What an event and a presence look like, without a database: filters, positions, limits, the shapes on the wire.

mod event;
mod leaderboard;
mod presence;
mod type_filter;

pub use event::{ActivityEvent, addresses};
pub use leaderboard::{LeaderboardEntry, MONTH_S, Ranked, WEIGHTS, Weights, rank};
pub use presence::{IDLE_S, NewPing, Pinged, PresenceView, STATUS_CHARS_MAX, TTL_S, online_since};
pub use type_filter::TypeFilter;
