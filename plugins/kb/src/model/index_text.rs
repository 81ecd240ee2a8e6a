//! The words of a revision, for the full-text index.
//!
//! The rule: both databases use the same counts. SQLite counts the words itself, in texts that repeat a word as often as it
//! counts; PostgreSQL receives the counts, so that its rank can be computed by the same formula.

use super::words::words;
use std::collections::BTreeMap;

/// Maximum count of a word per column: more adds no relevance, and PostgreSQL stores no larger positions.
const COUNT_MAX: u32 = 255;

/// Weights of a word in title, summary and body.
pub const WEIGHTS: [u32; 3] = [4, 2, 1];

#[derive(Debug, PartialEq, Eq)]
pub struct IndexText {
    /// Words of title, summary and body, separated by spaces.
    pub columns: [String; 3],
    /// Each word with its weighted count in all columns.
    pub counts: BTreeMap<String, u32>,
    /// Words in all columns.
    pub length: i64,
}

impl IndexText {
    pub fn of(title: &str, summary: &str, body: &str) -> Self {
        let mut text =
            Self { columns: [title, summary, body].map(|_| String::new()), counts: BTreeMap::new(), length: 0 };
        for ((column, given), weight) in [title, summary, body].into_iter().enumerate().zip(WEIGHTS) {
            text.add(column, given, weight);
        }
        text
    }

    fn add(&mut self, column: usize, given: &str, weight: u32) {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for word in words(given) {
            let count = seen.entry(word.folded.clone().into_owned()).or_default();
            if *count == COUNT_MAX {
                continue;
            }
            *count += 1;
            self.length += 1;
            if let Some(text) = self.columns.get_mut(column) {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(&word.folded);
            }
        }
        for (word, count) in seen {
            *self.counts.entry(word).or_default() += count * weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_counted_by_its_weight() {
        let text = IndexText::of("Hire an agent", "Hire", "To hire: *hire*.");
        assert_eq!(text.columns, ["hire an agent", "hire", "to hire hire"]);
        let counts: Vec<(&str, u32)> = text.counts.iter().map(|(word, count)| (word.as_str(), *count)).collect();
        assert_eq!(counts, [("agent", 4), ("an", 4), ("hire", 8), ("to", 1)]);
        assert_eq!(text.length, 7);
    }

    #[test]
    fn a_word_that_is_repeated_for_ever_counts_255_times() {
        let text = IndexText::of("a", "", &"a ".repeat(1000));
        assert_eq!((text.counts.get("a"), text.length), (Some(&(4 + 255)), 256));
        assert_eq!(text.columns[2].len(), 255 * 2 - 1);
    }

    #[test]
    fn a_page_without_words_is_indexed() {
        assert_eq!(IndexText::of("…", "", "!").length, 0);
    }
}
