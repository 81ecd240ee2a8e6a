//! Transfers to a deposit address: as events, and as rows.

use super::{NATIVE, Units, power_of_ten};
use alloy_primitives::U256;
use plugin_api::{Address, Hash256, chain::ReceiptInfo, contracts::ChainEvent, handles::Bind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `Transfer(address,address,uint256)`; an event of ERC-721 has a fourth topic.
const TRANSFER: &[u8] = b"Transfer(address,address,uint256)";

/// The arguments of a token's `Transfer`.
#[derive(Clone, Debug, Deserialize)]
pub struct TransferArguments {
    pub from: Address,
    pub to: Address,
    pub value: Units,
}

/// A transfer as two servers told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTransfer {
    pub asset: String,
    pub token: Address,
    /// The deposit address.
    pub address: Address,
    pub tx: Hash256,
    pub ordinal: i64,
    pub log_index: i64,
    pub block: i64,
    pub block_hash: Hash256,
    pub block_time: i64,
    pub sender: Address,
    pub units: Units,
}

/// What a deposit is at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, plugin_api::JsonSchema, Bind)]
#[serde(rename_all = "lowercase")]
pub enum DepositState {
    /// It is to be matched.
    New,
    Matched,
    /// The operator decides about it.
    Unmatched,
    /// It is in no block of its chain.
    Gone,
    /// The operator has decided that no coins are paid for it.
    Dismissed,
}

/// A stored deposit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Deposit {
    pub id: i64,
    pub chain: String,
    pub asset: String,
    pub token: Address,
    /// The deposit address that it came to.
    pub address: Address,
    pub tx: Hash256,
    pub ordinal: i64,
    pub log_index: i64,
    pub block: i64,
    pub block_hash: Hash256,
    pub block_time: i64,
    pub sender: Address,
    pub units: Units,
    /// Of its token when it was found; `None` of older rows.
    pub decimals: Option<u8>,
    pub state: DepositState,
    pub reason: Option<String>,
    pub quote: Option<String>,
    pub checks: i64,
    pub lost_at: Option<i64>,
    pub found_at: i64,
}

/// Half a token, which is half a USD. Nothing is quoted below twice as much, and less is not kept: so nobody fills tables, or delays deposits of
/// others, with transfers that cost nothing.
pub fn least_units(decimals: u8) -> Units {
    plugin_api::Wei(power_of_ten(decimals) / U256::from(2)).max(Units::from(1))
}

/// The transfers of one token to deposit addresses, numbered within their transactions for each address, so that the numbers do not depend
/// on which addresses are watched. A transfer of nothing is none, and neither is one of an address to itself. A mint, which comes from the
/// zero address, is one.
pub fn ordered(asset: &str, events: Vec<ChainEvent<TransferArguments>>) -> Vec<FoundTransfer> {
    let mut next: BTreeMap<(Hash256, Address), i64> = BTreeMap::new();
    let counts =
        |event: &ChainEvent<TransferArguments>| event.args.value != Units::ZERO && event.args.from != event.args.to;
    let number = |event: ChainEvent<TransferArguments>| {
        let ordinal = next.entry((event.tx, event.args.to)).or_insert(0);
        *ordinal += 1;
        FoundTransfer {
            asset: asset.to_owned(),
            token: event.address,
            address: event.args.to,
            tx: event.tx,
            ordinal: *ordinal,
            log_index: event.log_index.cast_signed(),
            block: event.block.cast_signed(),
            block_hash: event.block_hash,
            block_time: event.time_s,
            sender: event.args.from,
            units: event.args.value,
        }
    };
    events.into_iter().filter(counts).map(number).collect()
}

/// The three topics of a transfer.
fn transfer_topics(from: Address, to: Address) -> [Hash256; 3] {
    let word = |address: Address| {
        let mut word = [0; 32];
        let (_, last) = word.split_at_mut(12);
        last.copy_from_slice(&address.0);
        Hash256(word)
    };
    [Hash256::keccak(TRANSFER), word(from), word(to)]
}

impl Deposit {
    /// Whether it is the row of this transfer.
    pub fn is_of(&self, found: &FoundTransfer) -> bool {
        (self.token, self.address, self.tx, self.ordinal) == (found.token, found.address, found.tx, found.ordinal)
    }

    /// Whether a transaction sent it; otherwise the balance alone says that it came, in its block.
    pub fn has_transaction(&self) -> bool {
        self.token != NATIVE || self.ordinal > 0
    }

