//! What the relay works with: the relayer's key, the factory and its accounts, the contracts that may be called.

use crate::{
    error::RelayError,
    model::{ACCOUNT_FACTORY, IS_ACCOUNT, TARGETS},
};
use plugin_api::{
    Address, HandlerError, HostError, HostHandle,
    chain::{ContractCall, MAIN},
};

/// Role of the key that pays.
pub const ROLE: &str = "relayer";

/// Without one of both nothing is relayed.
#[derive(Clone, Copy, Debug)]
pub struct Deployment {
    pub relayer: Address,
    pub factory: Address,
}

/// The relayer's address; why there is none, otherwise.
pub async fn relayer(host: &HostHandle) -> Result<Result<Address, String>, HostError> {
    let address = host.signer(ROLE).configured_address().await?;
    Ok(address.ok_or_else(|| format!("the role {ROLE} has no key")))
}

/// The deployment, or why there is none.
pub async fn deployment(host: &HostHandle) -> Result<Result<Deployment, String>, HostError> {
    let relayer = match relayer(host).await? {
        Ok(relayer) => relayer,
        Err(reason) => return Ok(Err(reason)),
    };
    let Some(factory) = host.environment().contract(ACCOUNT_FACTORY) else {
        return Ok(Err(format!("the contract {ACCOUNT_FACTORY} is not deployed")));
    };
    Ok(Ok(Deployment { relayer, factory }))
}

pub async fn require(host: &HostHandle) -> Result<Deployment, HandlerError<RelayError>> {
    let disabled = |reason| RelayError::Disabled { disabled: true, reason };
    Ok(deployment(host).await?.map_err(disabled)?)
}

/// The contracts that may be called, by their keys.
pub fn targets(host: &HostHandle) -> impl Iterator<Item = (&'static str, Address)> {
    TARGETS.into_iter().filter_map(|key| Some((key, host.environment().contract(key)?)))
}

/// Whether there is code at the address, and whether it is an account of the factory.
pub async fn look_up(host: &HostHandle, factory: Address, account: Address) -> Result<(bool, bool), HostError> {
    let chain = host.chain(MAIN);
    if chain.code(account).await? == "0x" {
        return Ok((false, false));
    }
    Ok((true, chain.call(ContractCall::new(factory, IS_ACCOUNT).arg(account)?).await?))
}
