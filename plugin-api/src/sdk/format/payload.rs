//! How payloads are named: by their hash, as an address, and in the middle of texts.

use crate::Hash256;

/// The address of a payload.
pub fn payload_uri(hash: Hash256) -> String {
    format!("fmx://payload/{hash}")
}

/// A payload's hash as people write it: in any case, with space around it.
pub fn payload_hash(text: &str) -> Option<Hash256> {
    text.trim().to_ascii_lowercase().parse().ok()
}

const HEX_DIGITS: usize = 64;

/// Every hash that a text mentions: `0x` and 64 hex digits in any case, whatever stands around them, since a payload that
/// is kept for nothing costs less than one that is missed. A hash that stands there twice comes twice.
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
    fn a_hash_has_its_address() {
        let hash = hash(0xab);
        assert_eq!(payload_uri(hash), format!("fmx://payload/0x{}", "ab".repeat(32)));
        assert_eq!(found(&payload_uri(hash)), [hash]);
    }

    #[test]
    fn people_write_hashes_in_any_case() {
        let upper = format!(" 0X{}\n", "AB".repeat(32));
        assert_eq!(payload_hash(&upper), Some(hash(0xab)));
        for other in
            ["", "0x", "ab", &"ab".repeat(32), &format!("0x{}", "ab".repeat(33)), &format!("0x{}", "ag".repeat(32))]
        {
            assert_eq!(payload_hash(other), None, "{other:?}");
        }
    }

    #[test]
    fn hashes_are_found_wherever_they_stand() {
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
    fn what_is_shorter_or_no_hex_is_no_hash() {
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
        // Characters of several bytes where digits would end.
        assert!(found(&format!("0x{}é", "1".repeat(63))).is_empty());
    }
}
