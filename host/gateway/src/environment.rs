//! What the configuration says about this deployment, as plugins and documents see it.

use gateway_config::{ChainConfig, Config, MAIN};
use gateway_meta::{ChainInfo, Limits};
use gateway_storage::Dialect;
use plugin_api::manifest::{self, Environment};
use std::{collections::BTreeSet, net::SocketAddr};

/// `restored_s` is when the database was restored last.
pub fn environment(config: &Config, bound: SocketAddr, dialect: Dialect, restored_s: Option<i64>) -> Environment {
    let deployed =
        |main: &ChainConfig| main.contracts.keys().filter_map(|key| Some((key.clone(), main.contract(key)?))).collect();
    Environment {
        gateway_version: env!("CARGO_PKG_VERSION").to_owned(),
        base_url: config.public_url(bound),
        web_url: config.web.root().map(str::to_owned),
        chain_id: config.chain_id,
        brand: manifest::Brand {
            network_name: config.brand.network_author.clone(),
            message_line: config.brand.message_line.clone(),
            header_prefix: config.brand.header_prefix.clone(),
            marker: config.brand.marker.clone(),
        },
        dialect: match dialect {
            Dialect::Sqlite => "sqlite".to_owned(),
            Dialect::Postgres => "postgres".to_owned(),
        },
        egress_allows_private: !config.egress.allow_hosts.is_empty(),
        restored_s,
        contracts: config.chains.get(MAIN).map(deployed).unwrap_or_default(),
        chain_ids: config.chains.iter().map(|(name, chain)| (name.clone(), config.id_of(chain))).collect(),
        // The configuration has no keys: whoever opens them adds these.
        signer_addresses: BTreeSet::new(),
    }
}

/// The chain as the configuration knows it.
pub fn chain_info(config: &Config) -> ChainInfo {
    let main = config.chains.get(MAIN).cloned().unwrap_or_default();
    ChainInfo {
        contracts: main.published_contracts(),
        name: main.label.unwrap_or_else(|| config.network_name.clone()),
        currency_name: main.currency_name,
        symbol: main.currency_symbol,
        decimals: 18,
        rpc: main.public_rpc,
        explorer: main.explorer,
        block_time_s: main.block_time_s,
        consensus: main.consensus,
        evm: main.evm,
        deploy_block: main.deploy_block,
    }
}

/// The limits that the gateway itself keeps.
pub fn own_limits(config: &Config) -> Limits {
    Limits {
        write_interval_ms: config.limits.write_interval_ms,
        writes_per_ip_per_minute: config.limits.commons_writes_per_ip_per_minute,
        body_bytes_max: config.http.body_bytes_max as u64,
        ts_window_s: gateway_envelope::TS_WINDOW_S,
    }
}
