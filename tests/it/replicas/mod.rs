//! Gateways on one PostgreSQL database, as behind a load balancer: to clients they look like one.

mod contention;
mod database_restart;
mod frozen_sequencer;
mod jobs;
mod kills;
mod limits;
mod listening;
mod load;
mod lost_commit;
mod pgbouncer;
mod reconnecting_reader;
mod resume;
mod round_trips;
mod several_machines;
mod switches;
mod unsigned_commit;

use crate::crash::{Dice, Ledger, Load, Outcome, Write, send, small_setup};
use crate::e2e::Site;
use futures_util::future::join_all;
use gateway_tests::{
    postgres,
    process::{GatewayProcess, LIMIT, Setup},
};
use plugin_testing::{TestGateway, Wallet};
use reconnecting_reader::ReconnectingReader;
use std::time::Instant;

/// The number behind a load balancer that README proposes.
const THREE: usize = 3;

pub struct Replicas {
    pub setups: Vec<Setup>,
    pub gateways: Vec<GatewayProcess>,
    pub sites: Vec<Site>,
}

impl Replicas {
    /// All start at once, on an empty database, and listen to each other.
    pub async fn start(count: usize, adjust: impl Fn(Setup) -> Setup) -> Self {
        let url = postgres::fresh_database().await.unwrap();
        Self::start_on(&url, count, |setup| adjust(setup.set("database.listen_url", &url))).await
    }

    pub async fn start_on(url: &str, count: usize, adjust: impl Fn(Setup) -> Setup) -> Self {
        let setups: Vec<Setup> = (0..count).map(|_| adjust(small_setup().set("database.url", url))).collect();
        let started = join_all(setups.iter().map(Setup::start)).await;
        let gateways: Vec<GatewayProcess> = started.into_iter().map(Result::unwrap).collect();
        let sites = gateways.iter().map(Site::of).collect();
        Self { setups, gateways, sites }
    }

    /// Starts a gateway again that was killed.
    pub async fn start_again(&mut self, index: usize) {
        self.gateways[index] = self.setups[index].start().await.unwrap();
        self.sites[index] = Site::of(&self.gateways[index]);
    }

    /// All but this one.
    pub fn others(&self, index: usize) -> Vec<Site> {
        let others = self.sites.iter().enumerate().filter(|(other, _)| *other != index);
        others.map(|(_, site)| site.clone()).collect()
    }
}

/// Sends what got no answer again, until all of it is acknowledged or refused.
async fn send_unanswered_again(sites: &[Site], ledger: &mut Ledger, wallets: &[Wallet], dice: &Dice) {
    let started = Instant::now();
    while ledger.count(Outcome::Unknown) > 0 {
        assert!(started.elapsed() < LIMIT, "{} writes get no answer", ledger.count(Outcome::Unknown));
        let unanswered = ledger.take_unknown();
        eprintln!("{} writes got no answer", unanswered.len());
        let mut load = Load::new(sites, "again");
        load.only_retries = true;
        ledger.writes.extend(load.run(wallets, dice, unanswered).await);
    }
}

/// A write after all others, by which readers know that they have everything. It is repeated while the gateway says so.
async fn write_last(site: &Site, ledger: &mut Ledger, text: &str) {
    let mut last = Write::thread(&Wallet::new(100), text);
    let is_stored = async || match send(site, &last).await.map(|(status, code, _)| (status, code)) {
        Some((201, _)) => true,
        Some((409, code)) if code == "replay" => true,
        Some((503, _)) => false,
        other => panic!("{other:?}"),
    };
    TestGateway::eventually(LIMIT, "the last write is stored", is_stored).await;
    last.outcome = Outcome::Acknowledged;
    ledger.writes.push(last);
}
