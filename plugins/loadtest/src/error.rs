//! Errors of the routes: texts, statuses and codes.

use plugin_api::ApiError;

#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum AddressError {
    #[api(
        400,
        "bad_address",
        "{0:?} is no address: 0x and 40 hex digits are needed",
        hint = "the path ends with an address: /api/loadtest/address/0x…"
    )]
    Malformed(String),
}
