//! Tokens of leases, which name the gateway that has the lease, so that the leases of one that has ended are found.
//!
//! The rule: a token never comes again, and only one that names its gateway is negative.

use std::ops::RangeInclusive;

/// A token begins with this many digits of the gateway's instance; the rest is random. They are the last digits of the instance, because
/// a UUID v7 begins with the time.
const GATEWAY_HEX_DIGITS: usize = 6;
const RANDOM_BITS: u32 = 39;

/// The part of a gateway's tokens that is always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GatewayTag(i64);

impl GatewayTag {
    /// `instance`: a UUID v4 or v7.
    pub(crate) fn of(instance: &str) -> Option<Self> {
        let digits = instance.get(instance.len().checked_sub(GATEWAY_HEX_DIGITS)?..)?;
        let tag = u32::from_str_radix(digits, 16).ok()?;
        Some(Self(tag.into()))
    }

    pub(crate) fn tokens(self) -> RangeInclusive<i64> {
        let Self(tag) = self;
        let random_max = (1_i64 << RANDOM_BITS) - 1;
        -((tag << RANDOM_BITS) | random_max)..=-((tag << RANDOM_BITS) | 1)
    }
}

/// The token of a new lease. It has no tag where one gateway alone has the database.
pub(crate) fn new_token(gateway: Option<GatewayTag>) -> i64 {
    rand::random_range(gateway.map_or(1..=i64::MAX, GatewayTag::tokens))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_of_one_gateway() {
        let tag = |instance| GatewayTag::of(instance).unwrap();
        let tags = [tag("019f-ff000000"), tag("019f-ff000001"), tag("019f-00ffffff")];
        for (number, tag) in tags.into_iter().enumerate() {
            for _ in 0..100 {
                let token = new_token(Some(tag));
                assert!(token < 0);
                let of: Vec<usize> = (0..tags.len()).filter(|of| tags[*of].tokens().contains(&token)).collect();
                assert_eq!(of, [number]);
            }
            assert!(!tag.tokens().contains(&new_token(None)));
        }
        assert_eq!(GatewayTag::of("restore"), None);
        assert_eq!(GatewayTag::of("-00000"), None);
        assert_eq!(GatewayTag::of("00000"), None);
    }
}
