//! Two gateways on one PostgreSQL database, as behind a load balancer: to clients they look like one.

mod jobs;
mod limits;
mod load;
mod several_machines;

use crate::crash::small_setup;
use crate::e2e::Site;
use gateway_tests::{
    postgres,
    process::{GatewayProcess, Setup},
};

pub struct Pair {
    pub setups: [Setup; 2],
    pub gateways: [GatewayProcess; 2],
    pub sites: [Site; 2],
}

impl Pair {
    /// Both start at once, on an empty database.
    pub async fn start(adjust: impl Fn(Setup) -> Setup) -> Self {
        let url = postgres::fresh_database().await.unwrap();
        let setup = || adjust(small_setup().set("database.url", &url));
        let setups = [setup(), setup()];
        let (one, other) = tokio::join!(setups[0].start(), setups[1].start());
        let gateways = [one.unwrap(), other.unwrap()];
        let sites = [Site::of(&gateways[0]), Site::of(&gateways[1])];
        Self { setups, gateways, sites }
    }
}
