//! Types and rules of a sign-up, without a database: fields, signed text, limits per client.

mod challenge;
mod contact;
mod entry;
mod fields;
mod platform;

pub use challenge::{CHALLENGE_S, Challenge, SignedChallenge, message};
pub use contact::{Contact, ContactKind};
pub use entry::Entry;
pub use fields::{Fields, RawFields};
pub use platform::Platform;
