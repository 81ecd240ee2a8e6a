//! Admission to a cache: only what is requested a second time is cached.
//!
//! moka bounds the memory, and admits by frequency only when it is full: until then it takes every entry in. Making and inserting
//! an entry costs about half of a small request, so a response that is requested once is not cached.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

const SLOTS: usize = 1 << 16;
/// Leaves as many bits of a hash as number the slots.
const SLOT_SHIFT: u32 = u64::BITS - SLOTS.ilog2();

/// The hashes of recent keys, one in each slot. A key whose slot another key has taken since counts as new again.
pub struct Doorkeeper {
    hasher: RandomState,
    slots: Box<[AtomicU64]>,
}

impl Default for Doorkeeper {
    fn default() -> Self {
        Self { hasher: RandomState::new(), slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Doorkeeper {
    /// Records the key; returns whether it was recorded recently before.
    pub fn has_seen(&self, key: &[u8]) -> bool {
        let hash = self.hasher.hash_one(key);
        // Zero marks an empty slot.
        let mark = hash | 1;
        let slot = self.slots.get(usize::try_from(hash >> SLOT_SHIFT).unwrap_or_default());
        slot.is_some_and(|seen| seen.load(Relaxed) == mark || seen.swap(mark, Relaxed) == mark)
    }
}

#[cfg(test)]
mod tests {
    use super::Doorkeeper;

    #[test]
    fn a_key_is_admitted_when_it_comes_again() {
        let doorkeeper = Doorkeeper::default();
        assert!(!doorkeeper.has_seen(b"/a"));
        assert!(doorkeeper.has_seen(b"/a") && doorkeeper.has_seen(b"/a"));
        let is_new = |number: &u32| !doorkeeper.has_seen(format!("/b?{number}").as_bytes());
        assert!((0..1000).filter(is_new).count() > 990);
    }
}
