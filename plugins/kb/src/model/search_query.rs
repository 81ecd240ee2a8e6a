//! What is searched for: up to twelve beginnings of words, all of which a page must have.

use super::words::words;

const WORDS_MAX: usize = 12;

/// At least one word, as the index has it, none twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery(Vec<String>);

impl SearchQuery {
    /// Nothing when there is no word in the text: then no page has it.
    pub fn parse(text: &str) -> Option<Self> {
        let mut beginnings: Vec<String> = Vec::new();
        for word in words(text) {
            if beginnings.len() < WORDS_MAX && !beginnings.iter().any(|known| *known == word.folded) {
                beginnings.push(word.folded.into_owned());
            }
        }
        (!beginnings.is_empty()).then_some(Self(beginnings))
    }

    /// The beginnings.
    pub fn beginnings(&self) -> &[String] {
        &self.0
    }

    /// The place of the first beginning that this word has.
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
