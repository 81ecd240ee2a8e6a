//! What was asked for before, so that memory goes to answers that are wanted again, not to those that are wanted once.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

const PLACES: usize = 1 << 16;
/// Leaves as many bits of a hash as number the places.
const PLACE_SHIFT: u32 = u64::BITS - PLACES.ilog2();

/// What was asked for lately, by its hash: one in each place. What shares a place forgets the other, and is kept later.
pub struct Asked {
    hasher: RandomState,
    places: Box<[AtomicU64]>,
}

impl Default for Asked {
    fn default() -> Self {
        Self { hasher: RandomState::new(), places: (0..PLACES).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Asked {
    /// Whether this was asked for before; from now on it was.
    pub fn note(&self, key: &[u8]) -> bool {
        let hash = self.hasher.hash_one(key);
        // Zero is a place that is empty.
        let mark = hash | 1;
        let place = self.places.get(usize::try_from(hash >> PLACE_SHIFT).unwrap_or_default());
        place.is_some_and(|known| known.load(Relaxed) == mark || known.swap(mark, Relaxed) == mark)
    }
}

#[cfg(test)]
mod tests {
    use super::Asked;

    #[test]
    fn what_is_asked_for_again_is_known() {
        let asked = Asked::default();
        assert!(!asked.note(b"/a"));
        assert!(asked.note(b"/a") && asked.note(b"/a"));
        let is_new = |number: &u32| !asked.note(format!("/b?{number}").as_bytes());
        assert!((0..1000).filter(is_new).count() > 990);
    }
}
