//! What a load test is, without database and chain.

mod day;
mod kind;
mod marker;
mod stats;
mod view;
mod wave;

pub use day::{DAY_S, HOUR_S, date};
pub use kind::{Kind, TotalsByKind};
pub use marker::{MARKER, Marker};
pub use stats::{
    Counters, Explorer, Float, Gas, Guards, LastPause, NotStarted, Rates, RunnerState, SCHEMA, SinkTransfer, Started,
    Stats, StatsDerivation, Wallets,
};
pub use view::{
    ADDRESS, AddressView, Addresses, Derivation, Disclosure, Limits, MANIFEST, Membership, Operator, Organic, Role,
    STATS, Seen,
};
pub use wave::{Account, FLOAT, Phase, PlannedTransaction, Wave, apply, funding};

/// Role of the seed of the wallets.
pub const ROLE: &str = "loadtest";
/// Where the wallets are below a seed's root (BIP-44, account 7), with the place of the index.
pub const PATH: &str = "m/44'/60'/7'/0/i";
