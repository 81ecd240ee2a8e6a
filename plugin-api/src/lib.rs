//! What the gateway and its plugins both know, and the only thing both know.
//!
//! - [`abi`]: what crosses the border. Small and frozen; every change follows the rules in its module page.
//! - [`manifest`]: how a plugin describes itself: one JSON document, read once, free to grow.
//! - [`sdk`] (re-exported here): what an author writes against.

#[cfg(not(panic = "unwind"))]
compile_error!(
    "build plugins with panic = \"unwind\": the gateway contains a plugin's panic and cannot contain an abort"
);

#[allow(
    unsafe_code,
    non_camel_case_types,
    non_local_definitions,
    reason = "the border itself: raw bytes with an owner, and what abi_stable's macros expand to"
)]
pub mod abi;
pub mod manifest;
pub mod sdk;

pub use sdk::*;

/// Re-exported for [`export_plugin!`] and for the host: their versions are part of the ABI.
pub use abi_stable;
pub use async_ffi;
