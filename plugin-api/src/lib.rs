//! The interface between the gateway and its plugins: the only crate that both depend on.
//!
//! - The names below and the topic modules: what authors use. Start with the README of this package, a tutorial.
//! - [`abi`]: the binary interface. Small and frozen; every change follows the rules in its module documentation.
//! - [`manifest`]: a plugin's description of itself: one JSON document, read once, free to grow.
//!
//! The rule: an author meets at most 60 names here, a topic module counted as one, and each has an example (`tests/tidy`).

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
mod decode_call;
mod json_text;
pub mod manifest;
mod one_line;
mod sdk;
mod values;

pub mod chain;
pub mod content;
pub mod contracts;
pub mod counter;
pub mod extract;
pub mod handles;
pub mod payment;
pub mod queue;
pub mod response;
pub mod stream;

// The plugin and its parts.
pub use sdk::{ConfigError, Definition, Job, Migration, NoConfig, Plugin, Skill};
pub use sdk::{HostHandle, PluginContext, RequestContext};

// Routes: requests, responses, errors.
pub use sdk::{ApiError, ErrorSpec, HandlerError, HostError, HostErrorCode};
pub use sdk::{Created, Json, Listed, RenderedJson, render_json};
pub use sdk::{JsonBody, Page, Path, QueryString, Route, Signed, lenient};

// The database and the activity log.
pub use json_text::json_text;
pub use sdk::Event;
pub use sdk::{List, Query, Search, SearchIndex, Sql, Tx, sql};

// Values, documents, and other topics.
pub use manifest::Grants;
/// The schema of a request or response: derive it, and the doc comments become the documentation of the members.
///
/// ```
/// use plugin_api::JsonSchema;
///
/// #[derive(serde::Serialize, JsonSchema)]
/// struct NoteView {
///     /// Unix seconds.
///     created_at: i64,
/// }
/// ```
pub use schemars::JsonSchema;
pub use sdk::{AgentId, Author, Fetch, JobId, format, point};
pub use values::{Address, Hash256, Wei};

// The derives write `::plugin_api`, here too.
extern crate self as plugin_api;

/// What the gateway and the tests' own plugins use of the SDK; not for authors.
#[doc(hidden)]
pub mod host {
    pub use crate::decode_call::decode_call;
    pub use crate::one_line::sanitize_line;
    pub use crate::sdk::{
        CV_CLAIMS_SHAPE, Identity, WRITE_ATTEMPTS_MAX, call_types, client_network, decode_rows, object_manifest,
        object_module, object_new,
    };
}

/// Items that the macros use; not for authors.
#[doc(hidden)]
pub mod __private {
    pub use crate::manifest::ErrorDetail;
    pub use crate::sdk::{ErrorDetails, count_specs, file_version, join_specs, read_id, unique_key};
    pub use schemars;
    pub use serde;
    pub use serde_json::Value;
}

/// Re-exported for [`export_plugin!`] and for the host: their versions are part of the ABI.
#[doc(hidden)]
pub use abi_stable;
#[doc(hidden)]
pub use async_ffi;
