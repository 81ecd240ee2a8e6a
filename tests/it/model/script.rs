//! Random operations on a few accounts.

use super::accounts::{NewOperation, Operation};
use crate::crash::Dice;

/// Two accounts each.
const PAIRS: u64 = 3;
const AMOUNT_MAX: u64 = 60;
const BALANCE: u64 = 50;

pub fn operation(dice: &mut Dice, number: i64) -> NewOperation {
    let amount = int(dice.below(AMOUNT_MAX));
    let (pair, name) = account(dice);
    let operation = match dice.below(10) {
        0 | 1 => Operation::Open { name, pair, balance: int(BALANCE) },
        2 => Operation::Deposit { name, amount },
        3 => Operation::Spoil { name, amount },
        4 | 5 => Operation::Withdraw { name, amount },
        _ => {
            let mut other = account(dice).1;
            while other == name {
                other = account(dice).1;
            }
            Operation::Transfer { from: name, to: other, amount }
        }
    };
    NewOperation { number, operation }
}

fn account(dice: &mut Dice) -> (i64, String) {
    let (pair, side) = (dice.below(PAIRS), dice.below(2));
    (int(pair), format!("{pair}-{side}"))
}

fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap()
}
