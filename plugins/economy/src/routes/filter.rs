//! Filters of the lists. An empty filter counts as absent, because clients send empty form fields.

use crate::error::EconomyError;
use plugin_api::{Address, format};
use serde::{
    de::DeserializeOwned,
    de::value::{Error, StrDeserializer},
};

pub fn address(filter: &'static str, text: Option<&str>) -> Result<Option<Address>, EconomyError> {
    present(text).map(|text| text.parse().map_err(|reason| EconomyError::Address { filter, reason })).transpose()
}

pub fn id(filter: &'static str, text: Option<&str>) -> Result<Option<i64>, EconomyError> {
    let Some(text) = present(text) else { return Ok(None) };
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(EconomyError::Id { filter });
    }
    // An id above the maximum is valid; it finds nothing.
    let id = text.parse().unwrap_or(i64::MAX);
    if id > 0 { Ok(Some(id)) } else { Err(EconomyError::Id { filter }) }
}

/// Whether the flag is set.
pub fn flag(text: Option<&str>) -> bool {
    matches!(present(text), Some("1" | "true"))
}

pub fn status<T: DeserializeOwned>(text: Option<&str>, expected: &'static str) -> Result<Option<T>, EconomyError> {
    let read = |text| T::deserialize(StrDeserializer::<Error>::new(text)).ok().ok_or(EconomyError::Status { expected });
    present(text).map(read).transpose()
}

/// `None` when the filter is absent or empty.
pub fn present(text: Option<&str>) -> Option<&str> {
    text.and_then(format::given)
}
