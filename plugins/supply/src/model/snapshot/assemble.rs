//! A snapshot of what was read. The rule: every subtraction must be possible; otherwise something is configured wrong, and there is
//! no snapshot.

use super::{
    BlockRewards, BurnAddress, BurnAddresses, BurnedBaseFees, Checkpoint, Components, Definitions, EarlierIssuance,
    ExcludedTotals, ExcludedView, Genesis, HeldBalance, Reading, Snapshot, Totals,
};
use crate::model::{Category, Issuance, Plan};
use plugin_api::Wei;

const DECIMALS: u8 = 18;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// Rewards before this block are one number that was measured once.
    #[error("the chain is still before block {first_block}, from which issuance is known")]
    TooEarly { first_block: u64 },
    #[error("more coins are burned than there are: issuance is configured for another chain")]
    BurnedTooMuch,
    #[error("excluded addresses have more coins than there are: issuance is configured for another chain")]
    ExcludedTooMuch,
}

impl Snapshot {
    pub fn of(plan: &Plan, reading: &Reading, now_ms: i64) -> Result<Self, SnapshotError> {
        let issuance = &plan.issuance;
        let block = reading.at.block;
        if block.saturating_add(1) < issuance.first_block {
            return Err(SnapshotError::TooEarly { first_block: issuance.first_block });
        }
        let (paid, burned, dead) =
            (issuance.paid_through(block), reading.at.burned, sum(reading.burned.iter().map(|(_, wei)| *wei)));
        let made = issuance.genesis_wei.saturating_add(issuance.paid_earlier()).saturating_add(paid);
        let total = minus(made, burned.saturating_add(dead)).ok_or(SnapshotError::BurnedTooMuch)?;
        let all_excluded = sum(reading.excluded.iter().map(HeldBalance::excluded));
        let circulating = minus(total, all_excluded).ok_or(SnapshotError::ExcludedTooMuch)?;
        let max = issuance.max_supply();
        let symbol = &plan.symbol;
        let reconciliation = vec![
            format!(
                "total {} = genesis {} + earlier rewards {} + block rewards {} - burned base fees {} - burn addresses {}",
                total.in_coins(),
                issuance.genesis_wei.in_coins(),
                issuance.paid_earlier().in_coins(),
                paid.in_coins(),
                burned.in_coins(),
                dead.in_coins(),
            ),
            format!(
                "circulating {} = total {} - excluded {}",
                circulating.in_coins(),
                total.in_coins(),
                all_excluded.in_coins()
            ),
        ];
        Ok(Self {
            symbol: symbol.clone(),
            decimals: DECIMALS,
            chain_id: plan.chain_id,
            as_of_block: block,
            as_of_timestamp: reading.time_s,
            head: reading.head,
            total_supply: total.in_coins(),
            circulating_supply: circulating.in_coins(),
            max_supply: max.in_coins(),
            wei: Totals { total, circulating, max },
            components: components(issuance, reading),
            excluded: reading.excluded.iter().map(excluded_view).collect(),
            excluded_totals: excluded_totals(&reading.excluded),
            definitions: definitions(symbol),
            reconciliation,
            stale: None,
            computed_at: now_ms,
        })
    }
}

fn components(issuance: &Issuance, reading: &Reading) -> Components {
    let block = reading.at.block;
    let (earlier, paid, burned) = (issuance.paid_earlier(), issuance.paid_through(block), reading.at.burned);
    let dead = sum(reading.burned.iter().map(|(_, wei)| *wei));
    let address = |(address, wei): &(_, Wei)| BurnAddress { address: *address, fmx: wei.in_coins(), wei: *wei };
    Components {
        genesis: Genesis {
            fmx: issuance.genesis_wei.in_coins(),
            wei: issuance.genesis_wei,
            source: "the genesis block".to_owned(),
        },
        pre_authority_issuance: EarlierIssuance {
            fmx: earlier.in_coins(),
            wei: earlier,
            blocks: issuance.first_block.saturating_sub(1),
            base_reward_fmx: issuance.earlier_base_wei.in_coins(),
            uncle_reward_fmx: issuance.earlier_uncle_wei.in_coins(),
            nephew_reward_fmx: issuance.earlier_nephew_wei.in_coins(),
            uncles_included: issuance.earlier_uncles,
            measured_at: issuance.first_block.saturating_sub(1),
        },
        authority_issuance: BlockRewards {
            fmx: paid.in_coins(),
            wei: paid,
            blocks: issuance.blocks_through(block),
            reward_per_block_fmx: issuance.reward_at(block).in_coins(),
        },
        burned_base_fees: BurnedBaseFees {
            fmx: burned.in_coins(),
            wei: burned,
            through_block: block,
            checkpoint: Checkpoint { block: issuance.burn_block, fmx: issuance.burn_wei.in_coins() },
        },
        burn_addresses: BurnAddresses {
            fmx: dead.in_coins(),
            wei: dead,
            addresses: reading.burned.iter().map(address).collect(),
        },
    }
}

