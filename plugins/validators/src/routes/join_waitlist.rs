//! `POST /api/validators/waitlist`: an entry, signed by its address over the challenge's text.

use crate::{
    Validators,
    error::WaitlistError,
    model::{Challenge, Fields, Given, SignedChallenge},
    store,
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
    Busy { problem: Problem, retry_after_s: i64 },
}

impl IntoResponse for JoinResponse {
    fn into_response(self) -> abi::Response {
        match self {
            Self::Receipt(value) => CreatedOrUpdated { created: value.status == Outcome::Added, value }.into_response(),
            Self::Busy { problem, retry_after_s } => {
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
    let Validators { config, limit, .. } = cx.plugin();
    let signed = challenge.check(&fields, cx.environment(), (cx.now_s(), config.signatures_required))?;
    if let Some(signed) = &signed {
        check_signer(&cx, &fields, signed).await?;
    }
    // The limit is in memory, so the write does not touch it: a new entry is counted before, and uncounted when nothing was
    // added. Whether there is an entry is decided in the write; entries are never deleted, so one that is there stays.
    let is_new = store::is_signed(&cx.db(), fields.address).await?.is_none();
    let acquired = is_new.then(|| limit.acquire(cx.client_ip(), cx.now_s()));
    let terms = Terms { entries_max: config.entries_max.into(), is_limited: matches!(acquired, Some(Err(_))) };
    let written = cx.write(async move |tx| join(tx, &fields, signed.as_ref(), terms).await).await;
    if acquired == Some(Ok(())) && !written.as_ref().is_ok_and(|receipt| receipt.status == Outcome::Added) {
        limit.release(cx.client_ip());
    }
    match (written, acquired) {
        (Err(HandlerError::Problem(problem)), Some(Err(retry_after_s))) => {
            Ok(JoinResponse::Busy { problem, retry_after_s })
        }
        (written, _) => Ok(JoinResponse::Receipt(written?)),
    }
}

/// What a new entry depends on, beside its fields.
#[derive(Clone, Copy)]
struct Terms {
    entries_max: i64,
    /// The client has added as many entries as it may.
    is_limited: bool,
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

async fn join(
    tx: &Tx,
    fields: &Fields,
    signed: Option<&SignedChallenge>,
    Terms { entries_max, is_limited }: Terms,
) -> Result<Receipt, HandlerError<WaitlistError>> {
    let status = match (store::is_signed(tx, fields.address).await?, signed) {
        (None, _) => Outcome::Added,
        (Some(false), Some(_)) => Outcome::Verified,
        (Some(_), _) => Outcome::Already,
    };
    if status == Outcome::Added && is_limited {
        let problem = Problem::new(429, "ip_rate_limited", "too many new entries come from this address");
        return Err(problem.hint("wait as long as the header Retry-After says").into());
    }
    if status == Outcome::Added && store::count_entries(tx).await? >= entries_max {
        return Err(WaitlistError::Full.into());
    }
    if status != Outcome::Already {
        if let Some(SignedChallenge { signature, .. }) = signed
            && !store::mark_used(tx, signature).await?
        {
            return Err(WaitlistError::Replay.into());
        }
        store::put_entry(tx, fields, signed.is_some()).await?;
    }
    Ok(Receipt { ok: true, status, total: store::count_entries(tx).await? })
}
