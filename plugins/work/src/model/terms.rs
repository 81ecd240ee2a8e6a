//! Search terms.

const TERMS_MAX: usize = 12;
const TERM_CHARS_MIN: usize = 2;

/// The first twelve different words of a text in lower case; a word consists of at least two letters, digits and `+#._-`.
pub fn search_terms(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let is_part =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || "+#._-".contains(character);
    let mut terms: Vec<String> = Vec::new();
    for word in text.split(|character| !is_part(character)).filter(|word| word.len() >= TERM_CHARS_MIN) {
        if terms.len() < TERMS_MAX && !terms.iter().any(|term| term == word) {
            terms.push(word.to_owned());
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_at_everything_else() {
        assert_eq!(search_terms("C++, c# Rust/rust; a node.js é_x"), ["c++", "c#", "rust", "node.js", "_x"]);
        assert_eq!(search_terms("! a b"), Vec::<String>::new());
        let many: Vec<String> = (10..40).map(|number| number.to_string()).collect();
        assert_eq!(search_terms(&many.join(" ")), many[..12]);
    }
}
