//! `POST /api/faucet`: sends a fresh address its first coins.
//!
//! The rule: refusals come in the order of the specification and count nothing. What they found is checked again, and counted, in the
//! transaction that records the drip, after puzzle and chain.

use crate::{
    Faucet,
    chain::{ROLE, relayer},
    config::Config,
    error::FaucetError,
    jobs::follow::FOLLOW_JOB,
    model::{Budget, DAY_S, DripView, NewDrip, is_solved},
    store::{self, Client},
};
use plugin_api::{
    Address, HandlerError, HostError, JsonBody, RequestContext, Route, Tx, Wei,
    chain::{IntentStatus, MAIN, TransactionRequest, TxState},
    response::Accepted,
};
use std::time::Duration;

const BODY_BYTES_MAX: u64 = 4096;
/// How long a request waits until its drip is signed.
const SIGNED_WITHIN: Duration = Duration::from_secs(5);
const SIGNED_WITHIN_S: i64 = 5;
/// Gas of a plain transfer. No code of a recipient runs with it.
const TRANSFER_GAS: u64 = 21_000;
/// The most that any other transaction of the account costs in gas, which its balance does not show yet: 0.002 FMX.
const TX_COST_WEI: u64 = 2_000_000_000_000_000;

type HandlerResult<T> = Result<T, HandlerError<FaucetError>>;

pub fn route() -> Route<Faucet> {
    Route::post("/api/faucet", request_drip)
        .public()
        .per_minute(6)
        .body_max_bytes(BODY_BYTES_MAX)
        .timeout_ms(20_000)
        .summary("Send a fresh address its first coins")
        .description(
            "The answer comes when the transaction is signed, so it has a hash; GET /api/tx/{hash} follows it, also when it is replaced.",
        )
        .example("POST /api/faucet {address, pow}")
}

/// A drip that passed the checks outside of a transaction.
struct Draft {
    config: Config,
    address: Address,
    client: Client,
    /// Of the account that pays, without what its other transactions may cost.
    balance: Wei,
}

async fn request_drip(
    cx: RequestContext<Faucet>,
    JsonBody(NewDrip { address, pow }): JsonBody<NewDrip>,
) -> HandlerResult<Accepted<DripView>> {
    let disabled = |reason| FaucetError::Disabled { disabled: true, reason };
    let from = relayer(&cx).await?.map_err(disabled)?;
    let address: Address = address.parse().map_err(FaucetError::Address)?;
    if address == Address::ZERO {
        return Err(FaucetError::Address("nobody has the key of the zero address").into());
    }
    if let Some(intent) = joined(&cx, address).await? {
        return answer(&cx, address, intent).await;
    }
    let config = cx.plugin().config.clone();
    let client = client(&cx).await?;
    check_limits(&cx, &config, &client, (address, pow.as_deref())).await?;
    let balance = check_chain(&cx, &config, from, address).await?;
    let draft = Draft { config, address, client, balance };
    let intent = cx.write(async move |tx| record(tx, &draft).await).await?;
    answer(&cx, address, intent).await
}

/// The drip that an earlier request of this address has waited for in vain: this one waits on. Any other one within 24 hours refuses it.
async fn joined(cx: &RequestContext<Faucet>, address: Address) -> HandlerResult<Option<i64>> {
    let now_s = cx.now_s();
    let Some(last) = store::last(&cx.db(), address, now_s).await? else { return Ok(None) };
    let status = cx.intent_status(last.intent).await?;
    let is_queued = status.as_ref().is_none_or(|status| status.state == TxState::Queued);
    let age_s = now_s - last.created_at;
    match (is_queued, status.and_then(|status| status.hash)) {
        (true, _) if age_s >= SIGNED_WITHIN_S => Ok(Some(last.intent)),
        (_, None) => Err(FaucetError::Cooldown { retry_after_s: SIGNED_WITHIN_S, tx: None }.into()),
        (_, tx) => Err(FaucetError::Cooldown { retry_after_s: (DAY_S - age_s).max(1), tx }.into()),
    }
}

