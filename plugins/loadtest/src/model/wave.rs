//! Waves: what their wallets send, and in which order. The rule: every coin that is planned to be spent was planned to be received, and the
//! fee of each transaction is known, so that what a wallet has is known without asking the chain.

use super::Kind;
use plugin_api::{Wei, handles::Bind};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The index of the float.
pub const FLOAT: i64 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Bind)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Fund,
    Transfer,
    Sweep,
    Done,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Wave {
    pub id: i64,
    /// The index of its first wallet.
    pub first: i64,
    pub size: i64,
    pub phase: Phase,
    /// The transfer of each wallet that is on its way, or was last.
    pub round: i64,
    /// Of each of its transactions.
    pub gas: i64,
    pub gas_price: Wei,
    /// What each wallet gets from the float.
    pub funding: Wei,
}

/// An account as it will be when all that is signed is in a block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Account {
    pub idx: i64,
    /// The next nonce.
    pub nonce: i64,
    /// Of the float: nothing, because others send coins to it.
    pub balance: Wei,
}

/// A transaction to be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTransaction {
    pub kind: Kind,
    pub sender: i64,
    pub nonce: i64,
    /// `None`: the sink.
    pub recipient: Option<i64>,
    pub value: Wei,
    pub fee: Wei,
}

/// How a new wave is funded: each wallet can transfer `value` in every round, since its neighbour sends it the same, and return it.
pub fn funding(value: Wei, fee: Wei, rounds: i64) -> Wei {
    let fees = fee.saturating_mul(rounds.unsigned_abs().saturating_add(1));
    value.saturating_add(fees)
}

impl Wave {
    pub fn fee(&self) -> Wei {
        self.gas_price.saturating_mul(self.gas.unsigned_abs())
    }

    pub fn indexes(&self) -> std::ops::Range<i64> {
        self.first..self.first + self.size
    }

    /// What the float pays for it, fees included.
    pub fn cost(&self) -> Wei {
        self.funding.saturating_add(self.fee()).saturating_mul(self.size.unsigned_abs())
    }

    /// What it costs in fees at most: its coins come home at whatever price gets into a block then, up to `price_max`.
    pub fn fees_max(&self, rounds: i64, price_max: Wei) -> Wei {
        let home = self.gas_price.max(price_max).saturating_mul(self.gas.unsigned_abs());
        let of_wallet = self.fee().saturating_mul((rounds + 1).unsigned_abs()).saturating_add(home);
        of_wallet.saturating_mul(self.size.unsigned_abs())
    }

    /// What its next transactions pay per gas: as planned, and no more than new waves pay. When that no longer gets into a block, what
    /// gets there now: false then, because the wallets have no coins for more than the way home.
    pub fn price(&self, price_min: Wei, price: Wei) -> (Wei, bool) {
        if self.gas_price < price_min { (price, false) } else { (self.gas_price.min(price), true) }
    }

    /// Whether every wallet can send another round and return what is left: not if a round was to move less when it was funded.
    pub fn can_transfer(&self, transfer: Wei, fee: Wei, accounts: &BTreeMap<i64, Account>) -> bool {
        let needed = transfer.saturating_add(fee).saturating_add(fee);
        self.indexes().all(|index| accounts.get(&index).is_some_and(|account| account.balance >= needed))
    }

    /// What follows when all of its transactions are in blocks.
    pub fn next(&self, rounds: i64) -> (Phase, i64) {
        match self.phase {
            Phase::Fund | Phase::Transfer if self.round < rounds => (Phase::Transfer, self.round + 1),
            Phase::Fund | Phase::Transfer => (Phase::Sweep, self.round),
            Phase::Sweep | Phase::Done => (Phase::Done, self.round),
        }
    }

