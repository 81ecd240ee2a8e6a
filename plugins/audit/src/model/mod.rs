//! Types and rules of logs and exports, without a database.

mod canonical;
mod contracts;
mod export;
mod line;
mod next;
mod query;
mod running;
mod tree;
mod watched_event;

pub use contracts::EVENTS;
pub use export::{Draft, Export, ExportSources, Footer};
pub use line::{Common, strings_for_integers};
pub use query::{ExportQuery, ExportRequest};
pub use running::RunningExports;
pub use watched_event::{LogMentions, WatchedEvent, lower_case};

/// The role of the key that signs.
pub const ROLE: &str = "gateway";
/// Lines of an export, and of one in which each line has a signature.
pub const LINES_MAX: u32 = 1000;
pub const SIGNED_LINES_MAX: u32 = 250;
