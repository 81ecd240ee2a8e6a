//! The gateway in trouble: killed in the middle of writes, without its database, without room on the disk.
//!
//! The rule that is proved here: who was answered 2xx finds the write exactly once, whatever happened; who was not finds it
//! whole or not at all, and may send the same request again.

mod away;
mod disk_full;
mod kill;
mod ledger;
mod load;
mod stored;

pub use disk_full::SmallDisk;
pub use ledger::{Dice, Ledger, Outcome, Write};
pub use load::{Load, send};
pub use stored::{Stored, execute, query};

use gateway_tests::{plugins::plugin_file, process::Setup};

/// Forum and activity log alone, from a folder without anything else: a gateway that starts quickly. An interval of 1 ms uses the slots of addresses, and
/// hardly ever refuses.
pub fn small_setup() -> Setup {
    let setup = crate::e2e::setup();
    let folder = setup.folder().join("plugins");
    std::fs::create_dir(&folder).unwrap();
    for plugin in ["forum", "activity", "hello"] {
        let file = plugin_file(plugin).unwrap();
        std::os::unix::fs::symlink(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
    setup
        .set("plugins.dir", folder.display())
        .set("plugins.default_enabled", false)
        .set("plugins.forum.enabled", true)
        .set("plugins.activity.enabled", true)
        .set("limits.write_interval_ms", 1)
}
