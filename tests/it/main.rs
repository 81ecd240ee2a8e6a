//! The gateway as a whole: real libraries, real databases, real clients.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[macro_use]
mod plugins_of_test;

mod all_plugins;
mod anvil;
mod backup;
mod cache;
mod capabilities;
mod chain;
mod coin_supply;
mod controls;
mod coverage;
mod crash;
mod e2e;
mod entry;
mod fuzz;
mod hostile;
mod http_abuse;
mod jobs;
mod leaderboard;
mod load_test;
mod log_subscription;
mod meta;
mod model;
mod openapi;
mod operators;
mod outages;
mod packaging;
mod payin;
mod payload_references;
mod payments;
mod plugin_count;
mod plugin_files;
mod priced;
mod private_targets;
mod private_views;
mod public_rpc;
mod purge;
mod replicas;
mod reports;
mod sequencing;
mod services;
mod services_in_write;
mod storage;
mod topic;
mod transparency_log;
mod tx;
mod webhooks;
