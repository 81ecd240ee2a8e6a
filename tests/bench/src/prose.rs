//! Texts of invented words that are as frequent as those of a language: the n-th most frequent one stands in it 1/n as often as
//! the first. The same seed makes the same text.

/// Different words.
const WORDS: f64 = 20_000.0;
const CONSONANTS: &[u8] = b"bdfgklmnprstvz";
const VOWELS: &[u8] = b"aeiou";

/// Numbers as if at random: SplitMix64.
pub struct Prose(u64);

impl Prose {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn words(&mut self, count: u64) -> String {
        (0..count).map(|_| word(self.place())).collect::<Vec<_>>().join(" ")
    }

    /// The place of a word among all by how frequent it is, from 0.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the number of words")]
    fn place(&mut self) -> u64 {
        let part = (self.number() >> 11) as f64 / (1_u64 << 53) as f64;
        WORDS.powf(part) as u64 - 1
    }
}

/// The word in this place: two syllables or more.
pub fn word(place: u64) -> String {
    let syllables = (CONSONANTS.len() * VOWELS.len()) as u64;
    let mut left = place + syllables;
    let mut word = String::new();
    while left > 0 {
        let syllable = usize::try_from(left % syllables).unwrap_or_default();
        word.push(char::from(CONSONANTS[syllable / VOWELS.len()]));
        word.push(char::from(VOWELS[syllable % VOWELS.len()]));
        left /= syllables;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn words_differ_and_the_first_are_the_most_frequent() {
        let all: std::collections::BTreeSet<String> = (0..20_000).map(word).collect();
        assert_eq!(all.len(), 20_000);
        let text = Prose::new(1).words(10_000);
        assert_eq!(text, Prose::new(1).words(10_000));
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for word in text.split(' ') {
            *counts.entry(word).or_default() += 1;
        }
        let count = |place: u64| counts.get(word(place).as_str()).copied().unwrap_or_default();
        assert!(count(0) > 2 * count(9) && count(9) > count(500), "{} {} {}", count(0), count(9), count(500));
    }
}
