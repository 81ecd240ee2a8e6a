//! Snippets: the part of a text that shows best why it matched.

use super::{SearchQuery, words::words};
use std::ops::Range;

/// Length of a snippet in words.
const WORDS: usize = 14;

/// The fourteen words with the most matches, in one line, with matches in `[brackets]`. The beginning when nothing matches.
pub fn snippet(text: &str, query: &SearchQuery) -> String {
    let words: Vec<SnippetWord> =
        words(text).map(|word| SnippetWord { hit: query.hit(&word.folded), at: word.range }).collect();
    let window = best_window(&words);
    let (Some(first), Some(last)) = (words.get(window.start), words.get(window.end.saturating_sub(1))) else {
        return String::new();
    };
    let mut line = String::new();
    let mut end = first.at.start;
    for word in words.get(window.clone()).unwrap_or_default() {
        push_line(&mut line, text.get(end..word.at.start).unwrap_or_default());
        let shown = text.get(word.at.clone()).unwrap_or_default();
        if word.hit.is_some() {
            line.extend(["[", shown, "]"]);
        } else {
            line.push_str(shown);
        }
        end = word.at.end;
    }
    let begins = if window.start == 0 { "" } else { "…" };
    let ends = if last.at == words.last().map_or(0..0, |word| word.at.clone()) { "" } else { "…" };
    format!("{begins}{line}{ends}")
}

struct SnippetWord {
    at: Range<usize>,
    hit: Option<usize>,
}

/// Appends the text between two words, with white space collapsed.
fn push_line(line: &mut String, between: &str) {
    let mut was_space = false;
    for letter in between.chars() {
        if !letter.is_whitespace() {
            line.push(letter);
        } else if !was_space {
            line.push(' ');
        }
        was_space = letter.is_whitespace();
    }
}

/// The window with the most different prefixes, then the most matches, then the first; its matches are centred.
fn best_window(words: &[SnippetWord]) -> Range<usize> {
    let mut best = (0, 0, 0..words.len().min(WORDS));
    for start in (0..words.len()).filter(|index| words.get(*index).is_some_and(|word| word.hit.is_some())) {
        let end = (start + WORDS).min(words.len());
        let hits = || words.get(start..end).unwrap_or_default().iter().filter_map(|word| word.hit);
        let different = hits().fold(0_u32, |seen, hit| seen | 1 << hit.min(31)).count_ones();
        let count = hits().count();
        if (different, count) > (best.0, best.1) {
            best = (different, count, start..end);
        }
    }
    let (_, count, window) = best;
    if count == 0 { window } else { centred(words, window) }
}

fn centred(words: &[SnippetWord], window: Range<usize>) -> Range<usize> {
    let is_hit = |index: &usize| words.get(*index).is_some_and(|word| word.hit.is_some());
    let last_hit = window.clone().rev().find(is_hit).unwrap_or(window.start);
    let spare = WORDS.saturating_sub(last_hit + 1 - window.start);
    let latest = words.len().saturating_sub(WORDS);
    let start = window.start.saturating_sub(spare / 2).min(latest);
    start..(start + WORDS).min(words.len())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn of(text: &str, query: &str) -> String {
        snippet(text, &SearchQuery::parse(query).unwrap())
    }

    fn numbers(range: Range<usize>) -> String {
        range.map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn hits_stand_in_brackets() {
        assert_eq!(of("To hire, *requestJob* is called.", "REQUEST hire"), "To [hire], *[requestJob]* is called");
        assert_eq!(of("one\n\n  two\tthree", "two"), "one [two] three");
    }

    #[test]
    fn a_text_without_a_hit_shows_its_beginning() {
        assert_eq!(of("short text", "x"), "short text");
        assert_eq!(of(&numbers(0..20), "x"), format!("{}…", numbers(0..14)));
        assert_eq!(of("", "x"), "");
        assert_eq!(of("!?", "x"), "");
    }

    #[test]
    fn the_hits_stand_in_the_middle() {
        let text = format!("{} needle {}", numbers(0..30), numbers(30..60));
        assert_eq!(of(&text, "needle"), format!("…{} [needle] {}…", numbers(24..30), numbers(30..37)));
        let text = format!("{} needle", numbers(0..30));
        assert_eq!(of(&text, "needle"), format!("…{} [needle]", numbers(17..30)));
        let text = format!("needle {}", numbers(0..30));
        assert_eq!(of(&text, "needle"), format!("[needle] {}…", numbers(0..13)));
    }

    #[test]
    fn the_part_with_most_of_the_query_is_shown() {
        let text = format!("one one one {} one two {}", numbers(0..40), numbers(40..60));
        let shown = of(&text, "one two");
        assert!(shown.contains("[one] [two]") && shown.starts_with('…'), "{shown}");
    }
}
