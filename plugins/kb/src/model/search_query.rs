//! Search queries: up to twelve word prefixes, all of which a page must contain.

use super::words::words;

const WORDS_MAX: usize = 12;

/// At least one prefix, normalised like the index, without duplicates.
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
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_not_repeated() {
        assert_eq!(SearchQuery::parse("Escrow, esCROW  jobs*").unwrap().beginnings(), ["escrow", "jobs"]);
        assert_eq!(SearchQuery::parse("\"a\" OR (b NOT c)").unwrap().beginnings(), ["a", "or", "b", "not", "c"]);
    }
}
