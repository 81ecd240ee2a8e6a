//! Random operations on a few accounts.

use super::accounts::{NewOperation, Operation};
use crate::crash::Dice;

/// Two accounts each.
const PAIRS: u64 = 3;
const AMOUNT_MAX: u64 = 60;
const BALANCE: u64 = 50;

pub fn operation(dice: &mut Dice, number: i64) -> NewOperation {
    let amount = int(dice.below(AMOUNT_MAX));
    let (pair, [name, other]) = accounts_of_pair(dice);
    let operation = match dice.below(10) {
        0 | 1 => Operation::Open { name, pair, balance: int(BALANCE) },
        2 => Operation::Deposit { name, amount },
        3 => Operation::Spoil { name, amount },
        4 | 5 => Operation::Withdraw { name, amount },
        // Within the pair: what both have together changes by deposits and withdrawals only.
        _ => Operation::Transfer { from: name, to: other, amount },
    };
    NewOperation { number, operation }
}

/// The two accounts of a pair, in either order.
fn accounts_of_pair(dice: &mut Dice) -> (i64, [String; 2]) {
    let (pair, side) = (dice.below(PAIRS), dice.below(2));
    (int(pair), [side, 1 - side].map(|side| format!("{pair}-{side}")))
}

fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap()
}
