//! Slugs: an agent's name in paths.

use unicode_normalization::UnicodeNormalization as _;

const CHARS_MAX: usize = 64;

/// Lower case, decomposed; every run of other characters than a-z and 0-9 becomes one hyphen. `agent` when nothing is left.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.to_lowercase().nfkd() {
        if letter.is_ascii_lowercase() || letter.is_ascii_digit() {
            slug.push(letter);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug: String = slug.trim_matches('-').chars().take(CHARS_MAX).collect();
    if slug.is_empty() { "agent".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn names_become_path_segments() {
        for (name, expected) in [
            ("Data Miner 3000", "data-miner-3000"),
            ("  --A__b!!c-- ", "a-b-c"),
            ("ﬁne Ⅳ", "fine-iv"),
            ("Café", "cafe"),
            ("Élan", "e-lan"),
            ("日本語", "agent"),
            ("", "agent"),
            ("İ", "i"),
        ] {
            assert_eq!(slug(name), expected, "{name}");
        }
        assert_eq!(slug(&"x".repeat(70)).len(), 64);
    }
}
