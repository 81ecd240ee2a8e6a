//! What the SDK promises a plugin, seen from outside of the gateway: one file per promise.

mod authors;
mod names;
mod postman;
mod queue;
mod scribe;
mod streams;
mod writes;
