//! Turns random bytes into inputs that get past the first checks: a file of the corpus with a few changes. Rule: the
//! input is tried unchanged first, so that a coverage-guided fuzzer controls it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "only tests use it")]

use std::{fs, path::Path};

/// Changes to one seed; more would leave nothing of it.
const CHANGES_MAX: usize = 12;

pub struct Seeds {
    texts: Vec<Vec<u8>>,
    words: &'static [&'static str],
}

impl Seeds {
    /// Loads the corpus of a target from the crate with that `CARGO_MANIFEST_DIR`; `words` are inserted at random
    /// places.
    pub fn load(manifest_dir: &str, target: &str, words: &'static [&'static str]) -> Self {
        let folder = Path::new(manifest_dir).join("src/fuzz/__fuzz__").join(target).join("corpus");
        let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut texts: Vec<Vec<u8>> = files.map(|file| fs::read(file.unwrap().path()).unwrap()).collect();
        texts.sort();
        assert!(!texts.is_empty(), "{} is empty", folder.display());
        Self { texts, words }
    }

    /// Runs the target on the input, and on a seed that the input mutates.
    pub fn run(&self, input: &[u8], target: impl Fn(&[u8])) {
        target(input);
        target(&self.mutated(input));
    }

    fn mutated(&self, input: &[u8]) -> Vec<u8> {
        let mut choices = input.iter().copied().map(usize::from);
        let mut next = || choices.next().unwrap_or_default();
        let mut text = self.texts[next() % self.texts.len()].clone();
        for _ in 0..next() % CHANGES_MAX {
            let at = (next() * 256 + next()) % (text.len() + 1);
            let (kind, argument) = (next(), next());
            let end = (at + 1 + argument % 16).min(text.len());
            match kind % 7 {
                0 if at < text.len() => text[at] = u8::try_from(argument).unwrap(),
                1 => text.insert(at, u8::try_from(argument).unwrap()),
                2 => drop(text.drain(at..end)),
                3 => text.splice(at..at, self.words[argument % self.words.len()].bytes()).for_each(drop),
                4 => text.extend_from_within(at..end),
                5 => text.truncate(at),
                _ => {
                    let other = &self.texts[argument % self.texts.len()];
                    text.truncate(at);
                    text.extend_from_slice(&other[at.min(other.len())..]);
                }
            }
        }
        text
    }
}
