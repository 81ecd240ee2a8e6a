//! The supply of the coin: total, circulating and maximum, each with what it is made of; and its price in a pool.
//!
//! README.md has the details. The rules that must not break: all numbers of a snapshot are of one block, 64 below the head; no
//! number is a float; and where a part is missing there is no new snapshot.

#![forbid(unsafe_code)]

mod chain;
mod config;
mod contributions;
mod error;
mod jobs;
mod model;
mod routes;
mod store;

pub use config::Config;

use coin_market::Venue;
use model::{Listing, Plan};
use plugin_api::{
    ConfigError, Definition, Grants, HostHandle, Plugin, Skill, chain::MAIN, export_plugin, migrations, point,
};

/// The plugin's state in memory.
pub struct Supply {
    /// How coins come into being and who holds those that do not circulate; none where the operator has not said it.
    plan: Option<Plan>,
    /// Where the coin is traded; none where the operator has not said it.
    venue: Option<Venue>,
    listing: Listing,
}

impl Plugin for Supply {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Supply")
            .routes([
                routes::get_supply::route(),
                routes::get_total_supply::route(),
                routes::get_circulating_supply::route(),
                routes::get_max_supply::route(),
                routes::get_market_coin::route(),
                routes::get_market_chart::route(),
            ])
            .migrations(migrations!["0001_create", "0002_market"])
            .jobs([jobs::job()])
            .grants(Grants { chains: vec![MAIN.to_owned()], raw_calls: true, ..Grants::default() })
            .skill(
                Skill::new(
                    "Read how many coins there are, how many circulate, and every number that this follows from",
                    &["supply", "coin", "market"],
                )
                .named("coin-supply", "Coin supply"),
            )
            .contributes(point::STATUS, contributions::status)
    }

    fn new(config: Config, host: &HostHandle) -> Result<Self, ConfigError> {
        let environment = host.environment();
        let chain_id = environment.chain_id;
        let plan = config.plan(chain_id)?;
        let venue = config.market.venue(chain_id)?;
        Ok(Self { plan, venue, listing: config.market.listing(&environment.brand) })
    }
}

export_plugin!(Supply);
