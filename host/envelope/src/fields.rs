//! The three fields of the envelope as they came in, before anything is believed.
//!
//! Rule: a field that came twice in one place is refused. Which of the two counts would depend on the reader.

use std::borrow::Cow;
use std::fmt;

use http::{HeaderMap, HeaderName};
use serde_json::{Map, Number, Value};

use super::brand::Brand;
use super::refusal::Refusal;
use super::strict_json::type_name;

/// The largest integer that every JSON reader keeps.
const TS_MAX: u64 = (1 << 53) - 1;

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
pub enum FieldFault {
    #[error("is missing")]
    Missing,
    #[error("is there twice")]
    Doubled,
    #[error("holds characters other than visible ASCII")]
    NotAscii,
    #[error("must be a string, not {found}")]
    NotText { found: &'static str },
}

#[derive(Debug, Clone, Default)]
pub enum Field<'a> {
    #[default]
    Missing,
    Text(Cow<'a, str>),
    Number(Number),
    Unusable(FieldFault),
}

#[derive(Debug, Clone, Default)]
pub struct Envelope<'a> {
    pub address: Field<'a>,
    pub ts: Field<'a>,
    pub sig: Field<'a>,
}

impl<'a> Envelope<'a> {
    /// Takes the fields out of a body; what stays is the payload. Keys of the same names deeper inside stay.
    pub fn take_from_body(body: &mut Map<String, Value>) -> Self {
        // The order of the other keys stays, for readers of the payload.
        let mut take = |key| body.shift_remove(key).map_or(Field::Missing, Field::from_json);
        Self { address: take("address"), ts: take("ts"), sig: take("sig") }
    }

    #[must_use]
    pub fn from_headers(brand: &Brand, headers: &'a HeaderMap) -> Self {
        Self {
            address: Field::from_header(headers, &brand.address_header),
            ts: Field::from_header(headers, &brand.ts_header),
            sig: Field::from_header(headers, &brand.sig_header),
        }
    }

    #[must_use]
    pub fn from_query(query: &'a str) -> Self {
        let mut envelope = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match name.as_ref() {
                "address" => envelope.address.add(value),
                "ts" => envelope.ts.add(value),
                "sig" => envelope.sig.add(value),
                _ => {}
            }
        }
        envelope
    }

    /// The first place that has a field wins, field by field.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { address: self.address.or(other.address), ts: self.ts.or(other.ts), sig: self.sig.or(other.sig) }
    }

    pub(super) fn address_text(&self) -> Result<&str, Refusal> {
        self.address.text().map_err(|fault| Refusal::Field { field: EnvelopeField::Address, fault })
    }

    pub(super) fn sig_text(&self) -> Result<&str, Refusal> {
        self.sig.text().map_err(|fault| Refusal::Field { field: EnvelopeField::Sig, fault })
    }

    pub(super) fn ts_s(&self) -> Result<u64, Refusal> {
        let ts_s = match &self.ts {
            Field::Number(number) => number.as_u64(),
            Field::Text(text) if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
            Field::Text(_) => None,
            Field::Missing => {
                return Err(Refusal::Field { field: EnvelopeField::Ts, fault: FieldFault::Missing });
            }
            // A number would do as well as a string here, so "must be a string" would mislead.
            Field::Unusable(FieldFault::NotText { .. }) => None,
            Field::Unusable(fault) => {
                return Err(Refusal::Field { field: EnvelopeField::Ts, fault: *fault });
            }
        };
        ts_s.filter(|ts_s| *ts_s <= TS_MAX).ok_or(Refusal::TsNotInteger)
    }
}

impl<'a> Field<'a> {
    fn from_json(value: Value) -> Self {
        match value {
            Value::String(text) => Self::Text(Cow::Owned(text)),
            Value::Number(number) => Self::Number(number),
            other => Self::Unusable(FieldFault::NotText { found: type_name(&other) }),
        }
    }

    fn from_header(headers: &'a HeaderMap, name: &HeaderName) -> Self {
        let mut field = Self::Missing;
        for value in headers.get_all(name) {
            match value.to_str() {
                Ok(text) => field.add(Cow::Borrowed(text)),
                Err(_) => field = Self::Unusable(FieldFault::NotAscii),
            }
        }
        field
    }

    /// An empty value is none.
    fn add(&mut self, value: Cow<'a, str>) {
        if !value.is_empty() {
            *self = match self {
                Self::Missing => Self::Text(value),
                _ => Self::Unusable(FieldFault::Doubled),
            };
        }
    }

    fn or(self, other: Self) -> Self {
        match self {
            Self::Missing => other,
            found => found,
        }
    }

    fn text(&self) -> Result<&str, FieldFault> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Missing => Err(FieldFault::Missing),
            Self::Number(_) => Err(FieldFault::NotText { found: "a number" }),
            Self::Unusable(fault) => Err(*fault),
        }
    }
}
