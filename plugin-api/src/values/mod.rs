//! Values that the binary interface, the manifest and the SDK have in common: addresses, hashes, amounts. They use none of the three.

mod address;
mod hash;
mod wei;

pub use address::Address;
pub use hash::Hash256;
pub use wei::Wei;
