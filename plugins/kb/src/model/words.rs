//! Tokenisation: words of texts and of search queries.
//!
//! The rule: only this module splits and folds words. Both databases index its output with a tokenizer that changes nothing, so
//! that both find the same pages.

use std::{borrow::Cow, ops::Range};
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Significant characters of a word; enough for a hash. A longer word is found by its beginning.
const WORD_CHARS_MAX: usize = 80;

/// A word and its position in a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Word<'t> {
    pub range: Range<usize>,
    /// Folded for comparison: lower case, without the accents of Latin, Greek and Cyrillic letters.
    pub folded: Cow<'t, str>,
}

/// Runs of letters, digits and underscores, with their combining marks; at least one letter or digit.
pub fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text.get(from..)?.find(is_word_start)?;
            let rest = text.get(start..)?;
            let end = start + rest.find(|letter| !is_word_part(letter)).unwrap_or(rest.len());
            from = end;
            let word = text.get(start..end)?;
            if word.contains(char::is_alphanumeric) {
                return Some(Word { range: start..end, folded: fold(word) });
            }
        }
    })
}

fn is_word_start(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_word_part(letter: char) -> bool {
    is_word_start(letter) || is_combining_mark(letter)
}

fn fold(word: &str) -> Cow<'_, str> {
    if word.len() <= WORD_CHARS_MAX && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Cow::Borrowed(word);
    }
    // In other scripts combining marks are part of the letters and remain.
    let is_accent = |letter: &char| ('\u{300}'..='\u{36f}').contains(letter);
    let bare = word.nfd().filter(|letter| !is_accent(letter)).nfc();
    let lower = bare.flat_map(char::to_lowercase).filter(|letter| !is_accent(letter));
    // A sigma at the end of a Greek word has a separate form.
    Cow::Owned(lower.map(|letter| if letter == 'ς' { 'σ' } else { letter }).take(WORD_CHARS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> Vec<String> {
        words(text).map(|word| word.folded.into_owned()).collect()
    }

    #[test]
    fn words_are_runs_of_letters_digits_and_underscores() {
        for (text, expected) in [
            ("", vec![]),
            (" -- _ !", vec![]),
            ("Hello, World!", vec!["hello", "world"]),
            ("max_price=10.5", vec!["max_price", "10", "5"]),
            ("__init__ _x _", vec!["__init__", "_x"]),
            ("# Title\n\n* one", vec!["title", "one"]),
            ("a😀b", vec!["a", "b"]),
            ("日本語 テスト", vec!["日本語", "テスト"]),
            ("हिन्दी", vec!["हिन्दी"]),
        ] {
            assert_eq!(folded(text), expected, "{text:?}");
        }
    }

    #[test]
    fn case_and_accents_do_not_matter() {
        for (one, other) in [("Größe", "GRÖSSE"), ("İstanbul", "istanbul"), ("ΟΔΟΣ", "ὁδός"), ("Ёлка", "елка")]
        {
            let (one, other) = (folded(one), folded(&other.replace("SS", "ß")));
            assert_eq!(one, other);
        }
        assert_eq!(folded("Cafe\u{301} Café"), ["cafe", "cafe"]);
    }

    #[test]
    fn a_word_has_its_byte_range() {
        let text = "«Élan» vital";
        let places: Vec<_> = words(text).map(|word| &text[word.range]).collect();
        assert_eq!(places, ["Élan", "vital"]);
    }

    #[test]
    fn a_long_word_counts_with_its_beginning() {
        let hash = format!("0x{}", "a".repeat(64));
        assert_eq!(folded(&hash), [hash.as_str()]);
        assert_eq!(folded(&"X".repeat(100)), ["x".repeat(80)]);
        assert_eq!(folded(&"x".repeat(100)), ["x".repeat(80)]);
        assert_eq!(folded(&"é".repeat(100)), ["e".repeat(80)]);
    }
}
