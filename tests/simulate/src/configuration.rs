//! What the gateways of a run are configured with.

use crate::{
    account, buyer, caller, deposit_chain, newcomer, shifts_plugin::Shifts, shop_plugin::Shop, vault::VAULT,
    voucher_client,
};
use gateway_config::{ChainConfig, Config, MAIN, SignerConfig};
use plugin_api::abi::PluginModule_Ref;
use plugin_testing::{ScriptedChain, Value, Wallet, json};
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
    path::Path,
};

/// Number of the wallet with the key of the role relayer.
pub const RELAYER: u64 = 900;
/// Of the role gateway.
pub const GATEWAY: u64 = 904;
/// Of the role growth.
pub const GROWTH: u64 = 901;
/// Of the role payin.
pub const PAYIN: u64 = 902;
/// Of the role facilitator.
pub const FACILITATOR: u64 = 903;
/// Nobody listens there: it is what gateways are called, all of them together and each of them.
const BASE_URL: &str = "http://127.0.0.1:8080";
pub const FIRST_PORT: u16 = 8081;
const CONTRACTS: [&str; 5] = ["registry", "escrow", VAULT, account::FACTORY, account::IMPLEMENTATION];
/// Plugins that no client of a run writes to: they follow log and chain, run their jobs, and are read at the end of a day.
const BYSTANDERS: [&str; 20] = [
    "a2a",
    "aicv",
    "arena",
    "artifacts",
    "audit",
    "bounties",
    "economy",
    "hello",
    "kb",
    "loadtest",
    "memory",
    "network",
    "payloads",
    "rpc",
    "supply",
    "tools",
    "transparency",
    "validators",
    "webhooks",
    "work",
];
const SECRETS_KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
/// Blocks after which one of the service's chain is final.
pub const REORG_DEPTH: u64 = 6;
const POLL_MS: u64 = 1000;
const DEPOSITS_POLL_MS: u64 = 5000;
const RPC_TIMEOUT_MS: u64 = 2000;

/// Which plugins and clients a run has: with a planted fault, those that the fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    All,
    /// The forum, and messages, index and faucet beside it.
    Forum,
    /// Plugins that take payments, but for orders.
    Payments,
    /// Orders that are paid by vouchers.
    Orders,
    /// Rewards of referrals.
    Referrals,
}

impl Workload {
    pub fn has_forum(self) -> bool {
        matches!(self, Self::All | Self::Forum)
    }

    pub fn has_payments(self) -> bool {
        matches!(self, Self::All | Self::Payments)
    }

    pub fn has_orders(self) -> bool {
        matches!(self, Self::All | Self::Orders)
    }

    pub fn has_referrals(self) -> bool {
        matches!(self, Self::All | Self::Referrals)
    }

    /// Whether x402 runs.
    pub fn has_vouchers(self) -> bool {
        self.has_payments() || self.has_orders()
    }
}

/// How a chain is reached.
#[derive(Clone)]
pub struct ChainServers {
    pub urls: Vec<String>,
    pub chain_id: u64,
}

/// What all gateways of a run are configured with, but for their folders.
#[derive(Clone)]
pub struct ConfigTemplate {
    /// Of the database that they share; without it each has a file of its own.
    pub database_url: Option<String>,
    pub main: ChainServers,
    /// Where deposits are made.
    pub deposits: ChainServers,
    pub faucet: Value,
    /// Payouts of referrals that there is a budget for.
    pub referral_budget: usize,
    pub workload: Workload,
    /// Whether the plugins run, too, that no client of a run writes to.
    pub has_bystanders: bool,
}

