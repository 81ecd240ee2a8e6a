//! A gateway in the test's own process: linked plugins, a temporary database, a manual clock, wallets that sign. The same
//! router, checks, fence and storage as in production; no socket, no network.
//!
//! ```no_run
//! # async fn example(hello: plugin_api::abi::PluginModule_Ref) {
//! use plugin_testing::{TestGateway, Wallet, json};
//!
//! for gateway in TestGateway::each_database(&[hello]).await {
//!     let response = gateway.get("/api/hello/world").await;
//!     assert_eq!(response.status, 200);
//!     assert_eq!(gateway.faults().await, Vec::<String>::new());
//! }
//! # }
//! ```

mod chain;
mod contents;
mod gateway;
mod private_urls;
mod resolver;

pub use chain::{Fault, ScriptedCall, ScriptedChain, ScriptedContract, ScriptedLog, ScriptedTx};
pub use contents::{assert_writes_are_guarded, manifest, routes};
pub use gateway::{Builder, TestGateway};
pub use plugin_test_kit::{TestResponse, Value, Wallet, json};
pub use private_urls::PRIVATE_URLS;
pub use resolver::ScriptedResolver;
