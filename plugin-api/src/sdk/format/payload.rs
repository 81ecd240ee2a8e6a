//! References to payloads: a hash, a URI, or a hash inside a text.

use crate::Hash256;

/// The URI of a payload.
pub fn payload_uri(hash: Hash256) -> String {
    format!("fmx://payload/{hash}")
}

/// Parses a payload's hash in upper or lower case, with white space around it.
pub fn payload_hash(text: &str) -> Option<Hash256> {
    text.trim().to_ascii_lowercase().parse().ok()
}

const HEX_DIGITS: usize = 64;

/// Every hash in a text: `0x` and 64 hex digits in any case, also inside a longer word, because keeping a payload that is
/// not referenced costs less than pruning one that is. Duplicates are returned twice.
pub fn payload_hashes(text: &str) -> impl Iterator<Item = Hash256> + '_ {
    let prefixes = text.match_indices(['x', 'X']).filter(move |(x, _)| text[..*x].ends_with('0'));
    prefixes.filter_map(move |(x, _)| {
        let start = x + 1;
        let digits = text.get(start..start + HEX_DIGITS)?;
        payload_hash(&format!("0x{digits}"))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn hash(byte: u8) -> Hash256 {
        Hash256([byte; 32])
    }

    fn found(text: &str) -> Vec<Hash256> {
        payload_hashes(text).collect()
    }

    #[test]
    fn a_hash_has_a_uri() {
        let hash = hash(0xab);
        assert_eq!(payload_uri(hash), format!("fmx://payload/0x{}", "ab".repeat(32)));
        assert_eq!(found(&payload_uri(hash)), [hash]);
    }

    #[test]
    fn hashes_are_read_in_any_case() {
        let upper = format!(" 0X{}\n", "AB".repeat(32));
        assert_eq!(payload_hash(&upper), Some(hash(0xab)));
        for other in
            ["", "0x", "ab", &"ab".repeat(32), &format!("0x{}", "ab".repeat(33)), &format!("0x{}", "ag".repeat(32))]
        {
            assert_eq!(payload_hash(other), None, "{other:?}");
        }
    }

    #[test]
    fn hashes_are_found_anywhere_in_a_text() {
        let (one, two) = (hash(0x11), hash(0xcd));
        for text in [
            format!("{one}"),
            format!("see {one}."),
            format!("[data](fmx://payload/{one})"),
            format!(r#"{{"in":"{one}"}}"#),
            format!("é{one}😀"),
            format!("{one}0"),
            format!("00x{}", "11".repeat(32)),
            format!("0X{}", "11".repeat(32)),
            format!("0x0x{}", "11".repeat(32)),
        ] {
            assert_eq!(found(&text), [one], "{text}");
        }
        assert_eq!(found(&format!("{one}{two} {one}")), [one, two, one]);
    }

    #[test]
    fn shorter_texts_and_other_characters_are_not_hashes() {
        for text in [
            "",
            "0x",
            "x",
            "0",
            "0x12",
            &"1".repeat(66),
            &format!("0x{}", "1".repeat(63)),
            &format!("0x{}g", "1".repeat(63)),
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
        // A multi-byte character at the end of the digits.
        assert!(found(&format!("0x{}é", "1".repeat(63))).is_empty());
    }
}
