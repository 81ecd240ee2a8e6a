//! EVM chains: RPC servers with failover, the newest head, calls, logs, and what sending transactions needs.
//!
//! The rule: a server's response is checked against the request before anything relies on it.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod abi_value;
mod account;
mod block_transactions;
mod blocks;
mod chain;
mod chains;
mod clique_signers;
mod error;
mod event_decoder;
mod head_poller;
mod header;
mod http_transport;
mod log_filter;
mod logs;
mod logs_of_receipts;
mod metric;
mod plugin_request;
mod quorum;
mod raw_call;
mod raw_client;
mod raw_log;
mod receipt;
mod redacted_url;
mod report;
mod rpc_client;
mod rpc_server;
mod status;

pub use abi_value::EventArguments;
pub use account::{Account, NoAgreement, NonceUse, SCAN_BLOCKS_MAX};
pub use chain::{Chain, Head};
pub use chains::Chains;
pub use error::{ChainError, RpcError};
pub use event_decoder::EventDecoder;
pub use header::Header;
pub use log_filter::{LogFilter, has_indexed};
pub use logs::RangeError;
pub use metric::gauge_value;
pub use plugin_request::call_data;
pub use raw_log::RawLog;
pub use receipt::Receipt;
pub use report::ChainReport;
pub use rpc_server::RpcServerReport;
