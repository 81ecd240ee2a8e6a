//! Search terms.

/// Lower case, at least two characters each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms(Vec<String>);

const TERMS_MAX: usize = 12;
const TERM_CHARS_MIN: usize = 2;

impl Terms {
    /// The first twelve words of a text; a word consists of letters, digits and `+#._-`.
    pub fn of(text: &str) -> Self {
        let text = text.to_lowercase();
        let is_part = |character: char| {
            character.is_ascii_lowercase() || character.is_ascii_digit() || "+#._-".contains(character)
        };
        let words = text.split(|character| !is_part(character)).filter(|word| word.len() >= TERM_CHARS_MIN);
        let mut terms: Vec<String> = Vec::new();
        for word in words {
            if terms.len() < TERMS_MAX && !terms.iter().any(|term| term == word) {
                terms.push(word.to_owned());
            }
        }
        Self(terms)
    }

    /// Whether any term occurs in the lower-case text. Without terms every text matches.
    pub fn match_any(&self, text: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|term| text.contains(term.as_str()))
    }

    pub fn words(&self) -> &[String] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_at_everything_else() {
        assert_eq!(Terms::of("C++, c# Rust/rust; a node.js é_x").0, ["c++", "c#", "rust", "node.js", "_x"]);
        assert_eq!(Terms::of("! a b").0, Vec::<String>::new());
        let many: Vec<String> = (10..40).map(|number| number.to_string()).collect();
        assert_eq!(Terms::of(&many.join(" ")).0, many[..12]);
    }

    #[test]
    fn one_matching_term_is_enough() {
        assert!(Terms::of("Data, sorting").match_any("dig for metadata"));
        assert!(!Terms::of("sorting").match_any("dig for metadata"));
        assert!(Terms::of("").match_any("anything"));
    }
}
