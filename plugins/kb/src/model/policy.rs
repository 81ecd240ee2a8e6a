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

/// The wallet that wants to write.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    pub address: Address,
    pub owns_active_agent: bool,
}

/// The creator of the page.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    pub address: Address,
    pub owns_agent: bool,
}

impl Policy {
    /// `owner` is `None` for a new page.
    pub fn allows(&self, slug: &Slug, owner: Option<Owner>, writer: Writer) -> bool {
        if self.operators.contains(&writer.address) {
            return true;
        }
        if let Some(pinned) = self.pinned.get(slug) {
            return *pinned == writer.address;
        }
        if self.protected.contains(slug) {
            return false;
        }
        match owner {
            None => true,
            Some(Owner { address: Address::ZERO, .. }) => false,
            Some(owner) => owner.address == writer.address || (!owner.owns_agent && writer.owns_active_agent),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const OPERATOR: Address = Address([9; 20]);
    const PINNED: Address = Address([8; 20]);

    fn slug(text: &str) -> Slug {
        Slug::parse(text).unwrap()
    }

    fn policy() -> Policy {
        Policy {
            operators: [OPERATOR].into(),
            protected: [slug("signing")].into(),
            pinned: [(slug("prices"), PINNED), (slug("both"), PINNED)].into(),
        }
    }

    fn writer(byte: u8) -> Writer {
        Writer { address: Address([byte; 20]), owns_active_agent: false }
    }

    fn agent(byte: u8) -> Writer {
        Writer { owns_active_agent: true, ..writer(byte) }
    }

    fn owner(byte: u8, owns_agent: bool) -> Option<Owner> {
        Some(Owner { address: Address([byte; 20]), owns_agent })
    }

    #[test]
    fn operators_may_write_every_page() {
        for name in ["signing", "prices", "page"] {
            for owner in [None, owner(0, false), owner(1, true)] {
                assert!(policy().allows(&slug(name), owner, writer(9)), "{name} {owner:?}");
            }
        }
    }

    #[test]
    fn protected_names_and_pages_of_the_network_are_the_operators() {
        assert!(!policy().allows(&slug("signing"), None, agent(1)));
        assert!(!policy().allows(&slug("signing"), owner(1, false), writer(1)));
        assert!(!policy().allows(&slug("page"), owner(0, false), agent(1)));
    }

    #[test]
    fn a_pinned_page_is_written_by_its_address() {
        assert!(policy().allows(&slug("prices"), None, writer(8)));
        assert!(policy().allows(&slug("prices"), owner(1, true), writer(8)));
        for owner in [None, owner(1, false)] {
            assert!(!policy().allows(&slug("prices"), owner, agent(1)));
        }
    }

    #[test]
    fn anyone_may_create_a_page() {
        assert!(policy().allows(&slug("page"), None, writer(1)));
    }

    #[test]
    fn a_page_is_its_creators_and_of_owners_of_active_agents_while_the_creator_owns_none() {
        for owns_agent in [false, true] {
            assert!(policy().allows(&slug("page"), owner(1, owns_agent), writer(1)));
            assert!(!policy().allows(&slug("page"), owner(1, owns_agent), writer(2)));
            assert_eq!(policy().allows(&slug("page"), owner(1, owns_agent), agent(2)), !owns_agent);
        }
    }
}
