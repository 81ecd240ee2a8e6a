//! The pause for clients that break the rules of HTTP/2. There is no request whose response could wait, so the next
//! connections from that client network wait. Rule: an expired penalty is forgotten, so the list stays as short as the
//! recent offenders.

use crate::client_network::client_network;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Above this many networks, expired entries are removed.
const PRUNE_ABOVE: usize = 256;

/// The networks whose new connections wait, and until when.
#[derive(Debug, Default)]
pub struct Penalties(Mutex<HashMap<IpAddr, Instant>>);

impl Penalties {
    pub fn add(&self, ip: IpAddr, pause: Duration) {
        let now = Instant::now();
        let mut penalties = self.0.lock();
        if penalties.len() > PRUNE_ABOVE {
            penalties.retain(|_, until| *until > now);
        }
        penalties.insert(client_network(ip), now + pause);
    }

    pub async fn wait(&self, ip: IpAddr) {
        let until = self.0.lock().get(&client_network(ip)).copied();
        if let Some(until) = until {
            sleep_until(until).await;
        }
    }
}
