//! Aligned columns for people. Rule: text from outside cannot steer the terminal; control characters are shown, not sent.

use std::fmt::Write;

/// Colours that carry a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    Good,
    Warning,
    Bad,
    Faint,
}

impl Colour {
    fn escape(self) -> &'static str {
        match self {
            Self::Good => "\x1b[32m",
            Self::Warning => "\x1b[33m",
            Self::Bad => "\x1b[31m",
            Self::Faint => "\x1b[2m",
        }
    }
}

const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";
const GAP: &str = "  ";

/// One field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    text: String,
    colour: Option<Colour>,
}

impl Cell {
    pub fn coloured(text: impl AsRef<str>, colour: Colour) -> Self {
        Self { text: printable(text.as_ref()), colour: Some(colour) }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: printable(text.as_ref()), colour: None }
    }
}

/// Rows under a head, each column as wide as its widest cell.
#[derive(Debug, Clone)]
pub struct Table<const COLUMNS: usize> {
    head: [Cell; COLUMNS],
    rows: Vec<[Cell; COLUMNS]>,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    pub fn new(head: [&str; COLUMNS]) -> Self {
        Self { head: head.map(Cell::from), rows: Vec::new() }
    }

    pub fn row(&mut self, cells: [Cell; COLUMNS]) {
        self.rows.push(cells);
    }

    /// The table as text that ends with a line break.
    pub fn render(&self, colour: bool) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let widths: [usize; COLUMNS] =
            std::array::from_fn(|column| lines().map(|cells| width(&cells[column].text)).max().unwrap_or(0));
        let mut out = String::new();
        for (index, cells) in lines().enumerate() {
            let line_start = out.len();
            for (column, cell) in cells.iter().enumerate() {
                let escape = if index == 0 { Some(BOLD) } else { cell.colour.map(Colour::escape) };
                write_cell(&mut out, cell, escape.filter(|_| colour && !cell.text.is_empty()));
                if column + 1 < COLUMNS {
                    let padding = widths[column].saturating_sub(width(&cell.text));
                    let _infallible = write!(out, "{:padding$}{GAP}", "");
                }
            }
            let line_end = out.trim_end_matches(' ').len().max(line_start);
            out.truncate(line_end);
            out.push('\n');
        }
        out
    }
}

fn write_cell(out: &mut String, cell: &Cell, escape: Option<&str>) {
    match escape {
        Some(escape) => out.extend([escape, &cell.text, RESET]),
        None => out.push_str(&cell.text),
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Shows control characters as escapes, so that a plugin's text cannot colour, move or clear the operator's terminal.
pub(super) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() { shown.extend(character.escape_default()) } else { shown.push(character) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugins() -> Table<3> {
        let mut table = Table::new(["NAME", "STATE", "REASON"]);
        table.row(["forum".into(), Cell::coloured("serving", Colour::Good), "".into()]);
        table.row(["a".into(), Cell::coloured("refused", Colour::Bad), "built for another machine".into()]);
        table
    }

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_blanks() {
        let expected = "NAME   STATE    REASON\nforum  serving\na      refused  built for another machine\n";
        assert_eq!(plugins().render(false), expected);
    }

    #[test]
    fn colour_does_not_move_columns() {
        let coloured = plugins().render(true);
        assert!(coloured.contains("\x1b[32mserving\x1b[0m"), "{coloured:?}");
        let mut plain = coloured;
        for escape in [BOLD, RESET, "\x1b[32m", "\x1b[31m"] {
            plain = plain.replace(escape, "");
        }
        let trimmed: Vec<_> = plain.lines().map(str::trim_end).collect();
        assert_eq!(trimmed, plugins().render(false).lines().collect::<Vec<_>>());
    }

    #[test]
    fn text_from_outside_cannot_steer_the_terminal() {
        let mut table = Table::new(["NAME"]);
        table.row(["evil\x1b[2J\nname\u{9b}".into()]);
        assert_eq!(table.render(true).matches('\x1b').count(), 2, "only the head's own escapes");
        assert!(table.render(false).ends_with("evil\\u{1b}[2J\\nname\\u{9b}\n"));
    }

    #[test]
    fn letters_count_as_characters_not_bytes() {
        let mut table = Table::new(["A", "B"]);
        table.row(["größe".into(), "x".into()]);
        table.row(["12345".into(), "y".into()]);
        assert_eq!(table.render(false), "A      B\ngröße  x\n12345  y\n");
    }
}
