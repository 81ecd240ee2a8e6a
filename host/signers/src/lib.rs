//! Keys by role. The rule: a private key never leaves this crate; callers pass what is to be signed, and get a
//! signature.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod capability;
mod generated_key;
mod key;
mod keystore;
pub mod private_file;
mod signers;
#[cfg(test)]
mod tests;
mod wallets;

pub use capability::check_grant;
pub use key::{InvalidKey, Key};
pub use signers::{KeySource, MissingKey, Signers};
pub use wallets::Wallets;