    /// The transactions of its phase, each for this fee, and the accounts after them. `transfer` is what a wallet sends in each round.
    pub fn transactions(
        &self,
        transfer: Wei,
        fee: Wei,
        accounts: &mut BTreeMap<i64, Account>,
    ) -> Vec<PlannedTransaction> {
        let mut planned = Vec::new();
        for index in self.indexes() {
            let has = accounts.get(&index).map_or(Wei::ZERO, |account| account.balance);
            let left = has.saturating_sub(fee);
            let (kind, sender, recipient, value) = match self.phase {
                Phase::Fund => (Kind::Fund, FLOAT, index, self.funding),
                Phase::Transfer => {
                    let neighbour = self.first + (index - self.first + 1) % self.size;
                    (Kind::Transfer, index, neighbour, transfer)
                }
                Phase::Sweep if left > Wei::ZERO => (Kind::Sweep, index, FLOAT, left),
                Phase::Sweep | Phase::Done => continue,
            };
            let Some(nonce) = accounts.get(&sender).map(|account| account.nonce) else { continue };
            planned.push(PlannedTransaction { kind, sender, nonce, recipient: Some(recipient), value, fee });
            apply(accounts, planned.last());
        }
        planned
    }

    /// What wallets return before the wave has come to its end: those that no transaction under way (`busy`) comes from or goes to.
    pub fn early_sweeps(
        &self,
        fee: Wei,
        busy: &BTreeSet<i64>,
        accounts: &mut BTreeMap<i64, Account>,
    ) -> Vec<PlannedTransaction> {
        let mut planned = Vec::new();
        for sender in self.indexes().filter(|index| !busy.contains(index)) {
            let Some(Account { nonce, balance, .. }) = accounts.get(&sender).cloned() else { continue };
            let value = balance.saturating_sub(fee);
            if value > Wei::ZERO {
                planned.push(PlannedTransaction {
                    kind: Kind::Sweep,
                    sender,
                    nonce,
                    recipient: Some(FLOAT),
                    value,
                    fee,
                });
                apply(accounts, planned.last());
            }
        }
        planned
    }
}

