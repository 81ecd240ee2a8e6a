//! What is offered for gas. The rule: never less than the tip that signers want, never more than the operator allows.

use alloy_primitives::{U256, uint};
use gateway_config::TxConfig;

const GWEI: U256 = uint!(1_000_000_000_U256);
/// Part of a thousand coins that `daily_fee_max_milli` counts in.
const MILLI: U256 = uint!(1_000_000_000_000_000_U256);

/// Per gas, in wei.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fees {
    pub tip: U256,
    /// Base fee and tip together.
    pub max: U256,
}

/// The first offer: the tip of the configuration, and room for the base fee to double. None while the chain asks for more
/// than is allowed.
pub fn first(config: &TxConfig, base_fee: U256) -> Option<Fees> {
    let (tip, cap) = (GWEI.saturating_mul(U256::from(config.tip_gwei)), cap(config));
    let least = base_fee.saturating_add(tip);
    let max = base_fee.saturating_mul(U256::from(2)).saturating_add(tip).min(cap);
    (least <= cap).then_some(Fees { tip, max })
}

/// The next offer: twice the tip, and in both parts enough more for servers to take it instead of the last. None when the
/// operator's limit is reached.
pub fn next(config: &TxConfig, base_fee: U256, last: Fees) -> Option<Fees> {
    let cap = cap(config);
    let tip = last.tip.saturating_mul(U256::from(2));
    let wanted = base_fee.saturating_mul(U256::from(2)).saturating_add(tip).max(more(last.max));
    let max = wanted.min(cap);
    let tip = tip.min(max);
    (max >= more(last.max) && tip >= more(last.tip)).then_some(Fees { tip, max })
}

/// What the fees of a day may sum up to.
pub fn daily_cap(config: &TxConfig) -> Option<U256> {
    (config.daily_fee_max_milli > 0).then(|| MILLI.saturating_mul(U256::from(config.daily_fee_max_milli)))
}

fn cap(config: &TxConfig) -> U256 {
    GWEI.saturating_mul(U256::from(config.max_fee_gwei))
}

/// An eighth more, rounded up: servers want at least a tenth.
fn more(wei: U256) -> U256 {
    wei.saturating_add(wei.div_ceil(U256::from(8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gwei(amount: u64) -> U256 {
        GWEI * U256::from(amount)
    }

    #[test]
    fn the_first_offer_tips_one_gwei_and_stays_below_the_limit() {
        let config = TxConfig::default();
        assert_eq!(first(&config, U256::from(7)), Some(Fees { tip: gwei(1), max: gwei(1) + U256::from(14) }));
        assert_eq!(first(&config, gwei(49)), Some(Fees { tip: gwei(1), max: gwei(50) }), "the limit is the limit");
        assert_eq!(first(&config, gwei(50)), None, "the tip would not fit");
        assert_eq!(first(&config, U256::MAX), None);
    }

    #[test]
    fn each_further_offer_is_one_that_servers_take() {
        let config = TxConfig::default();
        let mut offers = vec![first(&config, gwei(1)).unwrap_or(Fees { tip: U256::ZERO, max: U256::ZERO })];
        while let Some(offer) = next(&config, gwei(1), offers[offers.len() - 1]) {
            let last = offers[offers.len() - 1];
            assert!(offer.tip * U256::from(10) >= last.tip * U256::from(11), "{offers:?}");
            assert!(offer.max * U256::from(10) >= last.max * U256::from(11), "{offers:?}");
            assert!(offer.tip <= offer.max && offer.max <= gwei(50));
            offers.push(offer);
        }
        assert!((5..12).contains(&offers.len()), "it ends at the limit: {offers:?}");
        assert!(next(&config, U256::MAX, Fees { tip: U256::MAX, max: U256::MAX }).is_none(), "and never overflows");
    }
}
