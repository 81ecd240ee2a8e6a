//! Who asks, as keyed hashes.

use crate::{Relay, store::caps::Client};
use plugin_api::{HostError, RequestContext};

pub async fn client(cx: &RequestContext<Relay>) -> Result<Client, HostError> {
    let (network, site) = cx.client_hashes("clients").await?;
    Ok(Client { network: Some(network), site })
}
