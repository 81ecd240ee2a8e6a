//! The authors of responses, each as the JSON that stands for it. They are cached by address, so that pages with other authors
//! share what they have in common.

use super::{
    cache_source::{CacheSource, track},
    collect::collect,
};
use crate::plugin::ActiveSet;
use gateway_storage::{Revisions, read_tracking};
use parking_lot::RwLock;
use plugin_api::{
    Address,
    point::{self, Author, AuthorName, AuthorsInput},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

type Records = HashMap<Address, Arc<str>>;

/// Some 200 bytes each.
const RECORDS_MAX: usize = 16_384;

pub(crate) struct AuthorRecords {
    network_name: String,
    cache: RwLock<CachedRecords>,
}

#[derive(Default)]
struct CachedRecords {
    /// What all records were made from.
    source: Option<CacheSource>,
    records: Records,
}

impl AuthorRecords {
    /// `network_name` is the name of the zero address.
    pub(crate) fn new(network_name: &str) -> Self {
        Self { network_name: network_name.to_owned(), cache: RwLock::default() }
    }

    /// `{address, name, agentId}` of each address, in their order. Without `revisions` nothing is cached. A contribution that
    /// fails leaves its authors without a name.
    pub(crate) async fn get(
        &self,
        plugins: &Arc<ActiveSet>,
        revisions: Option<&Arc<Revisions>>,
        addresses: &[Address],
    ) -> Vec<Arc<str>> {
        let none = || vec![None; addresses.len()];
        let mut found = if revisions.is_some() { self.cached(plugins, addresses).unwrap_or_else(none) } else { none() };
        let is_missing = |(address, record): (&Address, &Option<Arc<str>>)| record.is_none().then_some(*address);
        let missing: BTreeSet<Address> = addresses.iter().zip(&found).filter_map(is_missing).collect();
        if !missing.is_empty() {
            let collected = self.collect_tracked(plugins, revisions, &missing).await;
            for (address, record) in addresses.iter().zip(&mut found) {
                if record.is_none() {
                    *record = collected.get(address).cloned();
                }
            }
        }
        found.into_iter().flatten().collect()
    }

    /// Whether all are one address, as in the response to a write, whose record is not cached.
    pub(crate) fn lacks_the_only(&self, addresses: &[Address]) -> bool {
        addresses.first().is_some_and(|only| {
            addresses.iter().all(|address| address == only) && !self.cache.read().records.contains_key(only)
        })
    }

    fn cached(&self, plugins: &Arc<ActiveSet>, addresses: &[Address]) -> Option<Vec<Option<Arc<str>>>> {
        let cached = self.cache.read();
        let source = cached.source.as_ref().filter(|source| source.is_current(plugins))?;
        // A response with these records depends on the same data.
        source.record();
        Some(addresses.iter().map(|address| cached.records.get(address).cloned()).collect())
    }

    async fn collect_tracked(
        &self,
        plugins: &Arc<ActiveSet>,
        revisions: Option<&Arc<Revisions>>,
        addresses: &BTreeSet<Address>,
    ) -> Records {
        let Some(revisions) = revisions else { return self.collect(plugins, addresses).await };
        let (records, source) = track(plugins, revisions, self.collect(plugins, addresses)).await;
        if let Some(source) = source {
            self.insert(plugins, source, &records);
        }
        records
    }

    fn insert(&self, plugins: &Arc<ActiveSet>, source: CacheSource, records: &Records) {
        let mut cached = self.cache.write();
        if !source.is_unchanged() {
            return;
        }
        let has_room = cached.records.len() + records.len() <= RECORDS_MAX;
        match cached.source.as_mut().filter(|cached| has_room && cached.is_current(plugins)) {
            // Unchanged since they were made: as current as the records that are cached already.
            Some(cached) => cached.add(&source),
            None => {
                cached.records.clear();
                cached.source = Some(source);
            }
        }
        cached.records.extend(records.iter().map(|(address, record)| (*address, record.clone())));
    }

    async fn collect(&self, plugins: &ActiveSet, addresses: &BTreeSet<Address>) -> Records {
        let input = AuthorsInput { addresses: addresses.iter().copied().filter(|it| *it != Address::ZERO).collect() };
        let mut names = if input.addresses.is_empty() { BTreeMap::new() } else { names(plugins, &input).await };
        addresses.iter().map(|address| (*address, self.record(*address, names.remove(address)))).collect()
    }

    fn record(&self, address: Address, name: Option<AuthorName>) -> Arc<str> {
        let author = if address == Address::ZERO {
            Author { address, name: Some(self.network_name.clone()), agent_id: None }
        } else {
            let AuthorName { name, agent_id, .. } = name.unwrap_or_default();
            Author { address, name, agent_id }
        };
        serde_json::to_string(&author).unwrap_or_default().into()
    }
}

async fn names(plugins: &ActiveSet, input: &AuthorsInput) -> BTreeMap<Address, AuthorName> {
    let input = serde_json::to_vec(input).unwrap_or_default().into();
    let mut names = BTreeMap::new();
    for contribution in collect(plugins, point::AUTHORS.name(), &input).await {
        match contribution.decode(point::AUTHORS) {
            Some(found) => names.extend(found),
            None => read_tracking::mark_uncacheable(),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(byte: u8) -> Address {
        Address([byte; 20])
    }

    async fn get(authors: &AuthorRecords, plugins: &Arc<ActiveSet>, revisions: &Arc<Revisions>, byte: u8) -> String {
        authors.get(plugins, Some(revisions), &[address(byte)]).await.concat()
    }

    #[tokio::test]
    async fn records_are_given_in_order_and_the_zero_address_is_the_network() {
        let (authors, plugins) = (AuthorRecords::new("The Network"), Arc::<ActiveSet>::default());
        let records = authors.get(&plugins, None, &[address(7), Address::ZERO, address(7)]).await;
        let unknown = format!(r#"{{"address":"{}","name":null,"agentId":null}}"#, address(7));
        let network = format!(r#"{{"address":"{}","name":"The Network","agentId":null}}"#, Address::ZERO);
        assert_eq!(records.iter().map(|record| &**record).collect::<Vec<_>>(), [&unknown, &network, &unknown]);
        assert!(authors.cache.read().records.is_empty(), "without revisions nothing is cached");
    }

    #[tokio::test]
    async fn records_are_cached_by_address_for_one_set_of_plugins() {
        let (authors, revisions) = (AuthorRecords::new("n"), Arc::new(Revisions::default()));
        let (plugins, others) = (Arc::<ActiveSet>::default(), Arc::<ActiveSet>::default());
        let first = get(&authors, &plugins, &revisions, 1).await;
        get(&authors, &plugins, &revisions, 2).await;
        assert_eq!(authors.cache.read().records.len(), 2);
        assert_eq!(get(&authors, &plugins, &revisions, 1).await, first);
        get(&authors, &others, &revisions, 3).await;
        assert_eq!(authors.cache.read().records.keys().collect::<Vec<_>>(), [&address(3)]);
    }
}
