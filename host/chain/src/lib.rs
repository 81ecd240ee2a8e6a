//! Chains: RPC servers, the head, and the index that derives plugins' rows from events (DESIGN §5, §8).
//!
//! The rules: nothing a server says is believed beyond what it was asked, and what follows from a chain is undone when the
//! chain takes it back.

pub mod account;
mod agreed;
pub mod argument;
mod capability;
mod error;
pub mod event;
mod follow;
mod header;
mod http;
mod label;
pub mod log;
mod named;
mod receipt;
mod rpc;
mod sealers;
mod source;
mod status;

pub use capability::encode_call;
pub use error::{ChainError, RpcFailure};
pub use follow::exact;
pub use header::Header;
pub use named::{Chain, Head};
pub use source::SourceReport;

use gateway_config::{Config, MAIN};
use std::{collections::BTreeMap, sync::Arc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Whether the text is the signature of an event.
pub fn check_event(signature: &str) -> Result<(), String> {
    event::Decoder::parse(signature).map(drop)
}

/// The chains of the configuration by name.
pub struct Chains {
    by_name: BTreeMap<String, Arc<Chain>>,
    /// This gateway among those that could work on an index: a UUID v7.
    pub holder: String,
}

impl Chains {
    /// Talks to nobody yet: the gateway starts without its servers, too.
    pub fn new(config: &Config) -> Result<Self, ChainError> {
        let chain = |(name, chain): (&String, &gateway_config::ChainConfig)| {
            let chain_id = chain.chain_id.unwrap_or(config.chain_id);
            Ok((name.clone(), Arc::new(Chain::new(name, chain_id, chain)?)))
        };
        let by_name = config.chains.iter().map(chain).collect::<Result<_, ChainError>>()?;
        Ok(Self { by_name, holder: uuid::Uuid::now_v7().to_string() })
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Chain>> {
        self.by_name.get(name)
    }

    /// The chain that contracts, agents and jobs are on.
    pub fn main(&self) -> Option<&Arc<Chain>> {
        self.get(MAIN)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Chain>> {
        self.by_name.values()
    }

    /// Follows the heads until told to stop.
    pub fn start(&self, tasks: &TaskTracker, stop: &CancellationToken) {
        for chain in self.iter() {
            tasks.spawn(follow::run(chain.clone(), stop.clone()));
        }
    }
}
