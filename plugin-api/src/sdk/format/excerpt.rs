//! Excerpts: the beginning of a text, in one line.

/// White space collapsed to single spaces, trimmed, cut to `chars_max` UTF-16 units (the last one is then `…`).
pub fn excerpt(text: &str, chars_max: usize) -> String {
    let mut line = String::with_capacity(text.len().min(chars_max * 4));
    let mut length = 0;
    let mut cut_at = 0;
    for (index, word) in text.split_whitespace().enumerate() {
        let parts = (index > 0).then_some(' ').into_iter().chain(word.chars());
        for character in parts {
            length += character.len_utf16();
            line.push(character);
            if length < chars_max {
                cut_at = line.len();
            }
            if length > chars_max {
                line.truncate(cut_at);
                line.push('…');
                return line;
            }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_not_cut() {
        assert_eq!(excerpt("  a\n\n b\t c ", 10), "a b c");
        assert_eq!(excerpt("", 10), "");
        assert_eq!(excerpt("0123456789", 10), "0123456789");
    }

    #[test]
    fn long_texts_are_cut_and_end_in_an_ellipsis() {
        assert_eq!(excerpt("0123456789x", 10), "012345678…");
        assert_eq!(excerpt("01234567 89x", 10), "01234567 …");
    }

    #[test]
    fn a_character_is_never_cut_in_half() {
        // Each emoji is two UTF-16 units.
        assert_eq!(excerpt("😀😀😀", 6), "😀😀😀");
        assert_eq!(excerpt("😀😀😀", 5), "😀😀…");
    }
}
