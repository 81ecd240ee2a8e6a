//! What a gateway tells the others on its database of itself.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatewayDescription {
    /// Machine and port.
    pub name: String,
    pub version: String,
    /// The state of each plugin, by its name.
    pub plugins: BTreeMap<String, String>,
}
