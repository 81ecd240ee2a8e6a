//! Texts of others on one line of a log, a row or a response.

/// The first characters of the text on one line. Control characters become spaces: a line break would forge a line of
/// the log, and PostgreSQL stores no NUL.
pub fn sanitize_line(text: &str, chars_max: usize) -> String {
    let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(chars_max).collect();
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_and_no_longer_than_it_may_be() {
        assert_eq!(sanitize_line("two\nlines\0\t", 20), "two lines");
        assert_eq!(sanitize_line(&"ä".repeat(5), 3), "äää");
    }
}
