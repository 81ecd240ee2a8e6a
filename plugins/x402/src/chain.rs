//! Handlers of the vault's events. The rule: a row follows from events alone, and no event makes a handler fail, because the index
//! would retry it forever.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use crate::{
    X402,
    model::contracts::{Deposited, Settled, UnlockRequested, VoucherSettled, Withdrawn},
    store::derived::{self, ACCOUNTS, DEPOSITS, PAID, PAYEES, SETTLED, SKIPPED, TOTALS},
};
use plugin_api::{Definition, Event, HostError, PluginContext, Tx, contracts::ChainEvent};

pub const EVENT_TYPES: [&str; 1] = [VoucherSettled::TYPE];

pub fn subscribe(definition: Definition<X402>) -> Definition<X402> {
    definition
        .on_contract_event(&[ACCOUNTS, DEPOSITS], deposited)
        .on_contract_event(&[SETTLED, ACCOUNTS, PAYEES, PAID, TOTALS], settled)
        .derive_row(SKIPPED, derived::insert_skipped)
        .on_contract_event(&[ACCOUNTS], unlock_requested)
        .on_contract_event(&[ACCOUNTS], withdrawn)
}

async fn deposited(_: PluginContext<X402>, tx: Tx, event: ChainEvent<Deposited>) -> Result<(), HostError> {
    tx.defer(derived::insert_deposit(&event))?;
    let Deposited { payer, amount } = event.args;
    let mut account = derived::account(&tx, event.address, payer).await?;
    account.balance = account.balance.saturating_add(amount);
    tx.defer(derived::set_account(event.address, payer, &account))
}

async fn settled(_: PluginContext<X402>, tx: Tx, event: ChainEvent<Settled>) -> Result<(), HostError> {
    tx.defer(derived::insert_settled(&event))?;
    let Settled { payer, amount, .. } = event.args;
    let mut account = derived::account(&tx, event.address, payer).await?;
    account.balance = account.balance.saturating_sub(amount);
    account.settled_count += 1;
    tx.defer(derived::set_account(event.address, payer, &account))?;
    derived::count_settled(&tx, &event.args, event.time_s).await?;
    event.publish(&tx, &VoucherSettled::of(&event.args))
}

async fn unlock_requested(_: PluginContext<X402>, tx: Tx, event: ChainEvent<UnlockRequested>) -> Result<(), HostError> {
    let UnlockRequested { payer, at } = event.args;
    let mut account = derived::account(&tx, event.address, payer).await?;
    account.unlock_at = at;
    tx.defer(derived::set_account(event.address, payer, &account))
}

async fn withdrawn(_: PluginContext<X402>, tx: Tx, event: ChainEvent<Withdrawn>) -> Result<(), HostError> {
    let Withdrawn { to, amount } = event.args;
    let mut account = derived::account(&tx, event.address, to).await?;
    account.balance = account.balance.saturating_sub(amount);
    account.unlock_at = 0;
    tx.defer(derived::set_account(event.address, to, &account))
}
