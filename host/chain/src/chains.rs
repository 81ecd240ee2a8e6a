//! The chains of the configuration by name.

use super::{Chain, ChainError, head_poller};
use gateway_config::{ChainConfig, Config, MAIN};
use std::{collections::BTreeMap, sync::Arc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// All configured chains.
pub struct Chains {
    by_name: BTreeMap<String, Arc<Chain>>,
}

impl Chains {
    /// Opens no connection: the gateway also starts while no RPC server is reachable.
    pub fn new(config: &Config) -> Result<Self, ChainError> {
        let chain = |(name, chain): (&String, &ChainConfig)| {
            Ok((name.clone(), Arc::new(Chain::new(name, config.id_of(chain), chain)?)))
        };
        let by_name = config.chains.iter().map(chain).collect::<Result<_, ChainError>>()?;
        Ok(Self { by_name })
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

    /// Polls the head of every chain until `stop` is cancelled.
    pub fn start(&self, tasks: &TaskTracker, stop: &CancellationToken) {
        for chain in self.iter() {
            if chain.servers.len() == 1 {
                tracing::warn!(
                    chain = chain.name,
                    "one RPC server is configured: what it says about the gateway's own payments is believed without \
                     a second opinion, and what plugins must know from two servers fails; add another to chains.{}.rpc",
                    chain.name
                );
            }
            tasks.spawn(head_poller::run(chain.clone(), stop.clone()));
        }
    }
}
