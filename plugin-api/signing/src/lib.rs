//! What a client of the gateway signs: five lines with the action, the wallet, the time and the hash of the payload.
//!
//! The rule: this is the only place where the text and its signature are made. The gateway verifies what is written here, and
//! the wallets of all tests sign with it.
//!
//! ```
//! use request_signing::{MESSAGE_LINE, canonical, digest, message, sign};
//!
//! let payload = canonical::rfc8785(&serde_json::json!({ "title": "Hello", "body": "My first thread." }))?;
//! let signed = sign(&[7; 32], |wallet| digest(&message(MESSAGE_LINE, "thread.create", wallet, 1_767_225_600, &payload)));
//! assert!(signed.is_some_and(|(_, signature)| signature.len() == 132));
//! # Ok::<(), canonical::CanonicalError>(())
//! ```

pub mod canonical;
mod message;
mod signature;

pub use message::{MESSAGE_LINE, digest, message};
pub use signature::sign;
