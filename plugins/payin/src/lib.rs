//! Pay-in: a person sends USDC, USDT or a chain's own coin on another chain, and gets the service's coin.
//!
//! README.md has the details. The rules that must not break: an amount belongs to one quote while a deposit could match it
//! (`store/quotes.rs`); what decides about money was reported alike by two RPC servers (`jobs/scan`, `jobs/presence.rs`); a quote is paid
//! once, its status, its part of the caps and the transfer in one transaction (`jobs/pay.rs`); where something is in doubt, nothing is paid
//! and the operator decides.

#![forbid(unsafe_code)]

mod config;
mod contributions;
mod error;
mod jobs;
mod model;
mod routes;
mod store;

pub use config::Config;

use model::{Market, TakenChain, Token};
use plugin_api::{
    Address, ConfigError, Definition, Event, Grants, HostHandle, Plugin, Skill, chain::MAIN, export_plugin, migrations,
    point,
};
use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

/// The plugin's state in memory.
pub struct Payin {
    config: Config,
    /// USD for one coin, with 18 decimals; none while the operator has fixed no price.
    price: Option<model::Units>,
    chains: Vec<TakenChain>,
    market: Market,
    operators: BTreeSet<Address>,
    /// Chains and tokens whose decimals were those of their contracts.
    right_decimals: Mutex<BTreeSet<(String, Address)>>,
}

impl Payin {
    /// The chain of this name on which deposits are taken.
    fn chain(&self, slug: &str) -> Option<&TakenChain> {
        self.chains.iter().find(|chain| chain.slug == slug)
    }

    /// Whether price, caps and a chain are configured.
    fn can_quote(&self) -> bool {
        self.price.is_some() && self.config.caps().is_some() && !self.chains.is_empty()
    }

    /// Whether [`Self::set_right_decimals`] was called for it.
    fn has_right_decimals(&self, slug: &str, token: &Token) -> bool {
        let right = self.right_decimals.lock().unwrap_or_else(PoisonError::into_inner);
        right.contains(&(slug.to_owned(), token.address))
    }

    fn set_right_decimals(&self, slug: &str, token: &Token) {
        let mut right = self.right_decimals.lock().unwrap_or_else(PoisonError::into_inner);
        right.insert((slug.to_owned(), token.address));
    }
}

impl Plugin for Payin {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Pay-in")
            .routes([
                routes::get_assets::route(),
                routes::get_market::route(),
                routes::create_quote::route(),
                routes::list_addresses::route(),
                routes::list_deposits::route(),
                routes::resolve_deposit::route(),
                routes::pause_payin::route(),
                routes::get_quote::route(),
            ])
            .migrations(migrations![
                "0001_create",
                "0002_market",
                "0003_prices",
                "0004_guard",
                "0005_addresses",
                "0006_one_chain",
                "0007_keep_amounts",
                "0008_restores",
            ])
            .jobs([
                jobs::scan::job(),
                jobs::pay::job(),
                jobs::follow::job(),
                jobs::read_market::job(),
                jobs::read_prices::job(),
            ])
            .grants(Grants {
                chains: vec![MAIN.to_owned()],
                all_chains: true,
                signer_roles: vec![model::ROLE.to_owned()],
                secrets: true,
                egress: true,
                ..Grants::default()
            })
            .publishes(&[model::PayinPaid::TYPE])
            .audits(&[model::PayinPaid::TYPE])
            .skill(Skill::new(
                "Buy the service's coin with USDC or USDT from another chain: ask for a quote, send exactly its amount",
                &["payin", "onboarding", "coins"],
            ))
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status)
            .contributes(point::HEALTH, contributions::health)
            .contributes(point::CONTROLS, contributions::controls)
            .contributes(point::REPORTS, contributions::reports)
            .off_by_default()
    }

    fn new(config: Config, host: &HostHandle) -> Result<Self, ConfigError> {
        let settings = config.validate(host.environment())?;
        Ok(Self {
            config,
            price: settings.price,
            chains: settings.chains,
            market: settings.market,
            operators: settings.operators,
            right_decimals: Mutex::default(),
        })
    }
}

export_plugin!(Payin);
