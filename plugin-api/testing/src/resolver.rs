//! Names whose addresses a test decides.

use gateway_egress::Resolver;
use std::{
    collections::HashMap,
    io,
    net::IpAddr,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A resolver for [`Builder::resolver`](crate::Builder::resolver). Clones share the names; any other name does not resolve.
#[derive(Clone, Default)]
pub struct ScriptedResolver(Arc<Mutex<HashMap<String, ScriptedName>>>);

#[derive(Default)]
struct ScriptedName {
    addresses: Vec<IpAddr>,
    lookups: usize,
}

impl ScriptedResolver {
    /// From now on the name has these addresses.
    pub fn set(&self, name: &str, addresses: &[IpAddr]) {
        addresses.clone_into(&mut self.names().entry(name.to_owned()).or_default().addresses);
    }

    /// How often the name was looked up.
    pub fn lookups(&self, name: &str) -> usize {
        self.names().get(name).map_or(0, |name| name.lookups)
    }

    fn names(&self) -> MutexGuard<'_, HashMap<String, ScriptedName>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resolver for ScriptedResolver {
    fn resolve(&self, name: String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> {
        let mut names = self.names();
        let name = names.entry(name).or_default();
        name.lookups += 1;
        Box::pin(std::future::ready(Ok(name.addresses.clone())))
    }
}
