//! `POST /api/validators/waitlist`: an entry, signed by its address over the challenge's text.

use crate::{Validators, error::WaitlistError, model, store};
use plugin_api::{
    HandlerError, HostErrorCode, JsonBody, JsonSchema, RequestContext, Route, Tx,
    handles::RateLimit,
    response::{CreatedOrUpdated, IntoResponse, Problem, Response},
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
    given: model::RawFields,
    #[serde(flatten)]
    #[schemars(flatten)]
    challenge: model::Challenge,
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

impl IntoResponse for Receipt {
    fn into_response(self) -> Response {
        CreatedOrUpdated { created: self.status == Outcome::Added, value: self }.into_response()
    }
}

async fn join_waitlist(
    cx: RequestContext<Validators>,
    JsonBody(SignUp { given, challenge }): JsonBody<SignUp>,
) -> Result<Receipt, HandlerError<WaitlistError>> {
    let fields = given.check()?;
    let config = &cx.plugin().config;
    let signed = challenge.check(&fields, cx.environment(), (cx.now_s(), config.signatures_required))?;
    if let Some(signed) = &signed {
        check_signer(&cx, &fields, signed).await?;
    }
    let (client, per_hour) = (cx.client_network(), config.signups_per_hour);
    let terms = EntryLimits { entries_max: config.entries_max.into(), client, per_hour };
    cx.write(async move |tx| join(tx, &fields, signed.as_ref(), &terms).await).await
}

/// What a new entry depends on, beside its fields.
struct EntryLimits {
    entries_max: i64,
    /// The client's IP address.
    client: String,
    per_hour: u32,
}

async fn check_signer(
    cx: &RequestContext<Validators>,
    fields: &model::Fields,
    model::SignedChallenge { message, signature }: &model::SignedChallenge,
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
    fields: &model::Fields,
    signed: Option<&model::SignedChallenge>,
    EntryLimits { entries_max, client, per_hour }: &EntryLimits,
) -> Result<Receipt, HandlerError<WaitlistError>> {
    let status = match (store::find_entry(tx, fields.address).await?, signed) {
        (None, _) => Outcome::Added,
        (Some(known), Some(_)) if !known.is_signed && known.created_at >= tx.now_s() => {
            return Err(WaitlistError::TooSoon.into());
        }
        (Some(known), Some(_)) if !known.is_signed => Outcome::Verified,
        (Some(_), _) => Outcome::Already,
    };
    if status == Outcome::Added
        && let Some(wait_s) = store::signup_wait(tx, client, *per_hour, tx.now_s()).await?
    {
        return Err(Problem::of(&WaitlistError::TooMany).header("retry-after", wait_s.to_string()).into());
    }
    if status == Outcome::Added && store::count_entries(tx).await? >= *entries_max {
        return Err(WaitlistError::Full.into());
    }
    if status != Outcome::Already {
        if let Some(model::SignedChallenge { signature, .. }) = signed
            && !store::mark_used(tx, signature).await?
        {
            return Err(WaitlistError::Replay.into());
        }
        store::put_entry(tx, fields, signed.is_some()).await?;
        if status == Outcome::Added {
            store::count_signup(tx, client).await?;
        }
    }
    Ok(Receipt { ok: true, status, total: store::count_entries(tx).await? })
}
