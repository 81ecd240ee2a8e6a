//! An entry of the waitlist, as operators export it.

use super::{ContactKind, Platform};
use plugin_api::{Address, JsonSchema};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub id: i64,
    pub address: Address,
    pub platform: Platform,
    pub seats: i64,
    pub contact: Option<String>,
    pub contact_kind: Option<ContactKind>,
    /// Whether the contact may be kept.
    pub consent: bool,
    /// Unix seconds.
    pub created_at: i64,
    /// Whether the address signed.
    pub verified: bool,
    /// Unix seconds.
    pub signed_at: Option<i64>,
}
