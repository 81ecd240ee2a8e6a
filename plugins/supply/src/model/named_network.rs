//! What the specification says of the network that it names: genesis, rewards, the addresses whose coins do not circulate.

use super::{Category, ExcludedAddress, Issuance};
use alloy_primitives::{Address as Account, U256, address};
use plugin_api::{Address, Wei};

const MILLI: u64 = 1_000_000_000_000_000;

/// Blocks 1 to 159,999 were paid 6 FMX each below 20,000 and 1 FMX after that, and for 16,299 uncles; authority blocks follow.
pub fn named_issuance() -> Issuance {
    Issuance {
        genesis_wei: thousandths(30_000_000_000),
        earlier_base_wei: thousandths(259_994_000),
        earlier_uncle_wei: thousandths(42_792_000),
        earlier_nephew_wei: thousandths(2_193_875),
        earlier_uncles: 16_299,
        first_block: 160_000,
        reward_wei: thousandths(250),
        halving_blocks: 4_500_000,
        burn_block: 413_163,
        burn_wei: Wei::from(2_567_336_314_603_710),
    }
}

pub fn named_excluded() -> Vec<ExcludedAddress> {
    let excluded = |address: Account, label: &str, category| ExcludedAddress {
        address: Address(address.into_array()),
        label: label.to_owned(),
        category,
    };
    vec![
        excluded(address!("C0E01D9F49eE0967F34e1CB045B74D3Aefac189d"), "time lock", Category::Locked),
        excluded(address!("6F488FB1f382Bc96Fef8bBfCa28A9647E5Fe430B"), "vesting", Category::Vesting),
        excluded(address!("c0A5Eb613f859f072554F29f1Ab7400265af15aB"), "treasury", Category::Foundation),
        excluded(address!("691E5275BF346FfFa0B30174dDBeDfCC078dd8D6"), "reward sink", Category::Foundation),
        excluded(address!("910BD467D8576277f8f96DF47428377FFD94fEfe"), "multisig", Category::Foundation),
        excluded(address!("EeDd7368290a17aB2Aa3F298Ff24BB99D581E787"), "genesis reserve 1", Category::Foundation),
        excluded(address!("040F1E90EF72b364141D91c3C0314ac3b5eCD0AE"), "genesis reserve 2", Category::Foundation),
        excluded(address!("34f5366014EF292fd5ff9FFDE81d47819EF65cFC"), "genesis reserve 3", Category::Foundation),
        excluded(address!("f4dE70068031DA17347cd19aCaa841013751B3c0"), "faucet", Category::Foundation),
    ]
}

/// Of a coin.
fn thousandths(amount: u64) -> Wei {
    Wei(U256::from(amount) * U256::from(MILLI))
}
