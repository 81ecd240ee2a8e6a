//! The salt of an account, as clients write it.

use plugin_api::Hash256;

/// The factory's 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Salt(pub Hash256);

impl Salt {
    /// Hex of up to 32 bytes is filled up with zeros on the left; any other text is hashed. Without one it is zero.
    pub fn parse(text: Option<&str>) -> Self {
        let text = text.unwrap_or_default();
        let digits = text.strip_prefix("0x");
        let is_hex = |digits: &&str| digits.len() <= 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let padded = digits.filter(is_hex).map(|digits| format!("0x{:0>64}", digits.to_ascii_lowercase()));
        match padded.and_then(|padded| padded.parse().ok()) {
            Some(hash) => Self(hash),
            None if text.is_empty() => Self(Hash256([0; 32])),
            None => Self(Hash256::keccak(text.as_bytes())),
        }
    }

    pub fn is_zero(self) -> bool {
        self.0.0 == [0; 32]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_salt_is_hex_or_a_text() {
        let zeros = "0".repeat(62);
        let full = format!("0x{}", "ab".repeat(32));
        for (text, salt) in [
            (None, format!("0x{zeros}00")),
            (Some(""), format!("0x{zeros}00")),
            (Some("0x"), format!("0x{zeros}00")),
            (Some("0x1"), format!("0x{zeros}01")),
            (Some("0xAB"), format!("0x{zeros}ab")),
            (Some(full.as_str()), full.clone()),
        ] {
            assert_eq!(Salt::parse(text).0.to_string(), salt, "{text:?}");
        }
        let long = format!("0x{}", "1".repeat(65));
        for text in ["second", "1", "0xzz", &long] {
            assert_eq!(Salt::parse(Some(text)).0, Hash256::keccak(text.as_bytes()), "{text}");
        }
        assert!(Salt::parse(Some("0x0000")).is_zero() && !Salt::parse(Some("0")).is_zero());
    }
}
