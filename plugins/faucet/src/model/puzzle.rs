//! The puzzle: a text whose hash with the address begins with zeros.

use plugin_api::{Address, Hash256};

pub const POW_CHARS_MAX: usize = 64;

/// Whether the answer solves the puzzle of this address.
pub fn is_solved(address: Address, answer: Option<&str>, bits: u32) -> bool {
    if bits == 0 {
        return true;
    }
    let Some(answer) = answer.filter(|answer| answer.chars().count() <= POW_CHARS_MAX) else { return false };
    let text = format!("0x{}:{answer}", hex::encode(address.0));
    leading_zeros(Hash256::keccak(text.as_bytes())) >= bits
}

fn leading_zeros(hash: Hash256) -> u32 {
    let whole = hash.0.iter().take_while(|byte| **byte == 0).count();
    let rest = hash.0.get(whole).map_or(0, |byte| byte.leading_zeros());
    u32::try_from(whole).unwrap_or(0) * 8 + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: Address = Address([0xAB; 20]);

    #[test]
    fn the_address_is_hashed_in_lower_case() {
        let answer = (0..).map(|number: u32| number.to_string()).find(|answer| {
            let hash = Hash256::keccak(format!("0x{}:{answer}", "ab".repeat(20)).as_bytes());
            hash.0[0] == 0 && hash.0[1] < 0x10
        });
        assert!(is_solved(ADDRESS, answer.as_deref(), 12));
        assert!(!is_solved(Address([0xAC; 20]), answer.as_deref(), 12));
    }

    #[test]
    fn only_an_answer_of_64_characters_at_most_counts() {
        assert!(is_solved(ADDRESS, None, 0));
        assert!(!is_solved(ADDRESS, None, 1));
        let long = (0..64).map(|number| format!("{}{number:02}", "x".repeat(63)));
        assert!(long.into_iter().all(|answer| !is_solved(ADDRESS, Some(&answer), 1)));
    }

    #[test]
    fn zeros_are_counted_by_bits() {
        let mut hash = Hash256([0; 32]);
        assert_eq!(leading_zeros(hash), 256);
        hash.0[2] = 0x08;
        assert_eq!(leading_zeros(hash), 20);
        hash.0[0] = 0x80;
        assert_eq!(leading_zeros(hash), 0);
    }
}
