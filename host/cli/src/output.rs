//! Answers on stdout: JSON for programs, text for people. Rule: a reader that closes early (`| head`) is no error.

use std::{
    ffi::OsStr,
    io::{self, ErrorKind, IsTerminal, Write},
};

use serde::Serialize;

use gateway_config::Problems;

/// How answers are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Human { colour: bool },
    Json,
}

impl Output {
    /// For this process's stdout. Colour only on a terminal and not when `NO_COLOR` is set.
    pub(crate) fn for_stdout(json: bool) -> Self {
        Self::choose(json, io::stdout().is_terminal(), std::env::var_os("NO_COLOR").as_deref())
    }

    fn choose(json: bool, terminal: bool, no_color: Option<&OsStr>) -> Self {
        if json { Self::Json } else { Self::Human { colour: terminal && no_color.is_none_or(OsStr::is_empty) } }
    }

    /// Prints one answer: `value` as JSON, or the text that `human` makes; it is told whether to use colour.
    pub(crate) fn print<T: Serialize>(self, value: &T, human: impl FnOnce(bool) -> String) -> io::Result<()> {
        self.write(&mut io::stdout().lock(), value, human)
    }

    fn write<T: Serialize>(
        self,
        out: &mut impl Write,
        value: &T,
        human: impl FnOnce(bool) -> String,
    ) -> io::Result<()> {
        let mut text = match self {
            Self::Json => serde_json::to_string_pretty(value)?,
            Self::Human { colour } => human(colour),
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

/// Configuration problems for people; each line is free of control characters.
pub(crate) fn problems_text(problems: &Problems) -> String {
    problems.to_string().lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// A heading and one line per row, each column as wide as its widest cell; it ends with a line break.
pub(crate) fn aligned<Row: AsRef<[String]>>(headings: Row, rows: impl Iterator<Item = Row>) -> String {
    let rows: Vec<Row> = std::iter::once(headings).chain(rows).collect();
    let mut widths: Vec<usize> = Vec::new();
    for row in &rows {
        widths.resize(widths.len().max(row.as_ref().len()), 0);
        widths.iter_mut().zip(row.as_ref()).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let line = |row: &Row| {
        let cells = row.as_ref().iter().zip(widths.iter().copied()).map(|(cell, width)| format!("{cell:width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// Shows control characters as escapes, so that a plugin's text cannot colour, move or clear the operator's terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() { shown.extend(character.escape_default()) } else { shown.push(character) }
    }
    shown
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn printed(output: Output) -> String {
        let mut out = Vec::new();
        output.write(&mut out, &["a"], |colour| format!("colour {colour}")).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_is_for_programs_and_text_for_people() {
        assert_eq!(printed(Output::Json), "[\n  \"a\"\n]\n");
        assert_eq!(printed(Output::Human { colour: true }), "colour true\n");
    }

    #[test]
    fn colour_needs_a_terminal_and_no_objection() {
        let human = |colour| Output::Human { colour };
        assert_eq!(Output::choose(false, true, None), human(true));
        assert_eq!(Output::choose(false, true, Some(OsStr::new(""))), human(true), "empty means unset (no-color.org)");
        assert_eq!(Output::choose(false, true, Some(OsStr::new("1"))), human(false));
        assert_eq!(Output::choose(false, false, None), human(false));
        assert_eq!(Output::choose(true, true, None), Output::Json);
    }

    #[test]
    fn a_reader_that_closes_early_is_no_error() {
        struct FailingWriter(ErrorKind);
        impl Write for FailingWriter {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let write = |kind| Output::Json.write(&mut FailingWriter(kind), &1, |_| String::new());
        assert!(write(ErrorKind::BrokenPipe).is_ok());
        assert!(write(ErrorKind::StorageFull).is_err());
    }
}
