//! Filters of the lists. An empty filter counts as absent, because clients send empty form fields.

use crate::error::EconomyError;
use plugin_api::Address;

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

/// Parses a status.
pub fn status<T>(
    text: Option<&str>,
    expected: &'static str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, EconomyError> {
    let read = |text| read(text).ok_or(EconomyError::Status { expected });
    present(text).map(read).transpose()
}

pub fn present(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_filters_nothing() {
        for nothing in [None, Some(""), Some(" ")] {
            assert_eq!((address("payer", nothing), id("planId", nothing)), (Ok(None), Ok(None)));
            assert!(!flag(nothing));
        }
        assert!(!flag(Some("0")) && !flag(Some("yes")) && flag(Some("1")) && flag(Some("true")));
    }

    #[test]
    fn addresses_are_read_in_any_case() {
        let (lower, upper) = (format!("0x{}", "ab".repeat(20)), format!("0x{}", "AB".repeat(20)));
        assert_eq!(address("payer", Some(&lower)), address("payer", Some(&upper)));
        for wrong in ["0x1", "vitalik.eth", "0xgggggggggggggggggggggggggggggggggggggggg", "ä😀"] {
            assert!(address("payer", Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ids_are_positive_and_may_be_absurd() {
        let job = |text: &str| id("jobId", Some(text));
        assert_eq!((job("7"), job("007")), (Ok(Some(7)), Ok(Some(7))));
        assert_eq!(job(&"9".repeat(80)), Ok(Some(i64::MAX)));
        for wrong in ["0", "-1", "1.5", "0x1", "one", "٣"] {
            assert_eq!(job(wrong), Err(EconomyError::Id { filter: "jobId" }), "{wrong}");
        }
    }
}
