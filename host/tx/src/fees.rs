//! The fees of a transaction. The rule: never less than the tip that block producers require, never more than the
//! operator allows.
//!
//! Empty transfers, which take a nonce that would hold up all others, are not held back by the limit of 24 hours; they count in it.

use alloy_primitives::{U256, uint};
use gateway_config::TxConfig;

pub(crate) const GWEI: U256 = uint!(1_000_000_000_U256);
/// A thousandth of a coin: the unit of `daily_fee_max_milli`.
const MILLI: U256 = uint!(1_000_000_000_000_000_U256);

/// Per gas, in wei.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fees {
    pub tip: U256,
    /// Base fee and tip together.
    pub max: U256,
}

/// The fees of a first transaction: the configured tip, and room for the base fee to double. None while base fee and
/// tip together exceed the operator's limit.
pub(crate) fn initial(config: &TxConfig, base_fee: U256) -> Option<Fees> {
    let (tip, max_allowed) = (GWEI.saturating_mul(U256::from(config.tip_gwei)), max_allowed(config));
    let needed = base_fee.saturating_add(tip);
    let max = base_fee.saturating_mul(U256::from(2)).saturating_add(tip).min(max_allowed);
    (needed <= max_allowed).then_some(Fees { tip, max })
}

/// The fees of a replacement: twice the tip, and both parts raised enough for servers to accept it. None when the
/// operator's limit is reached.
pub(crate) fn bump(config: &TxConfig, base_fee: U256, last: Fees) -> Option<Fees> {
    let tip = last.tip.saturating_mul(U256::from(2));
    let max = base_fee.saturating_mul(U256::from(2)).saturating_add(tip).max(raised(last.max)).min(max_allowed(config));
    let tip = tip.min(max);
    (max >= raised(last.max) && tip >= raised(last.tip)).then_some(Fees { tip, max })
}

/// The limit of the fees of 24 hours together; None when there is none.
pub(crate) fn daily_max(config: &TxConfig) -> Option<U256> {
    (config.daily_fee_max_milli > 0).then(|| MILLI.saturating_mul(U256::from(config.daily_fee_max_milli)))
}

/// The operator's limit, per gas.
pub(crate) fn max_allowed(config: &TxConfig) -> U256 {
    GWEI.saturating_mul(U256::from(config.max_fee_gwei))
}

/// An eighth more, rounded up: servers accept a replacement that pays at least a tenth more.
fn raised(wei: U256) -> U256 {
    wei.saturating_add(wei.div_ceil(U256::from(8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gwei(amount: u64) -> U256 {
        GWEI * U256::from(amount)
    }

    #[test]
    fn the_initial_fees_tip_one_gwei_and_stays_below_the_limit() {
        let config = TxConfig::default();
        assert_eq!(initial(&config, U256::from(7)), Some(Fees { tip: gwei(1), max: gwei(1) + U256::from(14) }));
        assert_eq!(initial(&config, gwei(49)), Some(Fees { tip: gwei(1), max: gwei(50) }), "the limit is the limit");
        assert_eq!(initial(&config, gwei(50)), None, "the tip would not fit");
        assert_eq!(initial(&config, U256::MAX), None);
    }

    #[test]
    fn servers_accept_each_bump() {
        let config = TxConfig::default();
        let mut bumps = vec![initial(&config, gwei(1)).unwrap_or(Fees { tip: U256::ZERO, max: U256::ZERO })];
        while let Some(fees) = bump(&config, gwei(1), bumps[bumps.len() - 1]) {
            let last = bumps[bumps.len() - 1];
            assert!(fees.tip * U256::from(10) >= last.tip * U256::from(11), "{bumps:?}");
            assert!(fees.max * U256::from(10) >= last.max * U256::from(11), "{bumps:?}");
            assert!(fees.tip <= fees.max && fees.max <= gwei(50));
            bumps.push(fees);
        }
        assert!((5..12).contains(&bumps.len()), "it ends at the limit: {bumps:?}");
        assert!(bump(&config, U256::MAX, Fees { tip: U256::MAX, max: U256::MAX }).is_none(), "and never overflows");
    }
}
