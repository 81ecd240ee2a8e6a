//! The binary interface (ABI) between the gateway and a plugin.
//!
//! The rule that must not break: **a plugin compiled against an older minor version loads in a newer gateway**. Therefore
//! - trait methods are only appended, after the one marked `last_prefix_field`, and with a default body;
//! - fields of [`PluginModule`] are only appended, as `missing_field(option)`;
//! - every other struct and enum in this module is frozen, and so are [`crate::Address`] and [`crate::Hash256`] in them: only the JSON documents of [`crate::manifest`] may grow;
//! - a panic never crosses the ABI: the SDK catches it on the plugin's side and returns a [`Fault`];
//! - `abi_stable` and `async-ffi` are pinned to exact versions, because their types are part of the layout.
//!
//! All integers are native-endian in structs and little-endian in byte formats ([`Rows`], [`Stamp`]).

mod activity;
mod bytes;
mod chain;
mod exchange;
mod fault;
mod host;
mod plugin;
mod rows;
mod stamp;
mod statement;

pub use activity::{Frame, NewEvent};
pub use bytes::FfiBytes;
pub use chain::{EventSource, LogMeta, SubscribedEvent};
pub use exchange::*;
pub use fault::*;
pub use host::*;
pub use plugin::*;
pub use rows::{Cell, MalformedRows, Rows, RowsBuilder};
pub use stamp::{ROOT_SYMBOL_PREFIX, STAMP_SECTION, Stamp, StampFacts, is_plugin_name, is_snake_case};
pub use statement::*;

/// Major version: the gateway refuses a plugin with another one.
pub const ABI_MAJOR: u32 = number(env!("CARGO_PKG_VERSION_MAJOR"));
/// Minor version: a plugin may be older or newer than the gateway within one major version.
pub const ABI_MINOR: u32 = number(env!("CARGO_PKG_VERSION_MINOR"));

const fn number(text: &str) -> u32 {
    let digits = text.as_bytes();
    let mut value = 0;
    let mut index = 0;
    while index < digits.len() {
        value = value * 10 + (digits[index] - b'0') as u32;
        index += 1;
    }
    value
}
