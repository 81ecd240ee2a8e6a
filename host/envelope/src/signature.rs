//! Signatures as text, and the address of their signer.
//!
//! Rule: of the two valid values of `s`, only the lower one is accepted (EIP-2). The other variants (case of the hex
//! digits, v of 0/1 or 27/28) have the same message digest, by which the replay guard recognises them.

use alloy_primitives::{Address, B256, Signature, U256, uint};

const CURVE_ORDER: U256 = uint!(0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141_U256);
const HALF_CURVE_ORDER: U256 = uint!(0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0_U256);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    #[error("the signature must be `0x` and 130 hex digits (65 bytes: r, s, v)")]
    Shape,
    #[error("the signature's last byte (v) is {v}; it must be 27, 28, 0 or 1")]
    V { v: u8 },
    #[error("the signature's {part} is zero or not below the order of secp256k1")]
    OutOfRange { part: &'static str },
    #[error("the signature's s is in the upper half of its range; only the lower half is accepted (EIP-2)")]
    HighS,
    #[error("no key can have made this signature")]
    Unrecoverable,
}

pub fn parse(text: &str) -> Result<Signature, SignatureError> {
    let digits = text.strip_prefix("0x").ok_or(SignatureError::Shape)?;
    let mut bytes = [0; 65];
    if hex::decode_to_slice(digits, &mut bytes).is_err() {
        return Err(SignatureError::Shape);
    }
    let [scalars @ .., v] = bytes;
    let odd_y = match v {
        0 | 27 => false,
        1 | 28 => true,
        _ => return Err(SignatureError::V { v }),
    };
    let signature = Signature::from_bytes_and_parity(&scalars, odd_y);
    check_range(&signature)?;
    Ok(signature)
}

fn check_range(signature: &Signature) -> Result<(), SignatureError> {
    for (part, scalar) in [("r", signature.r()), ("s", signature.s())] {
        if scalar.is_zero() || scalar >= CURVE_ORDER {
            return Err(SignatureError::OutOfRange { part });
        }
    }
    // The library would accept both, by turning a high s into the low one.
    if signature.s() > HALF_CURVE_ORDER {
        return Err(SignatureError::HighS);
    }
    Ok(())
}

pub fn recover(signature: &Signature, digest: [u8; 32]) -> Result<Address, SignatureError> {
    signature.recover_address_from_prehash(&B256::new(digest)).ok().ok_or(SignatureError::Unrecoverable)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn text(r: U256, s: U256, v: u8) -> String {
        format!("0x{r:064x}{s:064x}{v:02x}")
    }

    #[test]
    fn ranges_of_r_s_and_v() {
        let (one, last) = (U256::ONE, CURVE_ORDER - U256::ONE);
        for v in [0, 1, 27, 28] {
            assert!(parse(&text(one, HALF_CURVE_ORDER, v)).is_ok(), "{v}");
            assert!(parse(&text(last, one, v)).is_ok(), "{v}");
        }
        for v in [2, 26, 29, 35, 36, 255] {
            assert_eq!(parse(&text(one, one, v)), Err(SignatureError::V { v }));
        }
        let r_outside = Err(SignatureError::OutOfRange { part: "r" });
        let s_outside = Err(SignatureError::OutOfRange { part: "s" });
        assert_eq!(parse(&text(U256::ZERO, one, 27)), r_outside);
        assert_eq!(parse(&text(CURVE_ORDER, one, 27)), r_outside);
        assert_eq!(parse(&text(U256::MAX, one, 27)), r_outside);
        assert_eq!(parse(&text(one, U256::ZERO, 27)), s_outside);
        assert_eq!(parse(&text(one, CURVE_ORDER, 27)), s_outside);
        assert_eq!(parse(&text(one, HALF_CURVE_ORDER + one, 27)), Err(SignatureError::HighS));
        assert_eq!(parse(&text(one, last, 27)), Err(SignatureError::HighS));
    }

    #[test]
    fn other_shapes_are_refused() {
        let good = text(U256::ONE, U256::ONE, 27);
        let no_prefix = good[2..].to_owned();
        let upper_prefix = format!("0X{no_prefix}");
        let (short, long, compact) = (good[..131].to_owned(), format!("{good}00"), good[..130].to_owned());
        let not_hex = good.replacen("01", "0g", 1);
        for text in ["", "0x", &no_prefix, &upper_prefix, &short, &long, &compact, &not_hex] {
            assert_eq!(parse(text), Err(SignatureError::Shape), "{text}");
        }
    }

    #[test]
    fn an_r_without_a_curve_point_is_unrecoverable() {
        // 5^3 + 7 = 132 has no square root modulo p, so no point has x = 5.
        let signature = parse(&text(U256::from(5), U256::ONE, 27)).unwrap();
        assert_eq!(recover(&signature, [7; 32]), Err(SignatureError::Unrecoverable));
    }
}
