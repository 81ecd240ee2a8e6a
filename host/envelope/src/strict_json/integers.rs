//! Integers above 2^53: accepted if their double is still the number that was written.
//!
//! Rule: an integer passes if it is exactly the double's value (`9007199254740994`), or the text that JavaScript prints
//! for it (`18446744073709552000`, its 2^64). All others would be hashed, stored and shown as another number. Numbers
//! with a fraction or an exponent are approximate by their notation and pass.

use super::error::{Position, StrictJsonError};

/// From this value on JavaScript prints an exponent.
const JAVASCRIPT_EXPONENT_FROM: f64 = 1e21;

/// `text` must be valid JSON.
pub(super) fn check(text: &str) -> Result<(), StrictJsonError> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let end = match byte {
            b'"' => end_of_string(bytes, at),
            b'-' | b'0'..=b'9' => end_of_number(bytes, at),
            _ => at + 1,
        };
        let token = text.get(at..end).unwrap_or_default();
        if is_integer(token) && !is_exact(token) {
            return Err(StrictJsonError::InexactInteger { literal: shortened(token), position: position(bytes, at) });
        }
        at = end;
    }
    Ok(())
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest.iter().take_while(|b| b.is_ascii_digit() || b"+-.eE".contains(b)).count();
    start + length
}

fn is_integer(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

fn is_exact(literal: &str) -> bool {
    let Ok(double) = literal.parse::<f64>() else {
        return false;
    };
    let is_double_value = || format!("{double:.0}") == literal;
    let is_javascript_text = || double.abs() < JAVASCRIPT_EXPONENT_FROM && format!("{double}") == literal;
    literal.len() < 16 || is_double_value() || is_javascript_text()
}

fn shortened(literal: &str) -> String {
    match literal.get(..40) {
        Some(head) if literal.len() > 40 => format!("{head}…"),
        _ => literal.to_owned(),
    }
}

fn position(bytes: &[u8], at: usize) -> Position {
    let before = bytes.get(..at).unwrap_or_default();
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
    Position { line: 1 + before.iter().filter(|&&b| b == b'\n').count(), column: 1 + at - line_start }
}
