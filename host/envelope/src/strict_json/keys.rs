//! The keys of one object while it is parsed. Rule: a key that occurs twice is found when it arrives, however many there are.

use super::document::Member;
use serde::de::{Deserialize, Deserializer, Visitor};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// Up to so many keys are compared one by one.
const FEW: usize = 16;

pub(super) struct KeyedMember<'de> {
    pub key: MemberKey<'de>,
    pub member: Member,
}

/// The keys of an object with more than a few members.
#[derive(Default)]
pub(super) struct Keys<'de>(HashSet<MemberKey<'de>>);

impl<'de> Keys<'de> {
    /// Whether none of the object's members so far has this key.
    pub(super) fn is_new(&mut self, members: &[KeyedMember<'de>], key: &MemberKey<'de>) -> bool {
        if members.len() < FEW {
            return members.iter().all(|member| member.key != *key);
        }
        if self.0.is_empty() {
            self.0.extend(members.iter().map(|member| member.key.clone()));
        }
        self.0.insert(key.clone())
    }
}

/// A key, borrowed from the body when it has no escape.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct MemberKey<'de>(Cow<'de, str>);

impl MemberKey<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn has_escape(&self) -> bool {
        matches!(self.0, Cow::Owned(_))
    }
}

impl<'de> Deserialize<'de> for MemberKey<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = MemberKey<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<MemberKey<'de>, E> {
        Ok(MemberKey(Cow::Borrowed(key)))
    }

    fn visit_str<E>(self, key: &str) -> Result<MemberKey<'de>, E> {
        Ok(MemberKey(Cow::Owned(key.to_owned())))
    }
}
