//! Secrets of plugins: what they seal, and what they authenticate, with keys that the gateway keeps.
//!
//! The rule: no key leaves this crate, neither as bytes nor as text, and every key is derived for one plugin and one name, so that
//! no plugin opens what another one sealed.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod call;
mod key_record;
mod keyring;
mod master_key;
mod seal;
mod secrets;
mod signing_key;
#[cfg(test)]
mod tests;
mod webhook_key;

pub use call::SecretResponse;
pub use key_record::migration;
pub use secrets::Secrets;
