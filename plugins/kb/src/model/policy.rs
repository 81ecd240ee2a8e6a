//! Write policy: which wallet may write a page.
//!
//! The rule: a page belongs to the wallet that created it. The gateway's own pages and the names that the operator protects
//! belong to operators.

use super::Slug;
use plugin_api::Address;
use std::collections::{BTreeMap, BTreeSet};

/// The operator's configuration.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub operators: BTreeSet<Address>,
    pub protected: BTreeSet<Slug>,
    /// Pages that only one address and the operators may write.
    pub pinned: BTreeMap<Slug, Address>,
}

impl Policy {
    /// `creator` is that of the page, `None` for a new page. `adopts`: the writer owns an active agent, the creator none.
    pub fn allows(&self, slug: &Slug, writer: Address, creator: Option<Address>, adopts: bool) -> bool {
        if self.operators.contains(&writer) {
            return true;
        }
        if let Some(pinned) = self.pinned.get(slug) {
            return *pinned == writer;
        }
        if self.protected.contains(slug) {
            return false;
        }
        creator.is_none_or(|creator| creator != Address::ZERO && (creator == writer || adopts))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const OPERATOR: u8 = 9;
    const PINNED: u8 = 8;
    const NETWORK: Option<u8> = Some(0);

    #[test]
    fn the_first_rule_that_applies_decides() {
        let (slug, address) = (|text| Slug::parse(text).unwrap(), |byte: u8| Address([byte; 20]));
        let policy = Policy {
            operators: [address(OPERATOR)].into(),
            protected: [slug("signing")].into(),
            pinned: [(slug("prices"), address(PINNED))].into(),
        };
        let allows = |page, writer, creator: Option<u8>, adopts| {
            policy.allows(&slug(page), address(writer), creator.map(address), adopts)
        };
        for (page, creator) in ["signing", "prices", "page"].map(|page| [(page, None), (page, NETWORK)]).concat() {
            assert!(allows(page, OPERATOR, creator, false), "{page}");
        }
        // Page, writer, creator; whether the writer may write it, and whether it may when it adopts.
        for (page, writer, creator, expected) in [
            ("signing", 1, None, [false, false]),
            ("signing", 1, Some(1), [false, false]),
            ("page", 1, NETWORK, [false, false]),
            ("prices", PINNED, None, [true, true]),
            ("prices", PINNED, Some(1), [true, true]),
            ("prices", 1, None, [false, false]),
            ("prices", 1, Some(1), [false, false]),
            ("page", 1, None, [true, true]),
            ("page", 1, Some(1), [true, true]),
            ("page", 2, Some(1), [false, true]),
        ] {
            let allowed = [false, true].map(|adopts| allows(page, writer, creator, adopts));
            assert_eq!(allowed, expected, "{page} {writer} {creator:?}");
        }
    }
}
