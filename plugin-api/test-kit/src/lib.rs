//! A gateway in a process of its own that loads the library of the plugin under test: a temporary database, free ports, wallets
//! that sign. What an author's tests do here they do in the gateway's repository with `plugin-testing`, by the same names; the time is
//! the system's.
//!
//! The rule: no crate of the gateway is compiled, and no test leaves a process or a file behind. (A PostgreSQL database stays behind a test
//! that failed.)
//!
//! ```no_run
//! # async fn example() {
//! use plugin_test_kit::{TestGateway, Wallet, json};
//!
//! for gateway in TestGateway::each_database(&["notes"]).await {
//!     let written = gateway.post_signed("/api/notes/notes", &Wallet::new(1), "notes.write", json!({ "text": "first" })).await;
//!     assert_eq!(written.status, 201, "{}", written.text());
//!     assert_eq!(gateway.faults().await, Vec::<String>::new());
//!     gateway.stop().await;
//! }
//! # }
//! ```

mod builder;
mod gateway;
mod http_client;
mod library;
mod postgres;
mod process;
mod program;
mod response;
mod wallet;

pub use builder::Builder;
pub use gateway::TestGateway;
pub use postgres::Database;
pub use response::TestResponse;
pub use serde_json::{Value, json};
pub use wallet::Wallet;
