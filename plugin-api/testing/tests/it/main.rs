//! What the SDK promises a plugin, seen from outside of the gateway: one file per promise.

mod authors;
mod names;
mod scribe;
mod streams;
mod writes;
