//! `POST /api/validators/waitlist`: an entry, signed by its address over the challenge's text.

use crate::{
    Validators,
    error::WaitlistError,
    model::{Challenge, Fields, Given, SignedChallenge},
    store::{
        entries::{self, ExistingEntry},
        signatures,
    },
};
use plugin_api::{
    CreatedOrUpdated, HandlerError, HostErrorCode, IntoResponse, JsonBody, JsonSchema, Problem, RawResponse,
    RequestContext, Route, RouteDescription, Tx, WithHeader, abi, manifest::RateLimit,
};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Validators> {
    let limit = RateLimit {
        bucket: "waitlist_posts".to_owned(),
        calls: 30,
        window_s: 3600,
        code: "ip_rate_limited".to_owned(),
        additional: false,
    };
    Route::post("/api/validators/waitlist", join_waitlist)
        .own_auth("an EIP-191 signature of `address` over the text of GET /api/validators/waitlist/challenge")
        .rate_limit(limit)
        .response::<Receipt>(200, "application/json", "The address was there, or is signed now")
        .response::<Receipt>(201, "application/json", "Added")
        .summary("Join the waitlist for validator seats")
}

#[derive(Deserialize, JsonSchema)]
struct SignUp {
    #[serde(flatten)]
    #[schemars(flatten)]
    given: Given,
    #[serde(flatten)]
    #[schemars(flatten)]
    challenge: Challenge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Added,
    /// The address was there before.
    Already,
    /// A signed entry has taken the place of an unsigned one.
    Verified,
}

#[derive(Serialize, JsonSchema)]
struct Receipt {
    ok: bool,
    status: Outcome,
    /// Entries.
    total: i64,
}

/// A receipt, or a 429 for a client over the limit.
enum JoinResponse {
    Receipt(Receipt),
    Busy { retry_after_s: i64 },
}

impl IntoResponse for JoinResponse {
    fn into_response(self) -> abi::Response {
        match self {
            Self::Receipt(value) => CreatedOrUpdated { created: value.status == Outcome::Added, value }.into_response(),
            Self::Busy { retry_after_s } => {
                let problem = Problem::new(429, "ip_rate_limited", "too many new entries come from this address")
                    .hint("wait as long as the header Retry-After says");
                let body = serde_json::to_vec(&problem).unwrap_or_default();
                let response = RawResponse { status: 429, content_type: "application/json".into(), body: body.into() };
                let value = retry_after_s.to_string().into();
                WithHeader { response, name: "retry-after".into(), value }.into_response()
            }
        }
    }

    fn describe(_: &mut RouteDescription<'_>) {}
}

async fn join_waitlist(
    cx: RequestContext<Validators>,
    JsonBody(SignUp { given, challenge }): JsonBody<SignUp>,
) -> Result<JoinResponse, HandlerError<WaitlistError>> {
    let fields = given.check()?;
    let is_required = cx.plugin().config.signatures_required;
    let signed_challenge = challenge.check(&fields, cx.environment(), (cx.now_s(), is_required))?;
    if let Some(signed_challenge) = &signed_challenge {
        check_signer(&cx, &fields, signed_challenge).await?;
    }
    let tx = cx.transaction();
    let existing = entries::find(&tx, fields.address).await?;
    let status = match (existing, signed_challenge.is_some()) {
        (None, _) => Outcome::Added,
        (Some(ExistingEntry { is_signed: false }), true) => Outcome::Verified,
        (Some(_), _) => Outcome::Already,
    };
    let client = cx.client_ip().to_owned();
    if status == Outcome::Added
        && let Err(retry_after_s) = cx.plugin().limit.acquire(&client, cx.now_s())
    {
        return Ok(JoinResponse::Busy { retry_after_s });
    }
    let stored = store(&cx, &tx, &fields, signed_challenge.as_ref(), status).await;
    if stored.is_err() && status == Outcome::Added {
        cx.plugin().limit.release(&client);
    }
    stored?;
    let total = entries::count(&tx).await?;
    Ok(JoinResponse::Receipt(Receipt { ok: true, status, total }))
}

async fn check_signer(
    cx: &RequestContext<Validators>,
    fields: &Fields,
    SignedChallenge { message, signature }: &SignedChallenge,
) -> Result<(), HandlerError<WaitlistError>> {
    match cx.recover_text(message, signature).await {
        Ok(signer) if signer == fields.address => Ok(()),
        Ok(_) => Err(WaitlistError::Mismatch.into()),
        Err(error) if error.is(HostErrorCode::Invalid) => Err(WaitlistError::Unrecoverable.into()),
        Err(error) => Err(error.into()),
    }
}

async fn store(
    cx: &RequestContext<Validators>,
    tx: &Tx,
    fields: &Fields,
    signed_challenge: Option<&SignedChallenge>,
    status: Outcome,
) -> Result<(), HandlerError<WaitlistError>> {
    if status == Outcome::Already {
        return Ok(());
    }
    if status == Outcome::Added && entries::count(tx).await? >= cx.plugin().config.entries_max.into() {
        return Err(WaitlistError::Full.into());
    }
    if let Some(SignedChallenge { signature, .. }) = signed_challenge
        && !signatures::mark_used(tx, signature, cx.now_s()).await?
    {
        return Err(WaitlistError::Replay.into());
    }
    Ok(entries::put(tx, fields, signed_challenge.is_some(), cx.now_s()).await?)
}
