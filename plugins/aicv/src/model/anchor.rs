//! What an owner anchors under a metadata key of the identity registry: `abi.encode(bytes32 documentHash, string uri)`.
//!
//! The rule: the value is whatever the owner sent. What cannot be read names no hash and no limit.

use super::document::{LIMIT_DEFAULT, LIMIT_MAX};
use alloy_primitives::hex;
use alloy_sol_types::{SolType as _, sol_data};
use plugin_api::Hash256;

/// Longer URIs are not read.
const URI_BYTES_MAX: usize = 4096;
/// `0x` and the hex digits of a hash.
const HASH_DIGITS: usize = 66;

/// What the value says, as the gateway decodes bytes: `0x` and hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub document_hash: Hash256,
    /// The limit of the document that the URI names; `None` of the default one, and where it names none.
    pub limit: Option<u32>,
}

impl Anchor {
    /// `None` where the value does not begin with a hash.
    pub fn parse(value: &str) -> Option<Self> {
        let document_hash = value.get(..HASH_DIGITS)?.parse().ok()?;
        let limit = uri(value).as_deref().and_then(limit_of);
        Some(Self { document_hash, limit })
    }
}

fn uri(value: &str) -> Option<String> {
    let encoded = hex::decode(value).ok()?;
    let (_, uri) = <(sol_data::FixedBytes<32>, sol_data::String)>::abi_decode_params_validate(&encoded).ok()?;
    Some(uri).filter(|uri| uri.len() <= URI_BYTES_MAX)
}

fn limit_of(uri: &str) -> Option<u32> {
    let (_, query) = uri.split('#').next()?.split_once('?')?;
    let limit = query.split('&').find_map(|pair| pair.strip_prefix("limit="))?;
    let limit: u32 = limit.parse().ok()?;
    ((1..=LIMIT_MAX).contains(&limit) && limit != LIMIT_DEFAULT).then_some(limit)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const HASH: Hash256 = Hash256([7; 32]);
    /// Where the text is, behind the two words of the head.
    const URI_OFFSET: usize = 64;
    /// Hex digits of a word.
    const WORD: usize = 64;

    fn value(offset: usize, length: usize, uri: &str) -> String {
        let text = hex::encode(uri);
        let width = text.len().next_multiple_of(WORD);
        format!("{HASH}{offset:064x}{length:064x}{text:0<width$}")
    }

    fn limit(uri: &str) -> Option<u32> {
        let anchor = Anchor::parse(&value(URI_OFFSET, uri.len(), uri)).unwrap();
        assert_eq!(anchor.document_hash, HASH);
        anchor.limit
    }

    #[test]
    fn the_uri_names_the_limit() {
        let credential = "https://one.example/api/cv/1/credential.json";
        for (query, expected) in [
            ("?limit=50", Some(50)),
            ("?limit=1", Some(1)),
            ("?limit=1000&document=0x12", Some(1000)),
            ("?document=0x12&limit=3#status", Some(3)),
            ("?limit=200", None),
            ("", None),
            ("?document=0x12", None),
            ("?limit=", None),
            ("?limit=0", None),
            ("?limit=1001", None),
            ("?limit=-1", None),
            ("?limit=5x", None),
            ("?xlimit=5", None),
            ("#?limit=5", None),
        ] {
            assert_eq!(limit(&format!("{credential}{query}")), expected, "{query}");
        }
    }

    #[test]
    fn what_is_no_encoded_uri_names_no_limit() {
        let uri = "https://one.example/?limit=5";
        let whole = value(URI_OFFSET, uri.len(), uri);
        assert_eq!(Anchor::parse(&whole).unwrap().limit, Some(5));
        // Cut off anywhere behind the hash, also within the text.
        let end = 2 + 3 * WORD + 2 * uri.len();
        for length in HASH_DIGITS..end {
            assert_eq!(Anchor::parse(&whole[..length]).unwrap().limit, None, "{length}");
        }
        let long = format!("https://one.example/{}?limit=5", "x".repeat(URI_BYTES_MAX));
        for other in [
            value(96, uri.len(), uri),
            value(0, uri.len(), uri),
            value(URI_OFFSET, usize::MAX, uri),
            value(URI_OFFSET, long.len(), &long),
            format!("{HASH}{}", "ff".repeat(96)),
        ] {
            assert_eq!(Anchor::parse(&other).unwrap().limit, None, "{other}");
        }
        for no_hash in ["", "0x", "0x12", &"0x".repeat(40), &whole[..HASH_DIGITS - 1]] {
            assert_eq!(Anchor::parse(no_hash), None, "{no_hash}");
        }
    }
}