    /// Whether the receipt has this very transfer at this very place. The hash of a transaction says what it sends where.
    pub fn is_in(&self, receipt: &ReceiptInfo) -> bool {
        let (topics, data) = (transfer_topics(self.sender, self.address), format!("0x{:064x}", self.units.0));
        let is_there = receipt.ok && receipt.block.cast_signed() == self.block && receipt.block_hash == self.block_hash;
        if self.token == NATIVE {
            return is_there && receipt.to == Some(self.address);
        }
        is_there
            && receipt.logs.iter().any(|log| {
                log.address == self.token
                    && log.log_index.cast_signed() == self.log_index
                    && log.topics == topics
                    && log.data == data
            })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use plugin_api::chain::LogInfo;

    fn deposit() -> (Deposit, ReceiptInfo) {
        let (token, sender, to) = (Address([1; 20]), Address([2; 20]), Address([3; 20]));
        let deposit = Deposit {
            id: 1,
            chain: "base".to_owned(),
            asset: "USDC".to_owned(),
            token,
            address: to,
            tx: Hash256([4; 32]),
            ordinal: 1,
            log_index: 7,
            block: 100,
            block_hash: Hash256([5; 32]),
            block_time: 0,
            sender,
            units: Units::from(255),
            decimals: None,
            state: DepositState::New,
            reason: None,
            quote: None,
            checks: 0,
            lost_at: None,
            found_at: 0,
        };
        let log = LogInfo {
            address: token,
            topics: transfer_topics(sender, to).to_vec(),
            data: format!("0x{}ff", "0".repeat(62)),
            log_index: 7,
        };
        let (tx, block_hash) = (deposit.tx, deposit.block_hash);
        let receipt =
            ReceiptInfo { tx, block: 100, block_hash, ok: true, from: sender, to: Some(token), logs: vec![log] };
        (deposit, receipt)
    }

    #[test]
    fn only_the_very_same_transfer_is_present() {
        let (deposit, receipt) = deposit();
        assert!(deposit.is_in(&receipt));
        let signature = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
        assert_eq!(receipt.logs[0].topics[0].to_string(), signature);
        let changed: [fn(&mut ReceiptInfo); 8] = [
            |receipt| receipt.ok = false,
            |receipt| receipt.block = 101,
            |receipt| receipt.block_hash = Hash256([6; 32]),
            |receipt| receipt.logs.clear(),
            |receipt| receipt.logs[0].address = Address([9; 20]),
            |receipt| receipt.logs[0].topics.push(Hash256([0; 32])),
            |receipt| receipt.logs[0].data = format!("0x{}fe", "0".repeat(62)),
            |receipt| receipt.logs[0].log_index = 8,
        ];
        for change in changed {
            let mut receipt = receipt.clone();
            change(&mut receipt);
            assert!(!deposit.is_in(&receipt), "{receipt:?}");
        }
        let elsewhere = Deposit { address: Address([8; 20]), ..deposit };
        assert!(!elsewhere.is_in(&receipt));
    }

    fn transfer(tx: u8, from: u8, to: u8, units: u64) -> ChainEvent<TransferArguments> {
        serde_json::from_value(serde_json::json!({
            "chain": "base", "contract": "USDC", "address": Address([1; 20]), "event": "Transfer",
            "args": { "from": Address([from; 20]), "to": Address([to; 20]), "value": units.to_string() },
            "block": 100, "block_hash": Hash256([5; 32]), "time_s": 9, "tx": Hash256([tx; 32]), "tx_index": 0, "log_index": 7,
        }))
        .unwrap()
    }

    #[test]
    fn transfers_are_numbered_within_their_transaction_for_each_address() {
        let events = vec![
            transfer(1, 2, 3, 5),
            transfer(1, 2, 3, 0),
            transfer(1, 3, 3, 5),
            transfer(1, 2, 4, 6),
            transfer(1, 0, 3, 7),
            transfer(2, 2, 3, 8),
        ];
        let found = ordered("USDC", events);
        let numbers: Vec<(String, i64)> = found.iter().map(|one| (one.units.to_string(), one.ordinal)).collect();
        let expected = [("5", 1), ("6", 1), ("7", 2), ("8", 1)];
        assert_eq!(numbers, expected.map(|(units, ordinal)| (units.to_owned(), ordinal)), "none of 0 or to itself");

        let first = &found[0];
        let row = Deposit { tx: first.tx, address: first.address, ..deposit().0 };
        assert!(row.is_of(first));
        let others = [
            FoundTransfer { token: Address([9; 20]), ..first.clone() },
            FoundTransfer { address: Address([9; 20]), ..first.clone() },
            FoundTransfer { tx: Hash256([9; 32]), ..first.clone() },
            FoundTransfer { ordinal: 2, ..first.clone() },
        ];
        assert!(others.iter().all(|other| !row.is_of(other)));
    }

    #[test]
    fn coins_are_present_in_the_transaction_that_sent_them() {
        let (deposit, receipt) = deposit();
        let coins = Deposit { token: NATIVE, ..deposit };
        assert!(!coins.is_in(&receipt), "it went to a contract");
        let sent = ReceiptInfo { to: Some(coins.address), logs: Vec::new(), ..receipt };
        assert!(coins.is_in(&sent) && coins.has_transaction());
        assert!(!coins.is_in(&ReceiptInfo { ok: false, ..sent.clone() }));
        assert!(!coins.is_in(&ReceiptInfo { block_hash: Hash256([6; 32]), ..sent }));
        assert!(!Deposit { ordinal: 0, ..coins }.has_transaction());
    }
}
