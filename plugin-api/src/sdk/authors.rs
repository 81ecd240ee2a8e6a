//! Names of authors that were looked up.

use super::{Address, point};
use std::collections::BTreeMap;

/// The [`point::Author`] records of the addresses that [`crate::HostHandle::authors`] looked up.
#[derive(Clone, Debug, Default)]
pub struct Authors {
    pub(super) names: BTreeMap<Address, point::AuthorName>,
    pub(super) network_name: String,
}

impl Authors {
    pub fn get(&self, address: Address) -> point::Author {
        if address == Address::ZERO {
            return point::Author { address, name: Some(self.network_name.clone()), agent_id: None };
        }
        let author = self.names.get(&address).cloned().unwrap_or_default();
        point::Author { address, name: author.name, agent_id: author.agent_id }
    }

    /// Whether the address owns an agent, active or not.
    pub fn owns_agent(&self, address: Address) -> bool {
        self.names.get(&address).is_some_and(|author| author.agent_id.is_some())
    }

    pub fn owns_active_agent(&self, address: Address) -> bool {
        self.names.get(&address).is_some_and(|author| author.active)
    }
}
