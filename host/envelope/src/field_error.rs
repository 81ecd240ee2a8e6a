//! What can be wrong with one field of the envelope.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvelopeField {
    Address,
    Ts,
    Sig,
}

impl fmt::Display for EnvelopeField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Address => "address",
            Self::Ts => "ts",
            Self::Sig => "sig",
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    #[error("is missing")]
    Missing,
    #[error("is there twice")]
    Duplicate,
    #[error("holds characters other than visible ASCII")]
    NotAscii,
    #[error("must be a string, not {found}")]
    NotText { found: &'static str },
}
