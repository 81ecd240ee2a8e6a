//! Types and rules of events and presence, without a database: filters, limits, ranking, response types.

mod event;
mod leaderboard;
mod presence;
mod type_filter;

pub use event::{ActivityEvent, addresses};
pub use leaderboard::{LeaderboardEntry, MONTH_S, RankedAddress, WEIGHTS, Weights, rank};
pub use presence::{IDLE_S, NewPing, Pinged, PresenceView, STATUS_CHARS_MAX, TTL_S, online_since};
pub use type_filter::TypeFilter;
