//! A JSON text in its canonical form. Rule: the text is the document; nothing else of it is kept but where its members stand.

use request_signing::canonical::{self, CanonicalError};
use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct Document {
    text: String,
    /// Of the outermost object.
    members: Vec<Member>,
    has_index_key: bool,
}

/// Where a member stands: its key from `start`, its value from `value` to `end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub start: usize,
    pub value: usize,
    pub end: usize,
}

impl Document {
    pub(super) fn new(text: String, members: Vec<Member>, has_index_key: bool) -> Self {
        Self { text, members, has_index_key }
    }

    /// `{}`.
    pub(crate) fn empty() -> Self {
        Self::new("{}".to_owned(), Vec::new(), false)
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Without members.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(crate) fn value(&self) -> Value {
        parsed(&self.text)
    }

    /// A member of the outermost object.
    pub(crate) fn member(&self, key: &str) -> Option<Value> {
        let key = format!("{}:", Value::from(key));
        let found = self.members.iter().find(|member| self.text.get(member.start..member.value) == Some(&key))?;
        self.text.get(found.value..found.end).map(parsed)
    }

    /// The text with its keys as JavaScript orders them, if that is another order.
    pub(crate) fn in_javascript_order(&self) -> Option<Result<String, CanonicalError>> {
        self.has_index_key.then(|| canonical::javascript_order(&self.value()))
    }
}

/// Of text that was parsed before.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// The members of the envelope that a body had.
#[derive(Debug, Default)]
pub(crate) struct EnvelopeMembers {
    pub address: Option<Value>,
    pub ts: Option<Value>,
    pub sig: Option<Value>,
}

impl EnvelopeMembers {
    pub(super) fn is_one(key: &str) -> bool {
        ["address", "ts", "sig"].contains(&key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        match key {
            "address" => self.address.is_some(),
            "ts" => self.ts.is_some(),
            _ => self.sig.is_some(),
        }
    }

    pub(super) fn set(&mut self, key: &str, value: Value) {
        let member = match key {
            "address" => &mut self.address,
            "ts" => &mut self.ts,
            _ => &mut self.sig,
        };
        *member = Some(value);
    }
}
