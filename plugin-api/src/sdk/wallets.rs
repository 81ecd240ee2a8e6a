//! The wallets of a role that has a seed: many accounts whose transactions the plugin follows itself.

use super::HostHandle;
use crate::{
    abi::{HostError, HostErrorCode},
    manifest::{JournalCall, MAIN, SignedTransaction, WalletTransaction},
};

/// The wallets of a role on the main chain; made by [`HostHandle::wallets`].
pub struct Wallets<'h> {
    host: &'h HostHandle,
    role: String,
}

impl HostHandle {
    /// The wallets of a role that has a seed instead of a key: `loadtest`. It must be among the grants (`signer_roles`).
    pub fn wallets(&self, role: &str) -> Wallets<'_> {
        Wallets { host: self, role: role.to_owned() }
    }
}

impl Wallets<'_> {
    /// The extended public key of which wallet `i` is the child `i`; `None` when the role has no seed.
    pub async fn xpub(&self) -> Result<Option<String>, HostError> {
        match self.host.call_journal(JournalCall::Xpub { role: self.role.clone() }).await {
            Ok(xpub) => Ok(Some(xpub)),
            Err(error) if error.is(HostErrorCode::Disabled) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Signs these transactions, at most 500, in their order. The gateway neither stores nor sends them: store each before you
    /// send it. What is signed for the same transaction is the same.
    ///
    /// # Errors
    ///
    /// [`HostErrorCode::Unavailable`] while the gateway's own transactions wait for a block: they go first.
    pub async fn sign(&self, transactions: Vec<WalletTransaction>) -> Result<Vec<SignedTransaction>, HostError> {
        self.host
            .call_journal(JournalCall::SignWallets { role: self.role.clone(), chain: MAIN.to_owned(), transactions })
            .await
    }

    /// How many of the gateway's own transactions wait for a block.
    pub async fn waiting(&self) -> Result<u64, HostError> {
        self.host.call_journal(JournalCall::Waiting { chain: MAIN.to_owned() }).await
    }
}
