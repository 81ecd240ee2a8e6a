//! Small texts in the gateway's data folder: what has to survive the loss of the database. Needs the grant `files`.

use super::HostHandle;
use crate::{
    abi::{FfiBytes, HostError, HostErrorCode},
    manifest::{FileCall, FileOperation},
};
use serde::de::DeserializeOwned;

/// A file of the plugin; made by [`HostHandle::file`].
pub struct LocalFile<'h> {
    host: &'h HostHandle,
    name: String,
}

impl HostHandle {
    /// The plugin's file of this name, 1 to 64 of a-z, 0-9 and _, in the data folder of this gateway; others on the database have
    /// their own. A plugin has at most 16, of at most 64 KiB of text. It is no part of a backup.
    ///
    /// Not in the closure of a write.
    ///
    /// ```
    /// use plugin_api::{HostError, HostHandle};
    ///
    /// /// Notes the newest number outside of the database, which could be restored from an older backup.
    /// async fn note_newest(host: &HostHandle, number: i64) -> Result<bool, HostError> {
    ///     let newest = host.file("newest");
    ///     let noted = newest.read().await?;
    ///     newest.replace(noted.as_deref(), &number.to_string()).await
    /// }
    /// ```
    pub fn file(&self, name: &str) -> LocalFile<'_> {
        LocalFile { host: self, name: name.to_owned() }
    }
}

impl LocalFile<'_> {
    /// `None` when it was never written.
    pub async fn read(&self) -> Result<Option<String>, HostError> {
        self.call(FileOperation::Read, "").await
    }

    /// Replaces the text as a whole, durably, when the present one is `expected`; returns whether it was.
    pub async fn replace(&self, expected: Option<&str>, text: &str) -> Result<bool, HostError> {
        self.call(FileOperation::Replace { expected: expected.map(str::to_owned) }, text).await
    }

    async fn call<T: DeserializeOwned>(&self, operation: FileOperation, text: &str) -> Result<T, HostError> {
        let call = FileCall { file: self.name.clone(), operation };
        let body = FfiBytes::from(text.as_bytes().to_vec());
        let response = self.host.call_capability("file", &call, body).await?.response;
        serde_json::from_slice(&response).map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))
    }
}
