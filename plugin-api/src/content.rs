//! The content of a record as a writer sends it: bytes in the payload store, an https URL, or both.
//!
//! ```
//! use plugin_api::{HandlerError, HostHandle, JsonSchema, Tx};
//! use plugin_api::content::{Content, ContentError, NewContent, PayloadInfo};
//!
//! #[derive(serde::Deserialize, JsonSchema)]
//! struct NewSubmission {
//!     title: String,
//!     #[serde(flatten)]
//!     content: NewContent,
//! }
//!
//! /// Before the write.
//! async fn check(new: NewSubmission, host: &HostHandle) -> Result<Content, HandlerError<ContentError>> {
//!     new.content.check(host).await
//! }
//!
//! /// In the write: a payload that is referenced from then on is not pruned.
//! async fn size(content: &Content, tx: &Tx) -> Result<Option<i64>, HandlerError<ContentError>> {
//!     let payload: Option<PayloadInfo> = content.payload_info(tx).await?;
//!     Ok(payload.map(|payload| payload.size))
//! }
//! ```

pub use crate::sdk::{Content, ContentError, NewContent, PayloadInfo};
