//! Matches deposits with quotes, after their events were compared with balances.
//!
//! The rule: the balance of the address after the block is that before it, plus what the events of the block say. Where it is not, or where no
//! two servers tell both, nothing of this token and block is matched.

use super::window::TRANSFER;
use crate::{
    Payin,
    model::{Deposit, DepositState, Quote, TakenChain, Token, TransferArguments, Units},
    store::{deposits, quotes},
};
use plugin_api::{
    Address, HostError, HostErrorCode, PluginContext, Tx,
    chain::{Chain, ContractCall, EventFilter},
};
use std::collections::BTreeMap;

/// Deposits of a chain that one run matches.
const DEPOSITS_MAX: u32 = 200;
/// Until a check that was not possible is tried again: twice as long each time, an hour at most.
const FIRST_WAIT_S: i64 = 15;
const DOUBLINGS_MAX: i64 = 8;

/// What comparing events and balances has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Check {
    Right,
    /// The operator decides, and reads why.
    Wrong(String),
    /// It was not possible.
    Open(String),
}

pub async fn match_due(cx: &PluginContext<Payin>, chain: &TakenChain, source: &Chain<'_>) -> Result<(), HostError> {
    let mut checks: BTreeMap<(Address, i64), Check> = BTreeMap::new();
    for deposit in deposits::due(&cx.db(), &chain.slug, cx.now_s(), DEPOSITS_MAX).await? {
        let place = (deposit.token, deposit.block);
        let check = match checks.get(&place) {
            Some(check) => check.clone(),
            None => check(chain, source, &deposit).await,
        };
        checks.insert(place, check.clone());
        match check {
            Check::Right => cx.write(async move |tx| match_one(tx, &deposit).await).await?,
            Check::Wrong(reason) => cx.write(async move |tx| leave(tx, &deposit, &reason).await).await?,
            Check::Open(reason) => {
                cx.warn(&format!("deposit {} of {} waits: {reason}", deposit.id, chain.slug));
                let wait_s = FIRST_WAIT_S << deposit.checks.min(DOUBLINGS_MAX);
                cx.write(async move |tx| deposits::postpone(tx, deposit.id, &reason, wait_s).await).await?;
            }
        }
    }
    Ok(())
}

async fn leave(tx: &Tx, deposit: &Deposit, reason: &str) -> Result<(), HostError> {
    if is_current(tx, deposit).await? { deposits::leave(tx, deposit.id, reason).await } else { Ok(()) }
}

async fn check(chain: &TakenChain, source: &Chain<'_>, deposit: &Deposit) -> Check {
    let Some(token) = chain.tokens.iter().find(|token| token.address == deposit.token).cloned() else {
        return Check::Wrong("its token is not taken any more".to_owned());
    };
    if token.exact {
        return Check::Right;
    }
    match compare(chain, source, &token, deposit).await {
        Ok(check) => check,
        Err(error) => Check::Open(format!("its block cannot be compared with balances: {error}")),
    }
}

async fn compare(chain: &TakenChain, source: &Chain<'_>, token: &Token, deposit: &Deposit) -> Result<Check, HostError> {
    let Some(before) = deposit.block.cast_unsigned().checked_sub(1) else {
        return Ok(Check::Wrong("its block is the first one".to_owned()));
    };
    let at = deposit.block.cast_unsigned();
    let arrived = moved_units(chain, source, token, ("to", deposit)).await?;
    let left = moved_units(chain, source, token, ("from", deposit)).await?;
    let (earlier, later) = (balance(chain, source, token, before).await?, balance(chain, source, token, at).await?);
    if source.block(at).await?.is_none_or(|block| block.hash != deposit.block_hash) {
        return Err(super::window::moved(chain));
    }
    Ok(match (earlier.checked_add(arrived), later.checked_add(left)) {
        (Some(expected), Some(counted)) if expected == counted => Check::Right,
        _ => Check::Wrong(format!(
            "the events of block {at} say that {arrived} units arrived and {left} left, and the balance went from {earlier} to {later}"
        )),
    })
}

/// What the events of the deposit's block say that came to the address, or left it.
async fn moved_units(
    chain: &TakenChain,
    source: &Chain<'_>,
    token: &Token,
    (argument, deposit): (&str, &Deposit),
) -> Result<Units, HostError> {
    let filter = EventFilter::new(token.address, TRANSFER).any_of(argument, &[chain.deposit])?;
    let at = deposit.block.cast_unsigned();
    let events = source.logs::<TransferArguments>(filter, at, at).await?;
    if events.iter().any(|event| event.block_hash != deposit.block_hash) {
        return Err(super::window::moved(chain));
    }
    Ok(events.iter().fold(Units::ZERO, |sum, event| sum.saturating_add(event.args.value)))
}

/// The balance of the address after a block.
async fn balance(chain: &TakenChain, source: &Chain<'_>, token: &Token, block: u64) -> Result<Units, HostError> {
    let call = ContractCall::new(token.address, "balanceOf(address) returns (uint256)").arg(chain.deposit)?;
    let mut results = source.calls::<Units>(vec![call], Some(block)).await?;
    results.pop().unwrap_or_else(|| Err(HostError::new(HostErrorCode::Internal, "a call has no result")))
}

/// Whether it is still the one that was checked.
async fn is_current(tx: &Tx, deposit: &Deposit) -> Result<bool, HostError> {
    let current = deposits::find(tx, deposit.id).await?;
    Ok(current.is_some_and(|current| (current.state, current.block_hash) == (DepositState::New, deposit.block_hash)))
}

/// Gives the deposit to the one quote that it fits, or leaves it to the operator.
async fn match_one(tx: &Tx, deposit: &Deposit) -> Result<(), HostError> {
    if !is_current(tx, deposit).await? {
        return Ok(());
    }
    let of = (&*deposit.chain, &*deposit.asset, deposit.units);
    let fitting = quotes::candidates(tx, of, (deposit.block, deposit.block_time)).await?;
    let reason = match fitting.as_slice() {
        [] => "no open quote has this amount".to_owned(),
        [quote] if quote.payer.is_some_and(|payer| payer != deposit.sender) => {
            format!("the quote {} names another payer", quote.id)
        }
        [quote] if quote.token != deposit.token => format!("the quote {} is for another token", quote.id),
        [quote] => return assign(tx, deposit, quote).await,
        _ => "several open quotes have this amount".to_owned(),
    };
    deposits::leave(tx, deposit.id, &reason).await
}

async fn assign(tx: &Tx, deposit: &Deposit, quote: &Quote) -> Result<(), HostError> {
    let detail = format!("deposit {} in block {}", deposit.tx, deposit.block);
    match deposits::assign(tx, (deposit.id, DepositState::New), (&quote.id, quote.status), &detail).await? {
        true => Ok(()),
        // Both rows were read in this transaction.
        false => Err(HostError::new(HostErrorCode::Conflict, "the quote changed at this moment")),
    }
}
