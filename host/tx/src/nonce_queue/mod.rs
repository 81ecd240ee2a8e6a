//! One account on one chain: its intents are signed, broadcast and confirmed in the order of nonces.

mod assign_nonce;
mod cancel;
mod confirm;
mod nonce_conflict;
mod nonce_search;
mod pass;
mod queue;
mod rebroadcast;

pub(crate) use queue::NonceQueue;
