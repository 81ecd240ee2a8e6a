//! Decodes PostgreSQL's binary values.
//!
//! The rule: a type that SQLite does not have is refused with a hint, never approximated. Booleans are 0 and 1.

use plugin_api::abi::Cell;

/// Why a value cannot be returned.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    #[error("has the type {0}: cast it to text in SQL")]
    Type(String),
    #[error("is a numeric that is no 64-bit integer: cast it to text in SQL")]
    Numeric,
    #[error("came in a form that is not understood")]
    Malformed,
}

/// The object ids of the built-in types; they never change.
mod oid {
    pub(crate) const BOOL: u32 = 16;
    pub(crate) const BYTEA: u32 = 17;
    pub(crate) const CHAR: u32 = 18;
    pub(crate) const NAME: u32 = 19;
    pub(crate) const INT8: u32 = 20;
    pub(crate) const INT2: u32 = 21;
    pub(crate) const INT4: u32 = 23;
    pub(crate) const TEXT: u32 = 25;
    pub(crate) const OID: u32 = 26;
    pub(crate) const JSON: u32 = 114;
    pub(crate) const FLOAT4: u32 = 700;
    pub(crate) const FLOAT8: u32 = 701;
    pub(crate) const BPCHAR: u32 = 1042;
    pub(crate) const VARCHAR: u32 = 1043;
    pub(crate) const NUMERIC: u32 = 1700;
    pub(crate) const VOID: u32 = 2278;
    pub(crate) const JSONB: u32 = 3802;
}

pub(crate) fn decode<'b>(type_oid: u32, type_name: &str, bytes: &'b [u8]) -> Result<Cell<'b>, DecodeError> {
    Ok(match type_oid {
        oid::BOOL => Cell::Int(i64::from(fixed::<1>(bytes)? != [0])),
        oid::INT2 => Cell::Int(i16::from_be_bytes(fixed(bytes)?).into()),
        oid::INT4 => Cell::Int(i32::from_be_bytes(fixed(bytes)?).into()),
        oid::INT8 => Cell::Int(i64::from_be_bytes(fixed(bytes)?)),
        oid::OID => Cell::Int(u32::from_be_bytes(fixed(bytes)?).into()),
        oid::FLOAT4 => Cell::Real(f32::from_be_bytes(fixed(bytes)?).into()),
        oid::FLOAT8 => Cell::Real(f64::from_be_bytes(fixed(bytes)?)),
        oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME | oid::CHAR | oid::JSON => text(bytes)?,
        oid::JSONB => match bytes {
            [1, json @ ..] => text(json)?,
            _ => return Err(DecodeError::Malformed),
        },
        oid::BYTEA => Cell::Blob(bytes),
        oid::NUMERIC => Cell::Int(integer(bytes)?),
        oid::VOID => Cell::Null,
        _ => return Err(DecodeError::Type(type_name.to_lowercase())),
    })
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], DecodeError> {
    bytes.try_into().map_err(|_error: std::array::TryFromSliceError| DecodeError::Malformed)
}

fn text(bytes: &[u8]) -> Result<Cell<'_>, DecodeError> {
    std::str::from_utf8(bytes).map(Cell::Text).map_err(|_error: std::str::Utf8Error| DecodeError::Malformed)
}

const NUMERIC_NEGATIVE: i64 = 0x4000;

/// An integer of type `numeric`, which is the type of `sum(bigint)`; SQLite returns an integer for it too.
///
/// Wire: i16 count of digits, i16 weight of the first, i16 sign, i16 displayed fraction, then digits to the base 10
/// 000.
fn integer(bytes: &[u8]) -> Result<i64, DecodeError> {
    let mut words = bytes.chunks(2).map(|word| fixed(word).map(|word| i64::from(i16::from_be_bytes(word))));
    let mut next = || words.next().unwrap_or(Err(DecodeError::Malformed));
    let (count, weight, sign, fraction) = (next()?, next()?, next()?, next()?);
    let is_number = sign == 0 || sign == NUMERIC_NEGATIVE;
    if fraction != 0 || !is_number || count > weight + 1 {
        return Err(DecodeError::Numeric);
    }
    // Trailing zero digits are not sent. Summed towards the sign, so that the smallest i64 fits too.
    let sign = if sign == 0 { 1 } else { -1 };
    let mut value: i64 = 0;
    for position in 0..=weight {
        let digit = if position < count { next()? } else { 0 };
        value =
            value.checked_mul(10_000).and_then(|value| value.checked_add(sign * digit)).ok_or(DecodeError::Numeric)?;
    }
    Ok(value)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn numeric(words: &[i16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn whole_numerics_are_integers() {
        assert_eq!(integer(&numeric(&[0, 0, 0, 0])), Ok(0));
        assert_eq!(integer(&numeric(&[1, 1, 0, 0, 5])), Ok(50_000));
        assert_eq!(integer(&numeric(&[2, 1, 0x4000, 0, 1, 2345])), Ok(-12_345));
        let smallest = numeric(&[5, 4, 0x4000, 0, 922, 3372, 368, 5477, 5808]);
        assert_eq!(integer(&smallest), Ok(i64::MIN));
    }

    #[test]
    fn other_numerics_are_refused_and_nothing_panics() {
        let half = numeric(&[1, -1, 0, 1, 5000]);
        let too_large = numeric(&[5, 4, 0, 0, 922, 3372, 368, 5477, 5808]);
        let not_a_number = numeric(&[0, 0, -16384, 0]);
        for bytes in [half, too_large, not_a_number] {
            assert_eq!(integer(&bytes), Err(DecodeError::Numeric));
        }
        assert_eq!(integer(&[0, 1, 0]), Err(DecodeError::Malformed));
        assert_eq!(integer(&numeric(&[3, 2, 0, 0, 1])), Err(DecodeError::Malformed));
    }

    #[test]
    fn the_error_of_an_unsupported_type_says_what_to_do() {
        let error = decode(1184, "TIMESTAMPTZ", &[0; 8]).unwrap_err();
        assert_eq!(error.to_string(), "has the type timestamptz: cast it to text in SQL");
    }
}
