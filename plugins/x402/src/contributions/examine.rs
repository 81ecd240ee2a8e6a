//! Checks a payment by itself, with what is stored, and with the vault. Nothing is written: see `reserve.rs`.

use super::{
    refusal::{Refusal, Stop},
    vault as contract,
};
use crate::{
    X402,
    model::{Exposure, Funds, Payment, Requirement, Voucher, check_terms},
    store::{
        derived, payers,
        vouchers::{self, NewVoucher},
    },
};
use plugin_api::{Address, HostError, HostErrorCode, PluginContext, Query, chain::MAIN};
use serde::{Deserialize, Serialize};

/// Blocks that the index of the vault may be behind: further behind, the vault is asked.
const LAG_BLOCKS_MAX: u64 = 3;
/// Bytes of a signature that a key makes, as text: `0x` and two digits each.
const KEY_SIGNATURE_CHARS: usize = 132;

/// A payment that passed, with what the vault said.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Examined {
    #[serde(flatten)]
    pub new: NewVoucher,
    pub funds: Funds,
}

/// The order of the checks is part of the interface.
pub async fn examine(
    cx: &PluginContext<X402>,
    vault: Address,
    payment: Payment,
    requirement: &Requirement,
) -> Result<Examined, Stop> {
    let (plugin, now_s, db) = (cx.plugin(), cx.now_s(), cx.db());
    check_terms(&payment, requirement, &plugin.names, plugin.config.reference, now_s)?;
    let Payment { voucher, signature, .. } = payment;
    let payer = voucher.payer;
    if let Some(seen) = seen(&db, vault, &voucher, now_s).await? {
        return Err(seen.into());
    }
    let (funds, by_contract) = ask_vault(cx, vault, &voucher, &signature).await?;
    if payers::refused_until_s(&db, payer).await? > now_s {
        return Err(BROKEN_PROMISE.into());
    }
    let exposure = Exposure::of(&vouchers::pending(&db, payer).await?, funds.block, now_s);
    if exposure.is_broken {
        return Err(BROKEN_PROMISE.into());
    }
    funds.check(exposure.pending, voucher.amount, plugin.config.credit_max_wei, now_s)?;
    let resource = requirement.resource.clone();
    Ok(Examined { new: NewVoucher { voucher, signature, by_contract, vault, resource }, funds })
}

pub const BROKEN_PROMISE: &str =
    "an accepted voucher of the payer was not covered when it was settled: none is accepted for a while";

/// Whether payer and nonce are used, here or in the vault.
pub async fn seen(
    db: &impl Query,
    vault: Address,
    voucher: &Voucher,
    now_s: i64,
) -> Result<Option<Refusal>, HostError> {
    if let Some(row) = vouchers::find(db, voucher.payer, voucher.nonce).await? {
        let tx = row.outcome(now_s).tx;
        return Ok(Some(Refusal { reason: row.seen(now_s), tx, wants_batch: false }));
    }
    Ok(derived::is_used(db, vault, voucher.payer, voucher.nonce).await?.then(|| USED_ON_CHAIN.into()))
}

const USED_ON_CHAIN: &str = "the nonce is used: the vault has settled it";

/// Signature and funds. The vault is asked about the signature only when no key of the payer made it and he has code.
async fn ask_vault(
    cx: &PluginContext<X402>,
    vault: Address,
    voucher: &Voucher,
    signature: &str,
) -> Result<(Funds, bool), Stop> {
    let by_contract = !is_signed_by_key(cx, vault, voucher, signature).await?;
    if by_contract {
        if cx.chain(MAIN).code(voucher.payer).await.map_err(contract::unreadable)? == "0x" {
            return Err("the signature is not the payer's".into());
        }
        contract::verify(cx, vault, voucher, signature).await?;
    }
    // A contract is asked about its signature in any case, and about its funds with that.
    let indexed = if by_contract { None } else { indexed_funds(cx, vault, voucher.payer).await? };
    let (funds, is_used) = match indexed {
        // Whether the nonce is used was read from the same rows.
        Some(funds) => (funds, false),
        None => contract::read_funds(cx, vault, voucher).await?,
    };
    if is_used { Err(USED_ON_CHAIN.into()) } else { Ok((funds, by_contract)) }
}

/// What the vault's events say; `None` when the newest of them are missing.
async fn indexed_funds(cx: &PluginContext<X402>, vault: Address, payer: Address) -> Result<Option<Funds>, Stop> {
    let position = cx.chain(MAIN).indexed().await.map_err(contract::unreadable)?;
    let Some(position) = position.filter(|position| position.lag_blocks() <= LAG_BLOCKS_MAX) else { return Ok(None) };
    let number = |block: u64| i64::try_from(block).unwrap_or(i64::MAX);
    let funds = derived::funds(&cx.db(), vault, payer, number(position.confirmed_block())).await?;
    Ok(Some(Funds { block: number(position.block), at_s: cx.now_s(), ..funds }))
}

async fn is_signed_by_key(
    cx: &PluginContext<X402>,
    vault: Address,
    voucher: &Voucher,
    signature: &str,
) -> Result<bool, HostError> {
    if signature.len() != KEY_SIGNATURE_CHARS {
        return Ok(false);
    }
    match cx.recover_digest(voucher.digest(&cx.plugin().names, vault), signature).await {
        Ok(signer) => Ok(signer == voucher.payer),
        // Not a signature of any key.
        Err(error) if error.is(HostErrorCode::Invalid) => Ok(false),
        Err(error) => Err(error),
    }
}
