//! What pools of constant-product exchanges say of a coin's price, for the plugins that show it: `supply` and `payin`.
//!
//! The rules: integers only, dollars have 18 decimals; everything of a reading is of one block; and a pool that does not exist, is empty or
//! does not respond as one is none.

#![forbid(unsafe_code)]

mod json_number;
mod pool;
mod read;
mod venue;

pub use json_number::JsonNumber;
pub use pool::{Pool, QuoteToken, Reserves, dollars, value};
pub use read::{read_pair, read_pools};
pub use venue::{NAMED_CHAIN, Venue, VenueSettings, not_dollars, not_url};
