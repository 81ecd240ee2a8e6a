//! What a load test is, without database and chain.

mod branch;
mod day;
mod kind;
mod marker;
mod stats;
mod view;

pub use branch::{Branch, PATH};
pub use day::{DAY_S, HOUR_S, date};
pub use kind::{Kind, Tally};
pub use marker::Marker;
pub use stats::{
    Counters, Explorer, Float, Gas, NotStarted, Rates, RunnerState, SCHEMA, Started, Stats, StatsDerivation, Wallets,
};
pub use view::{
    ADDRESS, AddressView, Addresses, Derivation, Disclosure, Limits, MANIFEST, Membership, Operator, Organic, Role,
    STATS, Seen,
};
