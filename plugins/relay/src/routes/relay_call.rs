//! `POST /api/relay`: sends a signed call of an account, and pays its gas.
//!
//! The rule: the chain accepts signature and call before anything is counted, and only one call of an account's nonce is recorded. The
//! signature's bytes identify nothing: a wallet, or anybody else, can change them without the key.

use super::{RETRY_AFTER_S, SIGNED_WITHIN, TIMEOUT_MS, client::client};
use crate::{
    Relay,
    chain::{Deployment, ROLE, look_up, require, targets},
    config::Config,
    error::RelayError,
    jobs::follow::FOLLOW_JOB,
    model::{Call, CallBody, CallView, GAS_MAX, NONCE, plain_reason},
    store::{
        calls::{self, NewCall, RecordedCall},
        caps, sends,
    },
};
use plugin_api::{
    Address, HandlerError, HostError, HostErrorCode, JsonBody, RequestContext, Route, Tx, Wei,
    chain::{ContractCall, GasEstimate, IntentStatus, MAIN, TransactionRequest, TxState},
    response::Accepted,
};

const BODY_BYTES_MAX: u64 = 64 * 1024;

type HandlerResult<T> = Result<T, HandlerError<RelayError>>;

pub fn route() -> Route<Relay> {
    Route::post("/api/relay", relay_call)
        .public()
        .per_minute(30)
        .body_max_bytes(BODY_BYTES_MAX)
        .timeout_ms(TIMEOUT_MS)
        .summary("Send a signed call of an account, without paying its gas")
        .description(
            "GET /api/relay says what is signed. The answer comes when the transaction is signed, so it has a hash; GET /api/tx/{hash} \
             follows it, also when it is replaced. The same call within two minutes is sent once and answered alike.",
        )
        .example("POST /api/relay {account, to, data, deadline, sig}")
}

/// A call that the chain accepts.
struct Draft {
    config: Config,
    new: NewCall,
    request: TransactionRequest,
    deadline: i64,
}

async fn relay_call(
    cx: RequestContext<Relay>,
    JsonBody(body): JsonBody<CallBody>,
) -> HandlerResult<Accepted<CallView>> {
    let site = require(&cx).await?;
    let call = Call::from(body);
    check_request(&cx, &site, &call).await?;
    if let Some(recorded) = repeated(&cx, &call).await? {
        return answer(&cx, &site, &call, recorded).await;
    }
    let client = client(&cx).await?;
    let config = cx.plugin().config.clone();
    let shares = caps::of_call(&config, &call.account.to_string(), &client);
    if let Err(refusal) = caps::check(&cx.db(), &shares, cx.now_s()).await {
        // A repetition with another form of the signature is none more.
        return match on_its_way(&cx, &site, &call).await? {
            Some(recorded) => answer(&cx, &site, &call, recorded).await,
            None => Err(refusal),
        };
    }
    let nonce: Wei = cx.chain(MAIN).call(ContractCall::new(call.account, NONCE)).await?;
    let gas_estimate = estimate(&cx, &site, &call).await?;
    let (digest, signer) = (digest(&cx, &call, nonce), signer(&cx, &call, nonce).await?);
    let (tuple, signature_hash) = (call.tuple(), call.signature_hash());
    let new = NewCall { digest, tuple, account: call.account, nonce, signature_hash, signer, gas_estimate, client };
    let request = call.request(ROLE, String::new())?;
    let draft = Draft { config, new, request, deadline: call.deadline };
    let recorded = cx.write(async move |tx| record(tx, &draft).await).await?;
    answer(&cx, &site, &call, recorded).await
}

/// What needs neither caps nor signature.
async fn check_request(cx: &RequestContext<Relay>, site: &Deployment, call: &Call) -> HandlerResult<()> {
    if call.deadline <= cx.now_s() {
        return Err(RelayError::Deadline.into());
    }
    if !targets(cx).any(|(_, target)| target == call.to) {
        return Err(RelayError::Target { to: call.to }.into());
    }
    match look_up(cx, site.factory, call.account).await? {
        (_, true) => Ok(()),
        (true, false) => Err(RelayError::ForeignAccount { account: call.account }.into()),
        (false, false) => Err(RelayError::UnknownAccount { account: call.account }.into()),
    }
}

/// The call of the last two minutes that this request repeats. Its nonce may be used up, so that the chain would refuse it now.
async fn repeated(cx: &RequestContext<Relay>, call: &Call) -> HandlerResult<Option<RecordedCall>> {
    for recorded in calls::alike(&cx.db(), call.tuple(), cx.now_s()).await? {
        if recorded.signature_hash == call.signature_hash() {
            return Ok(Some(recorded));
        }
        if recorded.signer.is_some() && signer(cx, call, recorded.nonce).await? == recorded.signer {
            return Ok(Some(recorded));
        }
    }
    Ok(None)
}

