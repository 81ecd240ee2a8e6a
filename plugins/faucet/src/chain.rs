//! The account that drips are sent from, which the gas relay uses, too.

use plugin_api::{Address, HostError, HostErrorCode, HostHandle};

/// Role of its key.
pub const ROLE: &str = "relayer";

/// Its address; why there is none, otherwise.
pub async fn relayer(host: &HostHandle) -> Result<Result<Address, String>, HostError> {
    match host.signer(ROLE).address().await {
        Ok(address) => Ok(Ok(address)),
        Err(error) if error.is(HostErrorCode::Disabled) => Ok(Err(format!("the role {ROLE} has no key"))),
        Err(error) => Err(error),
    }
}

/// Whether the error says that the chain cannot be read now.
pub fn is_unreadable(error: &HostError) -> bool {
    [HostErrorCode::Unavailable, HostErrorCode::Timeout, HostErrorCode::Disabled, HostErrorCode::Busy]
        .iter()
        .any(|code| error.is(*code))
}
