//! Ports as the simulated threads see them: the kernel gives others in each process, and what sorts or hashes an address would do it
//! otherwise in each run.

use std::collections::BTreeMap;

const FIRST: u16 = 10_000;
/// Those of the listeners, which are asked for first, are never given again.
const AGAIN_FROM: u16 = 20_000;
const LAST: u16 = 60_000;

#[derive(Default)]
pub(super) struct Ports {
    given: u16,
    /// The kernel's, by what is seen in its place.
    real: BTreeMap<u16, u16>,
}

impl Ports {
    /// What is seen in place of a socket's own port: the next number.
    pub fn assign(&mut self, real: u16) -> u16 {
        let next = FIRST + self.given;
        let shown = if next < LAST { next } else { AGAIN_FROM };
        self.given = shown - FIRST + 1;
        self.real.insert(shown, real);
        shown
    }

    /// What is seen in place of the port of the other side.
    pub fn shown_for(&self, real: u16) -> u16 {
        self.real.iter().find(|(_, known)| **known == real).map_or(real, |(shown, _)| *shown)
    }

    pub fn real(&self, shown: u16) -> u16 {
        self.real.get(&shown).copied().unwrap_or(shown)
    }
}
