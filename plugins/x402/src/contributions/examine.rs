//! Checks a payment by itself, with what is stored, and with the vault. Nothing is written: see `reserve.rs`.

use super::{
    refusal::{Refusal, Stop},
    vault as contract,
};
use crate::{
    X402,
    model::{Exposure, Funds, Payment, Requirement, Voucher, check_terms},
    store::{
        standing,
        vouchers::{NewVoucher, PayerVouchers},
    },
};
use plugin_api::{
    Address, HostError, HostErrorCode, PluginContext,
    chain::{IndexPosition, MAIN},
};
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
    let (payer, nonce) = (voucher.payer, voucher.nonce);
    // The position before the rows, which are of its block or of a later one, and the funds before what is pending.
    let position = cx.chain(MAIN).indexed().await;
    let standing = standing::read(&db, vault, &voucher, confirmed_block(&position)).await?;
    let stored = PayerVouchers::read(&db, payer, nonce).await?;
    if let Some(seen) = seen(&stored, standing.is_used, now_s) {
        return Err(seen.into());
    }
    let by_contract = !is_signed_by_key(cx, vault, &voucher, &signature).await?;
    if by_contract {
        check_by_contract(cx, vault, &voucher, &signature).await?;
    }
    // Also of a contract: the vault would count a deposit that a reorganisation may still take back.
    let position = position.map_err(contract::unreadable)?;
    let Some(position) = position else {
        return Err(Stop::Disabled("the vault's events are not read yet".to_owned()));
    };
    let indexed = indexed_funds(&position, standing.funds, now_s);
    let (funds, open) = match indexed {
        Some(funds) => (funds, stored.open),
        None => {
            let (funds, is_used) = contract::read_funds(cx, vault, &voucher, position.confirmations).await?;
            if is_used {
                return Err(USED_ON_CHAIN.into());
            }
            (funds, PayerVouchers::read(&db, payer, nonce).await?.open)
        }
    };
    let exposure = Exposure::of(&open, funds.block, now_s);
    if standing.refused_until_s > now_s || exposure.is_broken {
        return Err(BROKEN_PROMISE.into());
    }
    funds.check(exposure.pending, voucher.amount, plugin.config.credit_max_wei, now_s)?;
    let resource = requirement.resource.clone();
    Ok(Examined { new: NewVoucher { voucher, signature, by_contract, vault, resource }, funds })
}

pub const BROKEN_PROMISE: &str =
    "an accepted voucher of the payer was not covered when it was settled: none is accepted for a while";

/// Whether payer and nonce are used, here or in the vault.
pub fn seen(stored: &PayerVouchers, is_used: bool, now_s: i64) -> Option<Refusal> {
    if let Some(row) = &stored.same {
        return Some(Refusal { reason: row.seen(now_s), tx: row.outcome(now_s).tx, wants_batch: false });
    }
    is_used.then(|| USED_ON_CHAIN.into())
}

const USED_ON_CHAIN: &str = "the nonce is used: the vault has settled it";

/// The vault is asked about a signature only when no key of the payer made it and he has code.
async fn check_by_contract(
    cx: &PluginContext<X402>,
    vault: Address,
    voucher: &Voucher,
    signature: &str,
) -> Result<(), Stop> {
    if cx.chain(MAIN).code(voucher.payer).await.map_err(contract::unreadable)? == "0x" {
        return Err("the signature is not the payer's".into());
    }
    contract::verify(cx, vault, voucher, signature).await
}

/// The newest block whose deposits count; 0 while it is not known.
fn confirmed_block(position: &Result<Option<IndexPosition>, HostError>) -> i64 {
    position.as_ref().ok().and_then(Option::as_ref).map_or(0, |position| block(position.confirmed_block()))
}

/// What the vault's events say; `None` when the newest of them are missing.
fn indexed_funds(position: &IndexPosition, funds: Funds, now_s: i64) -> Option<Funds> {
    (position.lag_blocks() <= LAG_BLOCKS_MAX).then(|| Funds { block: block(position.block), at_s: now_s, ..funds })
}

fn block(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
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
