//! What a sign-up is, without a database: its fields, the text that is signed, limits per client.

mod challenge;
mod contact;
mod fields;
mod platform;
mod signup_limit;

pub use challenge::{Answered, CHALLENGE_S, Challenge, message};
pub use contact::{Contact, ContactKind};
pub use fields::{Fields, Given};
pub use platform::Platform;
pub use signup_limit::SignupLimit;
