//! The handler of the queue.

pub mod forward_message;
