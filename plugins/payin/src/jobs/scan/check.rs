//! Matches deposits with quotes, after their events were compared with balances.
//!
//! The rule: the balance of the address after the block is that before it, plus what the events of the block say. Where it is not, or where no
//! two servers tell both, nothing of this token and block is matched.

use super::{watched::WatchedToken, window::TRANSFER};
use crate::{
    Payin,
    jobs::{RowErrors, is_lasting},
    model::{Deposit, DepositState, NATIVE, Quote, TakenChain, Token, TransferArguments, Units},
    store::{
        addresses::{self, GivenAddress},
        deposits::{self, Assignment},
        quotes,
    },
};
use plugin_api::{
    Address, HostError, HostErrorCode, PluginContext, Tx,
    chain::{Chain, ContractCall, EventFilter},
};
use std::collections::BTreeMap;

/// Deposits of a chain that one run looks at, and how long: each may take ten requests, and a run two minutes at most.
const DEPOSITS_MAX: u32 = 500;
const MATCHING_MAX_MS: i64 = 30_000;
/// Until a check that was not possible is tried again: twice as long each time, four minutes at most.
const FIRST_WAIT_S: i64 = 15;
const DOUBLINGS_MAX: i64 = 4;
/// So many checks, in nearly two hours, and then the operator decides: a server that has forgotten old state does not get it back.
const CHECKS_MAX: i64 = 30;
/// Of a transfer between addresses that are watched: nobody has bought anything.
const OWN: &str = "it comes from another deposit address of the operator";
/// Of coins that no transaction sent to the address by itself: a contract did, or a validator.
const INTERNAL: &str =
    "it came by no transfer at the top of a transaction: look the block up, and assign it or send it back";
/// Of a deposit whose row, or whose quote's row, cannot be read.
const UNREADABLE: &str = "it, or a quote of its amount, cannot be read: the log says why";
const UNREADABLE_WAIT_S: i64 = 3600;

/// What comparing events and balances has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Check {
    Right,
    /// The operator decides, and reads why.
    Wrong(String),
    /// It was not possible.
    Open(String),
}

/// What the deposits of a token, an address and a block have shown in this run.
type Checks = BTreeMap<(Address, Address, i64), Check>;

/// Returns whether more of them may be due.
pub async fn match_due(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    watched: &[WatchedToken],
) -> Result<bool, HostError> {
    let (mut checks, mut errors) = (Checks::new(), RowErrors::default());
    let due = deposits::due(&cx.db(), &chain.slug, cx.now_s(), DEPOSITS_MAX).await?;
    let mut has_more = due.len() >= usize::try_from(DEPOSITS_MAX).unwrap_or(usize::MAX);
    let begun_ms = cx.now_ms();
    for id in due {
        if cx.now_ms() - begun_ms >= MATCHING_MAX_MS {
            has_more = true;
            break;
        }
        let outcome = match_due_one(cx, (chain, source, watched), id, &mut checks).await;
        if outcome.as_ref().is_err_and(is_lasting) {
            cx.write(async move |tx| deposits::postpone(tx, id, UNREADABLE, UNREADABLE_WAIT_S).await).await?;
        }
        errors.note(cx, &format!("deposit {id} of {}", chain.slug), outcome)?;
    }
    errors.finish().map(|()| has_more)
}

