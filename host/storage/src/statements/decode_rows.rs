//! Rows of the gateway's own tables as values.

use crate::error::StorageError;
use plugin_api::abi::{MalformedRows, Rows};
use serde::de::DeserializeOwned;

/// Each row as a value: a struct by the names of the columns, a tuple by their order, any other type from the only column.
pub fn decode_rows<T: DeserializeOwned>(rows: &Rows) -> Result<Vec<T>, StorageError> {
    plugin_api::host::decode_rows(rows).map_err(|error| StorageError::Internal(error.to_string()))
}

impl From<MalformedRows> for StorageError {
    fn from(error: MalformedRows) -> Self {
        Self::Internal(error.to_string())
    }
}
