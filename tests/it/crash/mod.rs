//! The gateway killed in the middle of writes, without its database, and without room on the disk.
//!
//! The rule that is tested: a write that got a 2xx is stored exactly once, whatever happened. Any other write is stored
//! completely or not at all, and its client may send the same request again.

mod away;
mod disk_full;
mod kill;
mod ledger;
mod load;
mod stored;

pub use disk_full::SmallDisk;
pub use ledger::{Dice, Ledger, Outcome, Write};
pub use load::{Load, send, status_of};
pub use stored::{StoredRows, execute, expire_leases, query, sequenced};

use gateway_tests::process::Setup;

/// How often `cargo xtask kills` kills.
pub fn many_kills() -> u64 {
    kills_or(300)
}

/// The same, with another number where it does not say one.
fn kills_or(kills: u64) -> u64 {
    std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(kills)
}

/// A gateway with the plugins forum and activity only, which starts quickly. A write interval of 1 ms runs the check of
/// the interval, and hardly ever refuses.
pub fn small_setup() -> Setup {
    let setup = crate::e2e::setup_with_all_plugins().with_only(&["forum", "activity", "hello"]).unwrap();
    setup
        .set("plugins.default_enabled", false)
        .set("plugins.forum.enabled", true)
        .set("plugins.activity.enabled", true)
        .set("limits.write_interval_ms", 1)
}
