//! The three fields of the envelope as they were received, before anything is verified.
//!
//! Rule: a field that occurs twice in one place is refused, because parsers differ in which of the two they take.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName};
use serde_json::{Number, Value};

use super::brand::Brand;
use super::error::EnvelopeError;
use super::field_error::{EnvelopeField, FieldError};
use super::strict_json::{EnvelopeMembers, type_name};
use super::timestamp::TS_MAX;

#[derive(Debug, Clone, Default)]
pub(crate) enum Field<'a> {
    #[default]
    Missing,
    Text(Cow<'a, str>),
    Number(Number),
    Invalid(FieldError),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Envelope<'a> {
    pub address: Field<'a>,
    pub ts: Field<'a>,
    pub sig: Field<'a>,
}

impl<'a> Envelope<'a> {
    /// Keys of the same names in nested objects belong to the payload.
    pub(crate) fn from_body(members: EnvelopeMembers) -> Self {
        let field = |value: Option<Value>| value.map_or(Field::Missing, Field::from_json);
        Self { address: field(members.address), ts: field(members.ts), sig: field(members.sig) }
    }

    #[must_use]
    pub(crate) fn from_headers(brand: &Brand, headers: &'a HeaderMap) -> Self {
        Self {
            address: Field::from_header(headers, &brand.address_header),
            ts: Field::from_header(headers, &brand.ts_header),
            sig: Field::from_header(headers, &brand.sig_header),
        }
    }

    #[must_use]
    pub(crate) fn from_query(query: &'a str) -> Self {
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

    /// Takes each field from `self`, or from `other` where `self` does not have it.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        Self { address: self.address.or(other.address), ts: self.ts.or(other.ts), sig: self.sig.or(other.sig) }
    }

    pub(crate) fn address_text(&self) -> Result<&str, EnvelopeError> {
        self.address.text().map_err(|error| EnvelopeError::Field { field: EnvelopeField::Address, error })
    }

    pub(crate) fn sig_text(&self) -> Result<&str, EnvelopeError> {
        self.sig.text().map_err(|error| EnvelopeError::Field { field: EnvelopeField::Sig, error })
    }

    pub(crate) fn ts_s(&self) -> Result<u64, EnvelopeError> {
        let ts_s = match &self.ts {
            Field::Number(number) => number.as_u64(),
            Field::Text(text) if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
            Field::Text(_) => None,
            Field::Missing => {
                return Err(EnvelopeError::Field { field: EnvelopeField::Ts, error: FieldError::Missing });
            }
            // A number is valid here as well, so "must be a string" would mislead.
            Field::Invalid(FieldError::NotText { .. }) => None,
            Field::Invalid(error) => {
                return Err(EnvelopeError::Field { field: EnvelopeField::Ts, error: *error });
            }
        };
        ts_s.filter(|ts_s| *ts_s <= TS_MAX).ok_or(EnvelopeError::TsNotInteger)
    }
}

impl<'a> Field<'a> {
    fn from_json(value: Value) -> Self {
        match value {
            Value::String(text) => Self::Text(Cow::Owned(text)),
            Value::Number(number) => Self::Number(number),
            other => Self::Invalid(FieldError::NotText { found: type_name(&other) }),
        }
    }

    fn from_header(headers: &'a HeaderMap, name: &HeaderName) -> Self {
        let mut field = Self::Missing;
        for value in headers.get_all(name) {
            match value.to_str() {
                Ok(text) => field.add(Cow::Borrowed(text)),
                Err(_) => field = Self::Invalid(FieldError::NotAscii),
            }
        }
        field
    }

    /// An empty value counts as missing.
    fn add(&mut self, value: Cow<'a, str>) {
        if !value.is_empty() {
            *self = match self {
                Self::Missing => Self::Text(value),
                _ => Self::Invalid(FieldError::Duplicate),
            };
        }
    }

    fn or(self, other: Self) -> Self {
        match self {
            Self::Missing => other,
            found => found,
        }
    }

    fn text(&self) -> Result<&str, FieldError> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Missing => Err(FieldError::Missing),
            Self::Number(_) => Err(FieldError::NotText { found: "a number" }),
            Self::Invalid(error) => Err(*error),
        }
    }
}
