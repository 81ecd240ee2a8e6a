//! `POST /api/accounts/create`: makes an account for an owner, or finds it.

use super::{RETRY_AFTER_S, SIGNED_WITHIN, TIMEOUT_MS, client::client};
use crate::{
    Relay,
    chain::{Deployment, ROLE, look_up, require},
    config::Config,
    error::RelayError,
    jobs::follow::FOLLOW_JOB,
    model::{AccountView, CREATE, NewAccount, PREDICT, Salt, plain_reason},
    store::{
        accounts,
        caps::{self, Client},
        sends,
    },
};
use plugin_api::{
    Address, HandlerError, HostError, Json, JsonBody, RequestContext, Route, Tx,
    chain::{ContractCall, GasEstimate, IntentStatus, MAIN, TransactionRequest, TxState},
    extract::RouteDescription,
    response::{Accepted, IntoResponse, Response},
};
use serde_json::json;

const BODY_BYTES_MAX: u64 = 8 * 1024;

type HandlerResult<T> = Result<T, HandlerError<RelayError>>;

pub fn route() -> Route<Relay> {
    Route::post("/api/accounts/create", create_account)
        .public()
        .per_minute(10)
        .body_max_bytes(BODY_BYTES_MAX)
        .timeout_ms(TIMEOUT_MS)
        .summary("Make an account that is a contract, for any owner")
        .description("200 when it exists, whoever made it; 202 when it is on its way: GET /api/tx/{hash} follows it.")
        .endpoint("accounts")
        .briefing("Accounts", "a contract for an owner, whose signed calls the relay sends: POST {owner, salt}")
        .example("POST /api/accounts/create {owner, salt}")
}

/// 200 for an account that exists, 202 for one on its way.
pub struct CreateAccountResponse(AccountView);

impl IntoResponse for CreateAccountResponse {
    fn into_response(self) -> Response {
        if self.0.existing { Json(self.0).into_response() } else { Accepted(self.0).into_response() }
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        Json::<AccountView>::describe(describe);
        Accepted::<AccountView>::describe(describe);
    }
}

/// An account as it was asked for.
#[derive(Clone, Copy)]
struct AccountRequest {
    account: Address,
    owner: Address,
    salt: Salt,
}

async fn create_account(
    cx: RequestContext<Relay>,
    JsonBody(NewAccount { owner, salt }): JsonBody<NewAccount>,
) -> HandlerResult<CreateAccountResponse> {
    let site = require(&cx).await?;
    if owner == Address::ZERO {
        return Err(RelayError::ZeroOwner.into());
    }
    let salt = Salt::parse(salt.as_deref());
    let predict = ContractCall::new(site.factory, PREDICT).arg(owner)?.arg(salt.0)?;
    let wanted = AccountRequest { account: cx.chain(MAIN).call(predict).await?, owner, salt };
    if exists(&cx, &site, wanted.account).await? {
        return Ok(wanted.existing());
    }
    if let Some(intent) = accounts::open_intent(&cx.db(), wanted.account).await? {
        return answer(&cx, &site, wanted, intent).await;
    }
    let client = client(&cx).await?;
    let config = cx.plugin().config.clone();
    caps::check(&cx.db(), &caps::of_account(&config, &wanted.share(), &client), cx.now_s()).await?;
    if let GasEstimate::Fails(reason) = cx.chain(MAIN).estimate(site.relayer, &wanted.request(&site, 0)?).await? {
        return wanted.failed(&cx, &site, &reason).await;
    }
    let intent = cx.write(async move |tx| record(tx, &site, &config, wanted, &client).await).await?;
    answer(&cx, &site, wanted, intent).await
}

/// Whether the factory made it. Nothing else can be at the address.
async fn exists(cx: &RequestContext<Relay>, site: &Deployment, account: Address) -> HandlerResult<bool> {
    match look_up(cx, site.factory, account).await? {
        (true, false) => Err(RelayError::ForeignAccount { account }.into()),
        (exists, _) => Ok(exists),
    }
}

impl AccountRequest {
    fn existing(self) -> CreateAccountResponse {
        self.view(true, None, None)
    }

    fn view(self, existing: bool, tx: Option<plugin_api::Hash256>, relayer: Option<Address>) -> CreateAccountResponse {
        let Self { account, owner, salt } = self;
        CreateAccountResponse(AccountView {
            account,
            address: account,
            owner,
            salt: salt.0,
            existing,
            tx_hash: tx,
            tx,
            relayer,
        })
    }

    fn share(self) -> String {
        caps::owner_share(self.owner, self.salt.is_zero())
    }

    fn request(self, site: &Deployment, id: i64) -> Result<TransactionRequest, HostError> {
        let key = format!("account {} {id}", self.account);
        TransactionRequest::new(ROLE, key, site.factory).call(CREATE, &[json!(self.owner), json!(self.salt.0)])
    }

    /// It cannot be created: because somebody else has done it meanwhile, or for this reason.
    async fn failed(
        self,
        cx: &RequestContext<Relay>,
        site: &Deployment,
        reason: &str,
    ) -> HandlerResult<CreateAccountResponse> {
        if exists(cx, site, self.account).await? {
            return Ok(self.existing());
        }
        Err(RelayError::WouldFail { reason: plain_reason(reason) }.into())
    }
}

/// Counts the account and records its creation, unless it is recorded; returns the intent.
async fn record(
    tx: &Tx,
    site: &Deployment,
    config: &Config,
    wanted: AccountRequest,
    client: &Client,
) -> HandlerResult<i64> {
    if let Some(intent) = accounts::open_intent(tx, wanted.account).await? {
        return Ok(intent);
    }
    let share = wanted.share();
    caps::take(tx, &caps::of_account(config, &share, client)).await?;
    let id = accounts::insert(tx, wanted.account, &share, client).await?;
    let intent = wanted.request(site, id)?.record(tx).await?;
    sends::set_intent(tx, sends::SendsTable::Accounts, id, intent).await?;
    Ok(intent)
}

async fn answer(
    cx: &RequestContext<Relay>,
    site: &Deployment,
    wanted: AccountRequest,
    intent: i64,
) -> HandlerResult<CreateAccountResponse> {
    match cx.wait_until_signed(intent, SIGNED_WITHIN).await? {
        Some(IntentStatus { state: TxState::Failed, reason, .. }) => {
            // The job gives the share back.
            cx.wake(FOLLOW_JOB).await?;
            wanted.failed(cx, site, &reason.unwrap_or_default()).await
        }
        Some(IntentStatus { hash: Some(tx), sender, .. }) => {
            Ok(wanted.view(false, Some(tx), Some(sender.unwrap_or(site.relayer))))
        }
        _ => Err(RelayError::NotSigned { retry_after_s: RETRY_AFTER_S }.into()),
    }
}