fn excluded_view(held: &HeldBalance) -> ExcludedView {
    ExcludedView {
        address: held.wallet.address,
        label: held.wallet.label.clone(),
        category: held.category(),
        balance: held.balance.in_coins(),
        excluded: held.excluded().in_coins(),
        excluded_wei: held.excluded(),
        note: held.note().to_owned(),
    }
}

fn excluded_totals(all: &[HeldBalance]) -> ExcludedTotals {
    let of = |category: Category| {
        sum(all.iter().filter(|held| held.category() == category).map(HeldBalance::excluded)).in_coins()
    };
    ExcludedTotals {
        locked: of(Category::Locked),
        vesting: of(Category::Vesting),
        foundation: of(Category::Foundation),
        all: sum(all.iter().map(HeldBalance::excluded)).in_coins(),
    }
}

fn definitions(symbol: &str) -> Definitions {
    Definitions {
        total: format!(
            "all {symbol} that exist: genesis and every block reward paid so far, without burned base fees and without what lies on burn addresses"
        ),
        circulating: format!(
            "total without {symbol} that contracts lock, that is not vested, or that the foundation holds"
        ),
        max: format!(
            "genesis and every block reward that will ever be paid, in {symbol}; nothing burned is subtracted"
        ),
        block: "every number is of one block, 64 below the newest".to_owned(),
    }
}

fn sum(amounts: impl Iterator<Item = Wei>) -> Wei {
    amounts.fold(Wei::ZERO, Wei::saturating_add)
}

fn minus(from: Wei, amount: Wei) -> Option<Wei> {
    from.0.checked_sub(amount.0).map(Wei)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::{
        Config,
        model::{ExcludedAddress, Position},
    };
    use alloy_primitives::B256;
    use coin_market::NAMED_CHAIN;
    use plugin_api::Address;

    fn coins(amount: u64) -> Wei {
        Wei::from(1_000_000_000).saturating_mul(1_000_000_000).saturating_mul(amount)
    }

    fn plan() -> Plan {
        Config::default().plan(NAMED_CHAIN).unwrap().unwrap()
    }

    fn held(category: Category, balance: u64, answer: u64) -> HeldBalance {
        let wallet = ExcludedAddress { address: Address::ZERO, label: "x".into(), category };
        HeldBalance { wallet, balance: coins(balance), answer: coins(answer) }
    }

    fn reading(excluded: Vec<HeldBalance>) -> Reading {
        let at = Position { block: 160_001, hash: B256::ZERO, burned: coins(1) };
        Reading {
            at,
            time_s: 7,
            head: 160_065,
            burned: vec![(Address::ZERO, coins(2)), (Address([1; 20]), coins(3))],
            excluded,
        }
    }

    #[test]
    fn each_rule_of_the_excluded_and_the_sums() {
        let excluded = vec![
            held(Category::Foundation, 100, 0),
            held(Category::Vesting, 50, 20),
            held(Category::Vesting, 5, 6),
            held(Category::Locked, 7, 1),
            held(Category::Locked, 9, 0),
        ];
        let snapshot = Snapshot::of(&plan(), &reading(excluded), 9).unwrap();
        // 30,000,000 + 304,979.875 + two blocks of 0.25 - 1 - 5
        assert_eq!(snapshot.total_supply, "30304974.375");
        // 100 + 30 + 0 + 7 + 9
        assert_eq!(snapshot.circulating_supply, "30304828.375");
        assert_eq!(snapshot.max_supply, "32514979.874999999892");
        let ExcludedTotals { locked, vesting, foundation, all } = &snapshot.excluded_totals;
        assert_eq!([locked, vesting, foundation, all], ["7.0", "30.0", "109.0", "146.0"]);
        let last = snapshot.excluded.last().unwrap();
        assert_eq!(
            (last.category, last.note.as_str()),
            (Category::Foundation, "the lock is open: held by the foundation")
        );
        assert_eq!((snapshot.components.authority_issuance.blocks, snapshot.computed_at), (2, 9));
        let stored = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(serde_json::from_str::<Snapshot>(&stored).unwrap(), snapshot);
    }

    #[test]
    fn what_cannot_be_is_no_snapshot() {
        let early = |block| {
            let mut reading = reading(Vec::new());
            reading.at.block = block;
            Snapshot::of(&plan(), &reading, 0).map(|snapshot| snapshot.components.authority_issuance.blocks)
        };
        assert_eq!(early(159_998), Err(SnapshotError::TooEarly { first_block: 160_000 }));
        assert_eq!(early(159_999), Ok(0));
        let too_much = Snapshot::of(&plan(), &reading(vec![held(Category::Foundation, 30_304_975, 0)]), 0);
        assert_eq!(too_much, Err(SnapshotError::ExcludedTooMuch));
        let mut burned = reading(Vec::new());
        burned.at.burned = coins(30_304_976);
        assert_eq!(Snapshot::of(&plan(), &burned, 0), Err(SnapshotError::BurnedTooMuch));
    }
}
