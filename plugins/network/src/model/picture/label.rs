//! Names in a picture. The rule: they are text that strangers chose; none changes what surrounds it, is invisible, or is not XML.

/// A longer name ends with an ellipsis.
const CHARS_MAX: usize = 22;

/// A name as it is drawn: one line, without what hides or turns text; empty when nothing is left.
pub fn label(name: &str) -> String {
    let mut marks = 0;
    let visible = name.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter }).filter(|letter| {
        // More than one mark on a letter would be drawn over other names.
        marks = if is_mark(*letter) { marks + 1 } else { 0 };
        !is_invisible(*letter) && marks <= 1
    });
    let visible: String = visible.collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= CHARS_MAX {
        return line;
    }
    let cut: String = line.chars().take(CHARS_MAX - 1).collect();
    format!("{}…", cut.trim_end())
}

/// Controls, characters that turn the direction of text or have no width, private ones, and what XML forbids.
fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(u32::from(letter),
            0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f | 0x2028..=0x202e
                | 0x2060..=0x206f | 0x3164 | 0xd800..=0xf8ff | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
                | 0xfffe | 0xffff | 0x1d173..=0x1d17a | 0xe0000..=0x0010_ffff)
}

fn is_mark(letter: char) -> bool {
    matches!(u32::from(letter),
        0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x610..=0x61a | 0x64b..=0x65f | 0xe31 | 0xe34..=0xe3a | 0xe47..=0xe4e
            | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe20..=0xfe2f)
}

/// An estimate of how wide a text of 11 pixels is.
pub fn width(text: &str) -> f64 {
    text.chars().map(|letter| if u32::from(letter) >= 0x1100 && letter != '…' { 11.5 } else { 6.4 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_is_one_short_harmless_line() {
        for (name, drawn) in [
            ("plain", "plain"),
            ("  two \t\n words\u{2028}here ", "two words here"),
            ("\u{202e}evil\u{2066}\u{200b}\u{feff}\u{0}\u{7f}\u{ffff}", "evil"),
            ("\u{200d}\u{200e}", ""),
            ("ä😀 名前", "ä😀 名前"),
            ("Z\u{0301}\u{0302}\u{0303}a\u{0301}", "Z\u{0301}a\u{0301}"),
            ("twenty-two characters!", "twenty-two characters!"),
            ("twenty-three characters", "twenty-three characte…"),
            ("a234567890123456789 1 end", "a234567890123456789 1…"),
        ] {
            assert_eq!(label(name), drawn, "{name:?}");
        }
        assert_eq!(label(&"x".repeat(300)).chars().count(), CHARS_MAX);
    }
}
