//! Agent accounts: wallets that are contracts.

use plugin_api::{Address, Hash256, JsonSchema};
use serde::{Deserialize, Serialize};

/// An account of the factory; also its row in the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountView {
    pub account: Address,
    /// Who it was made for; the factory does not tell of later owners.
    pub owner: Address,
    /// Unix seconds.
    pub created_at: i64,
    pub tx_hash: Option<Hash256>,
}