impl ConfigTemplate {
    /// The plugins that run, with their sections.
    fn plugins(&self) -> BTreeMap<&'static str, Value> {
        let mut plugins = BTreeMap::from([("activity", Value::Null)]);
        if self.workload.has_forum() {
            plugins.extend(["agents", "forum", "messages"].map(|name| (name, Value::Null)));
            plugins.insert("faucet", self.faucet.clone());
            // Only several gateways could run its job at the same time.
            plugins.extend(self.database_url.is_some().then_some(("shifts", Value::Null)));
        }
        if self.workload.has_payments() {
            plugins.insert("payin", buyer::settings());
            plugins.insert("relay", caller::settings());
        }
        if self.workload.has_vouchers() {
            plugins.insert("x402", voucher_client::settings());
        }
        if self.workload.has_referrals() {
            plugins.insert("referrals", newcomer::settings(self.referral_budget));
        }
        plugins.extend(self.workload.has_orders().then_some(("shop", Value::Null)));
        if self.has_bystanders {
            for plugin in BYSTANDERS {
                plugins.entry(plugin).or_insert(Value::Null);
            }
        }
        plugins
    }

    /// Of the plugins that run.
    pub fn modules(&self) -> Vec<PluginModule_Ref> {
        let plugins = self.plugins();
        all_modules().into_iter().filter(|(name, _)| plugins.contains_key(name)).map(|(_, module)| module).collect()
    }

    pub fn config(&self, data_dir: &Path) -> Config {
        let mut config = Config::default();
        config.data_dir = data_dir.to_owned();
        config.base_url = Some(BASE_URL.to_owned());
        config.limits.allow = vec![IpAddr::V4(Ipv4Addr::LOCALHOST).into()];
        config.database.read_connections = 1;
        config.database.url = self.database_url.clone().map(Into::into);
        config.database.listen_url = self.database_url.clone().map(Into::into);
        config.secrets.key = Some(SECRETS_KEY.to_owned().into());
        let main = ChainConfig {
            confirmations: 2,
            reorg_depth: REORG_DEPTH,
            contracts: CONTRACTS.map(|key| (key.to_owned(), ScriptedChain::address_of(key))).into(),
            ..chain(&self.main)
        };
        config.chains.insert(MAIN.to_owned(), main);
        for (role, wallet) in [
            ("gateway", GATEWAY),
            ("relayer", RELAYER),
            ("growth", GROWTH),
            ("payin", PAYIN),
            ("facilitator", FACILITATOR),
        ] {
            config.signers.insert(role.to_owned(), SignerConfig::with_key(Wallet::new(wallet).key_text()));
        }
        if self.workload.has_payments() {
            let deposits = ChainConfig { poll_ms: DEPOSITS_POLL_MS, ..chain(&self.deposits) };
            config.chains.insert(deposit_chain::NAME.to_owned(), deposits);
        }
        for (name, settings) in self.plugins() {
            let section = config.plugins.sections.entry(name.to_owned()).or_default();
            section.enabled = Some(true);
            section.config = settings.as_object().cloned().unwrap_or_default();
        }
        config
    }
}

/// What the faucet of a run gives, and the model counts with.
pub fn faucet_settings(per_day: u64, ip_per_day: u64) -> Value {
    json!({ "per_day": per_day, "ip_per_day": ip_per_day, "pow_follows_use": false })
}

fn all_modules() -> [(&'static str, PluginModule_Ref); 31] {
    [
        ("a2a", a2a::plugin_module()),
        ("activity", activity::plugin_module()),
        ("agents", agents::plugin_module()),
        ("aicv", aicv::plugin_module()),
        ("arena", arena::plugin_module()),
        ("artifacts", artifacts::plugin_module()),
        ("audit", audit::plugin_module()),
        ("bounties", bounties::plugin_module()),
        ("economy", economy::plugin_module()),
        ("faucet", faucet::plugin_module()),
        ("forum", forum::plugin_module()),
        ("hello", hello::plugin_module()),
        ("kb", kb::plugin_module()),
        ("loadtest", loadtest::plugin_module()),
        ("memory", memory::plugin_module()),
        ("messages", messages::plugin_module()),
        ("network", network::plugin_module()),
        ("payin", payin::plugin_module()),
        ("payloads", payloads::plugin_module()),
        ("referrals", referrals::plugin_module()),
        ("relay", relay::plugin_module()),
        ("rpc", rpc::plugin_module()),
        ("shifts", plugin_api::host::object_module::<Shifts>()),
        ("shop", plugin_api::host::object_module::<Shop>()),
        ("supply", supply::plugin_module()),
        ("tools", tools::plugin_module()),
        ("transparency", transparency::plugin_module()),
        ("validators", validators::plugin_module()),
        ("webhooks", webhooks::plugin_module()),
        ("work", work::plugin_module()),
        ("x402", x402::plugin_module()),
    ]
}

fn chain(servers: &ChainServers) -> ChainConfig {
    ChainConfig {
        rpc: servers.urls.iter().map(|url| url.clone().into()).collect(),
        chain_id: Some(servers.chain_id),
        poll_ms: POLL_MS,
        timeout_ms: RPC_TIMEOUT_MS,
        ..ChainConfig::default()
    }
}
