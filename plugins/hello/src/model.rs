//! Types and rules of guests and their messages, without a database and without the gateway.

use crate::{error::HelloError, limits::MESSAGE_CHARS_MAX};
use plugin_api::{Address, Event, JsonSchema, format};
use serde::{Deserialize, Serialize};

/// What a guest sends.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewGuest {
    /// 1 to 280 characters; white space around them is dropped.
    pub message: String,
}

impl NewGuest {
    /// Checks the message; returns it as it is stored.
    pub fn checked_message(&self) -> Result<String, HelloError> {
        let message = self.message.trim();
        match format::utf16_len(message) {
            0 => Err(HelloError::EmptyMessage),
            chars if chars > MESSAGE_CHARS_MAX => Err(HelloError::LongMessage { chars }),
            _ => Ok(message.to_owned()),
        }
    }
}

// Row and response are one struct: the column `created_at` fits the member `createdAt`.
/// A line in the guest book, as readers get it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GuestView {
    pub id: i64,
    /// The wallet that signed.
    pub address: Address,
    pub message: String,
    /// Unix seconds.
    pub created_at: i64,
}

// The members of a page beside `items`, and its documentation.
/// A page of the guest book.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(extend("items" = "The newest first."))]
pub struct GuestPage {
    /// Lines in the whole book.
    pub total: i64,
}

/// The event of a new line: its public members.
#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("hello.sign", subject = "guest", id = guest_id)]
pub struct GuestSigned<'a> {
    pub guest_id: i64,
    pub message: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(message: &str) -> Result<String, HelloError> {
        NewGuest { message: message.to_owned() }.checked_message()
    }

    #[test]
    fn the_length_counts_utf16_units() {
        assert!(checked(&"x".repeat(280)).is_ok());
        assert_eq!(checked(&"x".repeat(281)), Err(HelloError::LongMessage { chars: 281 }));
        // An emoji is two UTF-16 units.
        assert!(checked(&"😀".repeat(140)).is_ok());
        assert_eq!(checked(&"😀".repeat(141)), Err(HelloError::LongMessage { chars: 282 }));
    }
}
