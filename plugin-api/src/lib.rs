//! The interface between the gateway and its plugins: the only crate that both depend on.
//!
//! - [`abi`]: the binary interface. Small and frozen; every change follows the rules in its module documentation.
//! - [`manifest`]: a plugin's description of itself: one JSON document, read once, free to grow.
//! - [`sdk`] (re-exported here): the types and functions that plugin authors use.

#[cfg(not(panic = "unwind"))]
compile_error!(
    "build plugins with panic = \"unwind\": the gateway contains a plugin's panic and cannot contain an abort"
);

#[allow(
    unsafe_code,
    non_camel_case_types,
    non_local_definitions,
    reason = "the ABI itself: raw bytes with an owner, and what abi_stable's macros expand to"
)]
pub mod abi;
pub mod manifest;
pub mod sdk;

pub use sdk::*;

// The derives write `::plugin_api`, here too.
extern crate self as plugin_api;

/// Re-exported for [`export_plugin!`] and for the host: their versions are part of the ABI.
pub use abi_stable;
pub use async_ffi;