/// Who asks, as keyed hashes.
async fn client(cx: &RequestContext<Faucet>) -> Result<Client, HostError> {
    let (network, site) = cx.client_hashes("clients").await?;
    Ok(Client { network, site })
}

async fn check_limits(
    cx: &RequestContext<Faucet>,
    config: &Config,
    client: &Client,
    (address, pow): (Address, Option<&str>),
) -> HandlerResult<()> {
    let (db, now_s) = (cx.db(), cx.now_s());
    store::check_client(&db, config, client, now_s).await?;
    let (budget, used) = (Budget::at(config, now_s), store::used(&db, now_s).await?);
    if used >= budget.allowed() {
        return Err(FaucetError::DailyCap { retry_after_s: budget.retry_after_s(used) }.into());
    }
    let bits = budget.bits(config, used);
    if is_solved(address, pow, bits) { Ok(()) } else { Err(FaucetError::Pow { bits }.into()) }
}

/// Reserve, balance and nonce. Returns what the paying account has for drips.
async fn check_chain(
    cx: &RequestContext<Faucet>,
    config: &Config,
    from: Address,
    address: Address,
) -> HandlerResult<Wei> {
    let chain = cx.chain(MAIN);
    let queue = cx.nonce_queue(ROLE, MAIN).await?;
    let gas_cost = Wei::from(TX_COST_WEI).saturating_mul(queue.queued.saturating_add(queue.pending));
    let balance = chain.balance(from, None).await?.saturating_sub(gas_cost);
    let outstanding = store::outstanding(&cx.db(), cx.now_s()).await?;
    check_reserve(config, balance, outstanding)?;
    let own = chain.balance(address, None).await?;
    if own >= config.drip_wei {
        return Err(FaucetError::NotNeeded { balance: own, drip: config.drip_wei }.into());
    }
    if chain.transaction_count(address).await? > 0 {
        return Err(FaucetError::UsedKey.into());
    }
    Ok(balance)
}

/// The balance does not show the drips that are outstanding.
fn check_reserve(config: &Config, balance: Wei, outstanding: i64) -> Result<(), FaucetError> {
    let drips = config.drip_wei.saturating_mul(outstanding.unsigned_abs().saturating_add(1));
    let needed = drips.saturating_add(config.reserve_wei);
    if balance < needed { Err(FaucetError::Reserve { reserve: config.reserve_wei }) } else { Ok(()) }
}

/// Counts the drip and records it; returns its intent.
async fn record(tx: &Tx, draft: &Draft) -> HandlerResult<i64> {
    let Draft { config, address, client, balance } = draft;
    if store::last(tx, *address, tx.now_s()).await?.is_some() {
        return Err(FaucetError::Cooldown { retry_after_s: SIGNED_WITHIN_S, tx: None }.into());
    }
    store::take(tx, config, client).await?;
    check_reserve(config, *balance, store::outstanding(tx, tx.now_s()).await?)?;
    let drip = store::insert(tx, *address, client).await?;
    let request = TransactionRequest::new(ROLE, format!("drip {drip}"), *address).value(config.drip_wei);
    let intent = request.gas(TRANSFER_GAS).record(tx).await?;
    store::set_intent(tx, drip, intent).await?;
    Ok(intent)
}

async fn answer(cx: &RequestContext<Faucet>, address: Address, intent: i64) -> HandlerResult<Accepted<DripView>> {
    let base_url = &cx.environment().base_url;
    match cx.wait_until_signed(intent, SIGNED_WITHIN).await? {
        Some(IntentStatus { hash: Some(tx), .. }) => Ok(Accepted(DripView {
            address,
            tx_hash: tx,
            tx,
            amount_fmx: cx.plugin().config.drip_wei.in_coins(),
            next: format!("GET {base_url}/api/tx/{tx} says when it is in a block"),
        })),
        Some(IntentStatus { state: TxState::Failed, reason, .. }) => {
            // The job gives the share back.
            cx.wake(FOLLOW_JOB).await?;
            Err(FaucetError::NotSent { reason: reason.unwrap_or_default() }.into())
        }
        _ => Err(FaucetError::NotSigned { retry_after_s: SIGNED_WITHIN_S }.into()),
    }
}