async fn match_due_one(
    cx: &PluginContext<Payin>,
    (chain, source, watched): (&TakenChain, &Chain<'_>, &[WatchedToken]),
    id: i64,
    checks: &mut Checks,
) -> Result<(), HostError> {
    let Some(deposit) = deposits::find(&cx.db(), id).await? else { return Ok(()) };
    let place = (deposit.token, deposit.address, deposit.block);
    let check = match checks.get(&place) {
        Some(check) => check.clone(),
        None => check(chain, source, watched, &deposit).await,
    };
    checks.insert(place, check.clone());
    let is_own = deposit.sender == chain.deposit
        || watched.iter().any(|watched| watched.addresses.contains(&deposit.sender))
        || addresses::find(&cx.db(), deposit.sender).await?.is_some();
    match check {
        Check::Right if is_own => cx.write(async move |tx| leave(tx, &deposit, OWN).await).await,
        Check::Right => cx.write(async move |tx| match_one(tx, &deposit).await).await,
        Check::Wrong(reason) => cx.write(async move |tx| leave(tx, &deposit, &reason).await).await,
        Check::Open(reason) if deposit.checks + 1 >= CHECKS_MAX => {
            let reason = format!("{CHECKS_MAX} checks were not possible: {reason}");
            cx.error(&format!("deposit {id} of {} is left to the operator: {reason}", chain.slug));
            cx.write(async move |tx| leave(tx, &deposit, &reason).await).await
        }
        Check::Open(reason) => {
            cx.warn(&format!("deposit {id} of {} waits: {reason}", chain.slug));
            let wait_s = wait_s(deposit.checks);
            cx.write(async move |tx| deposits::postpone(tx, id, &reason, wait_s).await).await
        }
    }
}

/// After so many checks that were not possible, and one more.
fn wait_s(checks: i64) -> i64 {
    FIRST_WAIT_S << checks.clamp(0, DOUBLINGS_MAX)
}

async fn leave(tx: &Tx, deposit: &Deposit, reason: &str) -> Result<(), HostError> {
    if is_current(tx, deposit).await? { deposits::leave(tx, deposit.id, reason).await } else { Ok(()) }
}

async fn check(chain: &TakenChain, source: &Chain<'_>, watched: &[WatchedToken], deposit: &Deposit) -> Check {
    if deposit.token == NATIVE {
        return if deposit.has_transaction() { Check::Right } else { Check::Wrong(INTERNAL.to_owned()) };
    }
    let Some(token) = watched.iter().find(|watched| watched.token.address == deposit.token) else {
        return Check::Wrong("its token is not taken any more".to_owned());
    };
    let token = token.token.clone();
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
    let of = (token, deposit.address);
    let (earlier, later) = (balance(source, of, before).await?, balance(source, of, at).await?);
    if source.block(at).await?.is_none_or(|block| block.hash != deposit.block_hash) {
        return Err(super::moved_blocks::moved(chain));
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
    let filter = EventFilter::new(token.address, TRANSFER).any_of(argument, &[deposit.address])?;
    let at = deposit.block.cast_unsigned();
    let events = source.logs::<TransferArguments>(filter, at, at).await?;
    if events.iter().any(|event| event.block_hash != deposit.block_hash) {
        return Err(super::moved_blocks::moved(chain));
    }
    Ok(events.iter().fold(Units::ZERO, |sum, event| sum.saturating_add(event.args.value)))
}

/// The balance of the address after a block.
async fn balance(source: &Chain<'_>, (token, address): (&Token, Address), block: u64) -> Result<Units, HostError> {
    let call = ContractCall::new(token.address, "balanceOf(address) returns (uint256)").arg(address)?;
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
    if let Some(given) = addresses::find(tx, deposit.address).await? {
        return match_by_address(tx, deposit, given).await;
    }
    let of = (&*deposit.chain, deposit.token, deposit.units);
    let fitting = quotes::candidates(tx, of, (deposit.block, deposit.block_time)).await?;
    let reason = match fitting.as_slice() {
        [] => "no open quote has this amount".to_owned(),
        [quote] if quote.payer.is_some_and(|payer| payer != deposit.sender) => {
            format!("the quote {} names another payer", quote.id)
        }
        [quote] if quote.deposit_address != deposit.address => {
            format!("the quote {} is for another deposit address", quote.id)
        }
        [quote] => {
            return assign(tx, deposit, quote).await;
        }
        _ => "several open quotes have this amount".to_owned(),
    };
    deposits::leave(tx, deposit.id, &reason).await
}

/// The address says for which quote it came. On another chain than that of the quote it buys nothing.
async fn match_by_address(
    tx: &Tx,
    deposit: &Deposit,
    GivenAddress { chain, quote: id }: GivenAddress,
) -> Result<(), HostError> {
    if chain != deposit.chain {
        let reason = format!("its address is that of the quote {id}, which is for {chain}: send it back");
        return deposits::leave(tx, deposit.id, &reason).await;
    }
    let Some(quote) = quotes::find(tx, &id).await? else {
        let reason = format!("its address is that of the quote {id}, which ended long ago");
        return deposits::leave(tx, deposit.id, &reason).await;
    };
    match quote.misfit(deposit) {
        Some(reason) => deposits::leave(tx, deposit.id, &format!("the quote {id} of its address {reason}")).await,
        None => assign(tx, deposit, &quote).await,
    }
}

async fn assign(tx: &Tx, deposit: &Deposit, quote: &Quote) -> Result<(), HostError> {
    let detail = format!("deposit {} in block {}", deposit.tx, deposit.block);
    match deposits::assign(tx, deposit, quote, &detail).await? {
        Assignment::Done => Ok(()),
        Assignment::TooLarge => {
            deposits::leave(tx, deposit.id, &format!("the quote {} would be too large", quote.id)).await
        }
        // Both rows were read in this transaction.
        Assignment::Changed => Err(HostError::new(HostErrorCode::Conflict, "the quote changed at this moment")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operator_decides_after_more_than_an_hour() {
        let waited_s: i64 = (0..CHECKS_MAX - 1).map(wait_s).sum();
        assert!((3600..7200).contains(&waited_s), "{waited_s}");
    }
}
