//! How coins come into being: genesis, what earlier blocks were paid, and a reward per block that halves.

use plugin_api::{JsonSchema, Wei};
use serde::Deserialize;

/// A reward that has been halved so often is zero, whatever it was.
const ERAS_MAX: u64 = 256;

/// `[plugins.supply.issuance]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Issuance {
    /// Coins of the genesis block, in wei.
    pub genesis_wei: Wei,
    /// What blocks 1 to `first_block` - 1 were paid: rewards of blocks, of uncles, and for including them.
    #[serde(default)]
    pub earlier_base_wei: Wei,
    #[serde(default)]
    pub earlier_uncle_wei: Wei,
    #[serde(default)]
    pub earlier_nephew_wei: Wei,
    /// Uncles in those blocks.
    #[serde(default)]
    pub earlier_uncles: u64,
    /// The first block that gets `reward_wei`, or what is left of it.
    #[serde(default = "one")]
    pub first_block: u64,
    #[serde(default)]
    pub reward_wei: Wei,
    /// The reward halves at every multiple of this block; 0 where there is no reward.
    #[serde(default)]
    pub halving_blocks: u64,
    /// Where the count of burned base fees begins: what all blocks up to and with this one burned.
    #[serde(default)]
    pub burn_block: u64,
    #[serde(default)]
    pub burn_wei: Wei,
}

fn one() -> u64 {
    1
}

impl Issuance {
    /// The reward of a block from `first_block` on, in whole wei.
    pub fn reward_at(&self, block: u64) -> Wei {
        self.reward_of_era(block.checked_div(self.halving_blocks).unwrap_or_default())
    }

    /// What blocks from `first_block` to `through` were paid.
    pub fn paid_through(&self, through: u64) -> Wei {
        self.eras(through).fold(Wei::ZERO, |sum, (reward, blocks)| sum.saturating_add(reward.saturating_mul(blocks)))
    }

    /// What all blocks before `first_block` were paid.
    pub fn paid_earlier(&self) -> Wei {
        self.earlier_base_wei.saturating_add(self.earlier_uncle_wei).saturating_add(self.earlier_nephew_wei)
    }

    /// All coins that there can ever be.
    pub fn max_supply(&self) -> Wei {
        self.genesis_wei.saturating_add(self.paid_earlier()).saturating_add(self.paid_through(u64::MAX))
    }

    /// Number of blocks from `first_block` to `through`.
    pub fn blocks_through(&self, through: u64) -> u64 {
        through.saturating_add(1).saturating_sub(self.first_block)
    }

    fn reward_of_era(&self, era: u64) -> Wei {
        let halvings = usize::try_from(era.min(ERAS_MAX)).unwrap_or(256);
        Wei(self.reward_wei.0.wrapping_shr(halvings))
    }

    /// Reward and number of the blocks up to `through`, by era, until the reward is zero.
    fn eras(&self, through: u64) -> impl Iterator<Item = (Wei, u64)> {
        let length = self.halving_blocks;
        let first_era = self.first_block.checked_div(length).unwrap_or_default();
        (first_era..=first_era.saturating_add(ERAS_MAX)).map_while(move |era| {
            let reward = self.reward_of_era(era);
            let begins = era.checked_mul(length)?.max(self.first_block);
            let ends = era.checked_add(1)?.checked_mul(length)?.saturating_sub(1).min(through);
            (reward != Wei::ZERO && begins <= ends).then(|| (reward, ends - begins + 1))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::named_issuance;
    use proptest::prelude::*;

    #[test]
    fn the_named_network_has_the_supply_that_its_specification_says() {
        let issuance = named_issuance();
        assert_eq!(issuance.max_supply().in_coins(), "32514979.874999999892");
        assert_eq!(issuance.paid_earlier().in_coins(), "304979.875");
        assert_eq!(issuance.reward_at(160_000).in_coins(), "0.25");
        assert_eq!(issuance.reward_at(4_499_999).in_coins(), "0.25");
        assert_eq!(issuance.reward_at(4_500_000).in_coins(), "0.125");
        assert_eq!(issuance.reward_at(u64::MAX), Wei::ZERO);
        assert_eq!(issuance.paid_through(159_999), Wei::ZERO);
        assert_eq!(issuance.paid_through(160_000).in_coins(), "0.25");
        assert_eq!(issuance.paid_through(4_500_001).in_coins(), "1085000.25");
        assert_eq!((issuance.blocks_through(159_999), issuance.blocks_through(160_009)), (0, 10));
    }

    #[test]
    fn without_rewards_there_is_what_there_was() {
        let issuance: Issuance = serde_json::from_str(r#"{"genesis_wei":"7"}"#).unwrap();
        assert_eq!((issuance.max_supply(), issuance.paid_through(1_000)), (Wei::from(7), Wei::ZERO));
    }

    proptest! {
        #[test]
        fn all_blocks_together_get_what_each_gets(first in 1_u64..50, length in 1_u64..20, reward: u32, count in 0_u64..300) {
            let issuance = Issuance { first_block: first, halving_blocks: length, reward_wei: Wei::from(u64::from(reward)), ..named_issuance() };
            let through = first + count;
            let each = (first..=through).fold(Wei::ZERO, |sum, block| sum.saturating_add(issuance.reward_at(block)));
            prop_assert_eq!(issuance.paid_through(through), each);
        }
    }
}