/// The accounts after a transaction. The float has no balance here.
pub fn apply(accounts: &mut BTreeMap<i64, Account>, sent: Option<&PlannedTransaction>) {
    let Some(sent) = sent else { return };
    if let Some(sender) = accounts.get_mut(&sent.sender) {
        sender.nonce += 1;
        if sent.sender != FLOAT {
            sender.balance = sender.balance.saturating_sub(sent.value.saturating_add(sent.fee));
        }
    }
    let recipient = sent.recipient.filter(|index| *index != FLOAT);
    if let Some(recipient) = recipient.and_then(|index| accounts.get_mut(&index)) {
        recipient.balance = recipient.balance.saturating_add(sent.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wei(amount: u64) -> Wei {
        Wei::from(amount)
    }

    /// Runs a wave to its end; returns what was sent.
    fn run(size: i64, rounds: i64, transfer: u64, left_over: u64) -> Vec<PlannedTransaction> {
        let (gas, gas_price) = (21_000, wei(3));
        let funding = funding(wei(transfer), gas_price.saturating_mul(21_000), rounds);
        let mut wave = Wave { id: 1, first: 5, size, phase: Phase::Fund, round: 0, gas, gas_price, funding };
        let account = |idx| (idx, Account { idx, nonce: 7, balance: wei(left_over) });
        let mut accounts: BTreeMap<i64, Account> = std::iter::once(FLOAT).chain(wave.indexes()).map(account).collect();
        let mut sent = Vec::new();
        while wave.phase != Phase::Done {
            sent.extend(wave.transactions(wei(transfer), wave.fee(), &mut accounts));
            (wave.phase, wave.round) = wave.next(rounds);
        }
        assert!(wave.indexes().all(|index| accounts[&index].balance == Wei::ZERO), "{accounts:?}");
        sent
    }

    fn funded(transfer: u64, rounds: i64) -> (Wave, BTreeMap<i64, Account>) {
        let funding = funding(wei(transfer), wei(63_000), rounds);
        let wave =
            Wave { id: 1, first: 5, size: 3, phase: Phase::Fund, round: 0, gas: 21_000, gas_price: wei(3), funding };
        let account = |idx| (idx, Account { idx, nonce: 7, balance: Wei::ZERO });
        let mut accounts: BTreeMap<i64, Account> = std::iter::once(FLOAT).chain(wave.indexes()).map(account).collect();
        wave.transactions(wei(transfer), wave.fee(), &mut accounts);
        (wave, accounts)
    }

    #[test]
    fn no_more_is_transferred_than_what_was_funded() {
        let (mut wave, mut accounts) = funded(1000, 2);
        let fee = wave.fee();
        assert!(!wave.can_transfer(wei(1_000_000), fee, &accounts), "the configuration moves more since");
        for round in 1..=2 {
            assert!(wave.can_transfer(wei(1000), fee, &accounts), "round {round}");
            wave.phase = Phase::Transfer;
            wave.transactions(wei(1000), fee, &mut accounts);
        }
        assert!(!wave.can_transfer(wei(1000), fee, &accounts), "the rest is for the way home");
        wave.phase = Phase::Sweep;
        assert_eq!(wave.transactions(wei(1000), fee, &mut accounts).len(), 3);
    }

    #[test]
    fn the_price_is_the_planned_one_while_it_gets_into_blocks() {
        let (wave, _) = funded(1000, 2);
        assert_eq!(wave.price(wei(2), wei(4)), (wei(3), true));
        assert_eq!(wave.price(wei(1), wei(2)), (wei(2), true));
        assert_eq!(wave.price(wei(4), wei(7)), (wei(7), false));
    }

    #[test]
    fn the_way_home_may_cost_more_than_was_planned() {
        let (wave, _) = funded(1000, 2);
        assert_eq!(wave.fees_max(2, wei(5)), wei(3 * 21_000 * (3 * 3 + 5)));
        assert_eq!(
            wave.fees_max(2, wei(1)),
            wei(3 * 21_000 * (3 * 3 + 3)),
            "it was planned at a price above the limit"
        );
    }

    #[test]
    fn idle_wallets_return_their_coins_early() {
        let (wave, mut accounts) = funded(1000, 2);
        let has = accounts[&5].balance;
        let sent = wave.early_sweeps(wave.fee(), &BTreeSet::from([6]), &mut accounts);
        assert_eq!(sent.iter().map(|sent| sent.sender).collect::<Vec<_>>(), [5, 7]);
        assert_eq!((accounts[&5].balance, accounts[&6].balance, accounts[&5].nonce), (Wei::ZERO, has, 8));
        assert!(wave.early_sweeps(wave.fee(), &BTreeSet::from([6]), &mut accounts).is_empty(), "and not twice");
    }

    #[test]
    fn every_wallet_transfers_in_each_round_and_returns_the_rest_to_the_wei() {
        for (size, rounds, transfer, left_over) in [(3, 2, 1000, 0), (1, 1, 1, 0), (50, 0, 5, 0), (4, 3, 9, 100_000)] {
            let sent = run(size, rounds, transfer, left_over);
            let of = |kind| sent.iter().filter(move |sent| sent.kind == kind);
            let count = |kind| i64::try_from(of(kind).count()).unwrap_or_default();
            assert_eq!([count(Kind::Fund), count(Kind::Transfer), count(Kind::Sweep)], [size, size * rounds, size]);
            let sum = |kind| of(kind).fold(Wei::ZERO, |sum, sent| sum.saturating_add(sent.value));
            let fees =
                of(Kind::Transfer).chain(of(Kind::Sweep)).fold(Wei::ZERO, |sum, sent| sum.saturating_add(sent.fee));
            let extra = wei(left_over).saturating_mul(size.unsigned_abs());
            assert_eq!(sum(Kind::Fund).saturating_add(extra), sum(Kind::Sweep).saturating_add(fees));
            let mut nonces: Vec<_> = sent.iter().map(|sent| (sent.sender, sent.nonce)).collect();
            nonces.sort_unstable();
            nonces.dedup();
            assert_eq!(nonces.len(), sent.len(), "no nonce is used twice");
        }
    }
}
