//! Builds HTML from the page's own markup and untrusted text. Rule: `raw` takes constants of this program only, never a
//! `String`; everything else is escaped.

use std::fmt::Write as _;

#[derive(Default)]
pub(crate) struct Html(String);

impl Html {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn raw(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// Text between tags, or inside a quoted attribute.
    pub(crate) fn text(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // Control characters are not displayed, and some change the direction of the text around them.
                control if control.is_control() || is_direction(control) => self.0.push('\u{fffd}'),
                plain => self.0.push(plain),
            }
        }
    }

    pub(crate) fn number(&mut self, number: impl Into<i128>) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{}", number.into());
    }

    pub(crate) fn cell(&mut self, text: &str) {
        self.raw("<td>");
        self.text(text);
        self.raw("</td>");
    }

    pub(crate) fn number_cell(&mut self, number: impl Into<i128>) {
        self.raw("<td>");
        self.number(number);
        self.raw("</td>");
    }

    /// A word in a colour: `good`, `bad` or `calm`.
    pub(crate) fn badge(&mut self, class: &'static str, text: &str) {
        self.raw("<span class=\"badge ");
        self.raw(class);
        self.raw("\">");
        self.text(text);
        self.raw("</span>");
    }

    /// Opens a section with a table. On a small screen it scrolls by itself, by keyboard too.
    pub(crate) fn table(&mut self, title: &'static str, headings: &[&'static str]) {
        self.raw("<section tabindex=\"0\" aria-label=\"");
        self.raw(title);
        self.raw("\"><h2>");
        self.raw(title);
        self.raw("</h2><table><thead><tr>");
        for heading in headings {
            self.raw("<th scope=\"col\">");
            self.raw(heading);
            self.raw("</th>");
        }
        self.raw("</tr></thead><tbody>");
    }

    pub(crate) fn end_table(&mut self) {
        self.raw("</tbody></table></section>");
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Marks that reorder what follows: a name must not look like another one.
fn is_direction(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_place() {
        let mut html = Html::new();
        html.text("a<b>&\"c\"'\n\u{202e}é");
        assert_eq!(html.into_string(), "a&lt;b&gt;&amp;&quot;c&quot;&#39;\u{fffd}\u{fffd}é");
    }
}
