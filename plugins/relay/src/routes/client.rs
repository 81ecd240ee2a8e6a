//! Who asks, as keyed hashes.

use crate::{Relay, store::caps::Client};
use plugin_api::{HostError, RequestContext};

pub async fn client(cx: &RequestContext<Relay>) -> Result<Client, HostError> {
    let (network, site) = (cx.client_network(), cx.client_site());
    let secret = cx.secret("clients");
    let site = match site {
        Some(site) => Some(hex::encode(secret.hmac(format!("{site}/48")).await?)),
        None => None,
    };
    Ok(Client { network: Some(hex::encode(secret.hmac(network).await?)), site })
}
