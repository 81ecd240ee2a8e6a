//! Types and rules of events, presence and the leaderboard, without a database: limits, ranking, response types.

mod event;
mod leaderboard;
mod presence;

pub use event::{ActivityEvent, type_filter};
pub use leaderboard::{LeaderboardEntry, WEIGHTS, Weights, rank};
pub use presence::{IDLE_S, NewPing, Pinged, PresenceView, TTL_S};
