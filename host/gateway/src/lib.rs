//! The gateway: routes requests to plugins, and starts, stops and contains plugins.

#![cfg_attr(not(test), warn(unreachable_pub))]
// Futures hold the contexts of the host, whose types are nested deeply: whether they are `Send` takes more steps to prove than 128.
#![recursion_limit = "256"]

mod background;
mod database_settings;
mod dispatch;
pub mod environment;
mod error_response;
mod gateway;
pub mod health;
pub mod lifecycle;
pub mod migrations;
pub mod operators;
mod pages;
pub mod routes;
mod tls;
pub mod views;

pub use background::{ReplicaReport, Replicas, differing_plugins};
pub use database_settings::{DatabaseSettingsError, database_settings};
pub use gateway::{DryRunReport, FailedPlugin, Gateway, ReloadReport, Resources, StartError, dry_run_start};
pub use tls::{TlsError, TlsSource, open_tls, read_certificate};
