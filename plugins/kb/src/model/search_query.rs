//! Search queries: up to twelve word prefixes, all of which a page must contain.

use super::words::words;

const WORDS_MAX: usize = 12;

/// At least one prefix, normalised like the index, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery(Vec<String>);

impl SearchQuery {
    /// `None` when the text contains no word; then nothing matches.
    pub fn parse(text: &str) -> Option<Self> {
        let mut beginnings: Vec<String> = Vec::new();
        for word in words(text) {
            if beginnings.len() < WORDS_MAX && !beginnings.iter().any(|known| *known == word.folded) {
                beginnings.push(word.folded.into_owned());
            }
        }
        (!beginnings.is_empty()).then_some(Self(beginnings))
    }

    /// The prefixes.
    pub fn beginnings(&self) -> &[String] {
        &self.0
    }

    /// The index of the first prefix that this word begins with.
    pub fn hit(&self, folded: &str) -> Option<usize> {
        self.0.iter().position(|beginning| folded.starts_with(beginning.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beginnings(text: &str) -> Vec<String> {
        SearchQuery::parse(text).map(|query| query.0).unwrap_or_default()
    }

    #[test]
    fn words_are_folded_and_not_repeated() {
        assert_eq!(beginnings("Escrow, esCROW  jobs*"), ["escrow", "jobs"]);
        assert_eq!(beginnings("\"a\" OR (b NOT c)"), ["a", "or", "b", "not", "c"]);
    }

    #[test]
    fn a_text_without_words_searches_for_nothing() {
        for text in ["", " ", "!!!", "*", "\"\"", "_"] {
            assert_eq!(SearchQuery::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn twelve_words_count() {
        let text: Vec<String> = (0..20).map(|number| format!("w{number}")).collect();
        assert_eq!(beginnings(&text.join(" ")), text[..12]);
    }
}
