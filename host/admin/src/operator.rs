//! Who acts at the operator's listener, as the audit names him.

use std::{fmt, net::SocketAddr};

const NAME_CHARS_MAX: usize = 100;

/// The peer's address, and the name that came with the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operator {
    name: Option<String>,
    peer: SocketAddr,
}

impl Operator {
    /// A name is one short line.
    pub(crate) fn new(name: Option<String>, peer: SocketAddr) -> Self {
        let line =
            |name: String| name.chars().filter(|char| !char.is_control()).take(NAME_CHARS_MAX).collect::<String>();
        Self { name: name.map(line).filter(|name| !name.trim().is_empty()), peer }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} ({})", self.peer),
            None => write!(f, "{}", self.peer),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_name_is_one_short_line() {
        let shown = |name: &str| Operator::new(Some(name.to_owned()), "10.0.0.1:5".parse().unwrap()).to_string();
        assert_eq!(shown("ann\nforged line"), "annforged line (10.0.0.1:5)");
        assert_eq!(shown(&"é".repeat(500)), format!("{} (10.0.0.1:5)", "é".repeat(100)));
        assert_eq!(shown(" "), "10.0.0.1:5");
    }
}
