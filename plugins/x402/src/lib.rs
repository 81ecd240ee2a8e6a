//! x402: payments for priced routes by signed vouchers, which a vault on the chain settles in batches.
//!
//! README.md has the details. The rules that must not break: a nonce of a payer is taken once, under his row (`contributions/
//! reserve.rs`); a voucher that was kept is in the queue, in exactly one batch, or decided by the vault (`jobs/`); what became of it is
//! computed from the stored row and the vault's logs (`model/state.rs`), so a reorganisation needs no repair.

#![forbid(unsafe_code)]

mod chain;
mod config;
mod contributions;
mod error;
mod jobs;
mod model;
mod routes;
mod store;

pub use config::{Config, RefRule};

use plugin_api::{
    ConfigError, Definition, Grants, Hash256, HostHandle, Plugin, Skill, chain::MAIN as MAIN_CHAIN, export_plugin,
    migrations, payment, point,
};
use std::sync::{Mutex, OnceLock, atomic::AtomicU64};

/// The plugin's state in memory.
pub struct X402 {
    config: Config,
    names: model::Names,
    /// The facilitator's account, as it was read last.
    funded: Mutex<Option<contributions::FundedAccount>>,
    /// What kept batches from being sent.
    blocked: Mutex<Option<contributions::BlockedQueue>>,
    /// The domain that the vault says it checks, if it says so; unset until it was asked.
    vault_domain: OnceLock<Option<Hash256>>,
    /// Asks for batches.
    settle_wake: jobs::SettleWake,
    /// Nonces that were proposed.
    nonce_hints: AtomicU64,
}

impl Plugin for X402 {
    type Config = Config;

    fn define() -> Definition<Self> {
        let definition = Definition::new()
            .tag("x402 payments")
            .routes([
                routes::get_supported::route(),
                routes::verify_payment::route(),
                routes::settle_payment::route(),
                routes::get_payer::route(),
            ])
            .migrations(migrations![
                "0001_create",
                "0002_deposits",
                "0003_audit",
                "0004_keep_sums",
                "0005_open_vouchers"
            ])
            .views(&["x402_payees_v1"])
            .jobs([jobs::settle::job(), jobs::follow::job(), jobs::close::job()])
            .grants(Grants {
                chains: vec![MAIN_CHAIN.to_owned()],
                signer_roles: vec![contributions::ROLE.to_owned()],
                ..Grants::default()
            })
            .publishes(&chain::EVENT_TYPES)
            .skill(
                Skill::new(
                    "Pay for calls with signed vouchers; as a server, have payments checked and settled",
                    &["x402", "payments", "vouchers"],
                )
                .examples(&[
                    "GET /api/x402/supported",
                    "POST /api/x402/verify {paymentPayload, paymentRequirements}",
                    "POST /api/x402/settle {paymentPayload, paymentRequirements}",
                ]),
            )
            .provides(payment::OFFER, contributions::offer)
            .provides(payment::CHECK, contributions::check)
            .provides_in_write(payment::RESERVE, contributions::take)
            .provides(payment::END, contributions::end)
            .provides(payment::PAID_SINCE, contributions::paid_since)
            .contributes(point::CV_CLAIMS, contributions::cv_claims)
            .contributes(point::AUDIT, contributions::audit_lines)
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status)
            .contributes(point::HEALTH, contributions::health)
            .contributes(point::DISCOVERY, contributions::discovery);
        chain::subscribe(definition)
    }

    fn new(config: Config, host: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        let names = model::Names::new(&config, host.environment().chain_id);
        Ok(Self {
            config,
            names,
            funded: Mutex::default(),
            blocked: Mutex::default(),
            vault_domain: OnceLock::new(),
            settle_wake: jobs::SettleWake::default(),
            nonce_hints: AtomicU64::default(),
        })
    }
}

export_plugin!(X402);
