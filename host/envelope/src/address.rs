//! Addresses as text: in one case, or in mixed case with a correct EIP-55 checksum.
//!
//! Rule: a mixed-case address with a wrong checksum is never accepted: it is mistyped. Output is always EIP-55 without
//! a chain id; the EIP-1191 variant would be another text and so another signed message.

use alloy_primitives::Address;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("the address must be `0x` and 40 hex digits")]
    Shape,
    #[error("the address has a wrong checksum (EIP-55)")]
    Checksum { expected: String },
}

pub(crate) fn parse(text: &str) -> Result<Address, AddressError> {
    let digits = text.strip_prefix("0x").ok_or(AddressError::Shape)?;
    let mut bytes = [0; 20];
    if hex::decode_to_slice(digits, &mut bytes).is_err() {
        return Err(AddressError::Shape);
    }
    let address = Address::from(bytes);
    if is_mixed_case(digits) {
        let expected = address.to_checksum_buffer(None);
        if expected.as_str() != text {
            return Err(AddressError::Checksum { expected: expected.as_str().to_owned() });
        }
    }
    Ok(address)
}

fn is_mixed_case(digits: &str) -> bool {
    digits.bytes().any(|b| b.is_ascii_lowercase()) && digits.bytes().any(|b| b.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// The cases that EIP-55 itself lists.
    const OFFICIAL: [&str; 8] = [
        "0x52908400098527886E0F7030069857D2E4169EE7",
        "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
        "0xde709f2102306220921060314715629080e2fb77",
        "0x27b1fdb04752bbc536007a920d24acb045561c26",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ];

    #[test]
    fn any_single_case_or_the_checksum() {
        for official in OFFICIAL {
            let address = parse(official).unwrap();
            assert_eq!(address.to_checksum(None), official);
            assert_eq!(parse(&official.to_ascii_lowercase()).unwrap(), address);
            assert_eq!(parse(&official.to_ascii_uppercase().replacen("0X", "0x", 1)).unwrap(), address);
        }
    }

    #[test]
    fn one_letter_in_the_wrong_case_is_refused_with_the_right_text() {
        let wrong = "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        assert_eq!(parse(wrong), Err(AddressError::Checksum { expected: OFFICIAL[4].to_owned() }));
    }

    #[test]
    fn other_shapes_are_refused() {
        let good = OFFICIAL[2];
        let long = format!("{good}0");
        let spaced = format!(" {good}");
        let full_width = good.replace('0', "０");
        for text in [
            "",
            "0x",
            &good[2..],
            &good[..41],
            &long,
            &spaced,
            &good.replace("0x", "0X"),
            &full_width,
            &good.replace('d', "g"),
        ] {
            assert_eq!(parse(text), Err(AddressError::Shape), "{text}");
        }
    }
}
