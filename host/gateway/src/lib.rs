//! The gateway: routes requests to plugins, and starts, stops and contains plugins.

#![cfg_attr(not(test), warn(unreachable_pub))]
// Futures hold the contexts of the host, whose types are nested deeply: whether they are `Send` takes more steps to prove than 128.
#![recursion_limit = "256"]

mod assemble;
mod backups;
mod certificate;
pub mod controls;
mod dispatch;
mod dry_run;
pub mod environment;
mod error_response;
mod gateway;
pub mod health;
mod housekeeping;
pub mod lifecycle;
mod memory_watch;
pub mod migrations;
pub mod operators;
mod pages;
mod plugin_history;
pub mod purge;
mod reload;
pub mod replicas;
pub mod reports;
pub mod resources;
pub mod routes;
mod start;
mod tls_reload;
pub mod views;

pub use certificate::{open_tls, read_certificate};
pub use dry_run::{DryRunReport, FailedPlugin, dry_run_start};
pub use gateway::Gateway;
pub use plugin_history::PluginHistory;
pub use reload::ReloadReport;
pub use start::{StartError, database_settings};
pub use tls_reload::{TlsError, TlsSource};
