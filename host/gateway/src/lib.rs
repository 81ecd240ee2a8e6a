//! The gateway: routes requests to plugins, and starts, stops and contains plugins.

pub mod dispatch;
pub mod environment;
mod error_response;
mod gateway;
mod housekeeping;
pub mod lifecycle;
pub mod migrations;
pub mod operators;
pub mod pages;
pub mod routes;
mod start;

pub use gateway::Gateway;
pub use start::{StartError, database_settings};
