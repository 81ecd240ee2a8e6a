//! The account that drips are sent from, which the gas relay uses, too.

use plugin_api::{Address, HostError, HostHandle};

/// Role of its key.
pub const ROLE: &str = "relayer";

/// Its address; why there is none, otherwise.
pub async fn relayer(host: &HostHandle) -> Result<Result<Address, String>, HostError> {
    let address = host.signer(ROLE).configured_address().await?;
    Ok(address.ok_or_else(|| format!("the role {ROLE} has no key")))
}
