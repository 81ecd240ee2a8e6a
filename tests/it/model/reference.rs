//! What the accounts are after each operation, without a database.

use super::accounts::{NewOperation, Operation};
use plugin_testing::{Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct Reference {
    accounts: BTreeMap<String, ReferenceAccount>,
    transfers: BTreeMap<i64, (String, String, i64)>,
    /// The data of each event.
    pub events: Vec<Value>,
}

#[derive(Clone, Debug, Default)]
struct ReferenceAccount {
    pair: i64,
    balance: i64,
    moves: i64,
}

/// Status and code of a refusal.
pub type ExpectedError = (u16, &'static str);

const TAKEN: ExpectedError = (409, "taken");
const UNKNOWN: ExpectedError = (404, "unknown");
const INSUFFICIENT: ExpectedError = (409, "insufficient");
const SPOILED: ExpectedError = (422, "spoiled");

impl Reference {
    pub fn run(&mut self, new: &NewOperation) -> Result<Value, ExpectedError> {
        let done = match &new.operation {
            Operation::Open { name, pair, balance } => self.open(name, *pair, *balance),
            Operation::Deposit { name, amount } => self.add(name, *amount).map(|balance| json!({ "balance": balance })),
            Operation::Transfer { from, to, amount } => self.transfer(new.number, from, to, *amount),
            Operation::Withdraw { name, amount } => self.withdraw(name, *amount),
            Operation::Spoil { name, .. } => Err(if self.accounts.contains_key(name) { SPOILED } else { UNKNOWN }),
        }?;
        self.events.push(json!({ "number": new.number, "done": done }));
        Ok(done)
    }

    fn open(&mut self, name: &str, pair: i64, balance: i64) -> Result<Value, ExpectedError> {
        if self.accounts.contains_key(name) {
            return Err(TAKEN);
        }
        self.accounts.insert(name.to_owned(), ReferenceAccount { pair, balance, moves: 0 });
        Ok(json!({ "accounts": self.accounts.len() }))
    }

    fn add(&mut self, name: &str, amount: i64) -> Result<i64, ExpectedError> {
        let account = self.accounts.get_mut(name).ok_or(UNKNOWN)?;
        account.balance += amount;
        account.moves += 1;
        Ok(account.balance)
    }

    fn transfer(&mut self, number: i64, from: &str, to: &str, amount: i64) -> Result<Value, ExpectedError> {
        let balance = |name: &str| self.accounts.get(name).map(|account| account.balance).ok_or(UNKNOWN);
        let (from_balance, _) = (balance(from)?, balance(to)?);
        if from_balance < amount {
            return Err(INSUFFICIENT);
        }
        let (from_balance, to_balance) = (self.add(from, -amount)?, self.add(to, amount)?);
        self.transfers.insert(number, (from.to_owned(), to.to_owned(), amount));
        Ok(json!({ "from": from_balance, "to": to_balance }))
    }

    fn withdraw(&mut self, name: &str, amount: i64) -> Result<Value, ExpectedError> {
        let pair = self.accounts.get(name).ok_or(UNKNOWN)?.pair;
        if self.pair_balance(pair) < amount {
            return Err(INSUFFICIENT);
        }
        Ok(json!({ "balance": self.add(name, -amount)? }))
    }

    fn pair_balance(&self, pair: i64) -> i64 {
        self.accounts.values().filter(|account| account.pair == pair).map(|account| account.balance).sum()
    }

    /// The rows of the plugin's tables, as [`super::rows`] reads them.
    pub fn rows(&self) -> Vec<String> {
        let accounts = self.accounts.iter().map(|(name, ReferenceAccount { pair, balance, moves })| {
            format!("account Text({name:?}) Int({pair}) Int({balance}) Int({moves})")
        });
        let transfers = self.transfers.iter().map(|(number, (from, to, amount))| {
            format!("transfer Int({number}) Text({from:?}) Text({to:?}) Int({amount})")
        });
        let total = (!self.accounts.is_empty()).then(|| format!("total Text(\"all\") Int({})", self.accounts.len()));
        let mut rows: Vec<String> = accounts.chain(transfers).chain(total).collect();
        rows.sort();
        rows
    }
}
