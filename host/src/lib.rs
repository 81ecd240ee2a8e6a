//! The gateway: loads plugins, serves HTTP, keeps the data. Read `boot.rs` first.

pub mod activity;
pub mod admin;
pub mod asked;
pub mod banner;
pub mod boot;
pub mod chain;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod config;
pub mod demo;
pub mod egress;
pub mod envelope;
#[cfg(test)]
mod fuzz;
pub mod gateway;
pub mod house;
pub mod housekeeping;
pub mod http;
pub mod jobs;
pub mod meta;
pub mod operators;
pub mod plugins;
pub mod provenance;
pub mod pulse;
pub mod services;
pub mod signers;
pub mod storage;
pub mod telemetry;
pub mod tx;