/// The same call with the present nonce, if it is on its way and this signature is as good as the first.
async fn on_its_way(cx: &RequestContext<Relay>, site: &Deployment, call: &Call) -> HandlerResult<Option<RecordedCall>> {
    let nonce: Wei = cx.chain(MAIN).call(ContractCall::new(call.account, NONCE)).await?;
    let Some(recorded) = calls::same(&cx.db(), digest(cx, call, nonce), cx.now_s()).await? else { return Ok(None) };
    estimate(cx, site, call).await?;
    Ok(Some(recorded))
}

fn digest(cx: &RequestContext<Relay>, call: &Call, nonce: Wei) -> plugin_api::Hash256 {
    call.digest(&cx.plugin().config.domain_name, cx.environment().chain_id, nonce)
}

/// Whose key signed; none when it is no signature of a key.
async fn signer(cx: &RequestContext<Relay>, call: &Call, nonce: Wei) -> Result<Option<Address>, HostError> {
    let Some(signature) = call.key_signature() else { return Ok(None) };
    let document = call.typed_data(&cx.plugin().config.domain_name, cx.environment().chain_id, nonce);
    match cx.recover_typed_data(document, &signature).await {
        Ok(signer) => Ok(Some(signer)),
        Err(error) if error.is(HostErrorCode::Invalid) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The account checks the signature, and its target the call: both as the relayer would send it.
async fn estimate(cx: &RequestContext<Relay>, site: &Deployment, call: &Call) -> HandlerResult<i64> {
    let request = call.request(ROLE, String::new())?;
    match cx.chain(MAIN).estimate(site.relayer, &request).await? {
        GasEstimate::Gas(gas) if gas <= GAS_MAX => Ok(i64::try_from(gas).unwrap_or(i64::MAX)),
        GasEstimate::Gas(gas) => Err(RelayError::TooMuchGas { gas }.into()),
        GasEstimate::Fails(reason) => Err(RelayError::WouldFail { reason: plain_reason(&reason) }.into()),
    }
}

/// Counts the call and records it, unless it is recorded.
async fn record(tx: &Tx, draft: &Draft) -> HandlerResult<RecordedCall> {
    let Draft { config, new, request, deadline } = draft;
    if let Some(recorded) = calls::same(tx, new.digest, tx.now_s()).await? {
        return Ok(recorded);
    }
    if calls::is_nonce_used(tx, new.account, new.nonce).await? {
        return Err(RelayError::Pending { nonce: new.nonce.to_string(), retry_after_s: RETRY_AFTER_S }.into());
    }
    let shares = caps::of_call(config, &new.account.to_string(), &new.client);
    let remaining = caps::take(tx, &shares).await?;
    let key = match calls::attempts(tx, new.digest).await? {
        0 => new.digest.to_string(),
        earlier => format!("{} {}", new.digest, earlier + 1),
    };
    let id = calls::insert(tx, new, remaining).await?;
    let intent = request.clone().key(key).valid_until_s(*deadline).record(tx).await?;
    sends::set_intent(tx, sends::SendsTable::Calls, id, intent).await?;
    let NewCall { nonce, signature_hash, signer, gas_estimate, .. } = *new;
    Ok(RecordedCall { nonce, signature_hash, signer, gas_estimate, remaining, intent })
}

async fn answer(
    cx: &RequestContext<Relay>,
    site: &Deployment,
    call: &Call,
    recorded: RecordedCall,
) -> HandlerResult<Accepted<CallView>> {
    match cx.wait_until_signed(recorded.intent, SIGNED_WITHIN).await? {
        Some(IntentStatus { hash: Some(tx), sender, .. }) => Ok(Accepted(CallView {
            tx_hash: tx,
            tx,
            account: call.account,
            to: call.to,
            value: call.value,
            gas_estimate: recorded.gas_estimate.to_string(),
            gas_limit: GAS_MAX.to_string(),
            relayer: sender.unwrap_or(site.relayer),
            remaining_today: recorded.remaining,
        })),
        Some(IntentStatus { state: TxState::Failed, reason, .. }) => {
            // The job gives the share back.
            cx.wake(FOLLOW_JOB).await?;
            Err(RelayError::WouldFail { reason: plain_reason(&reason.unwrap_or_default()) }.into())
        }
        _ => Err(RelayError::NotSigned { retry_after_s: RETRY_AFTER_S }.into()),
    }
}
