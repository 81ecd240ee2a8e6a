//! `POST /api/payin/pause`: an operator pauses or resumes a chain, or everything. While paused there are no quotes and no payouts; deposits are
//! still found, matched and confirmed.

use super::check_operator;
use crate::{
    Payin,
    error::OperatorError,
    jobs::pay::PAY_JOB,
    store::{pauses, prices},
};
use plugin_api::{HandlerError, Json, JsonSchema, RequestContext, Route, Signed};
use serde::{Deserialize, Serialize};

const REASON_CHARS_MAX: usize = 200;

/// What is paused or resumed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct PauseChange {
    /// Name of the chain; everything without it.
    #[serde(default)]
    pub chain: Option<String>,
    pub paused: bool,
    /// For operators; at most 200 characters are kept.
    #[serde(default)]
    pub reason: String,
}

/// What is paused now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pauses {
    pub paused: Vec<Pause>,
}

/// One pause.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pause {
    /// Null for everything.
    pub chain: Option<String>,
    /// An asset that the gateway itself has paused, until its decimals in the configuration, or its price, are as they should be.
    pub asset: Option<String>,
    pub reason: String,
}

pub fn route() -> Route<Payin> {
    Route::post("/api/payin/pause", pause_payin)
        .signed("payin.pause")
        .needs_setting("operators", &OperatorError::NoOperators)
        .per_minute(60)
        .summary("Pause or resume quotes and payouts, of a chain or all; for operators")
}

async fn pause_payin(
    cx: RequestContext<Payin>,
    Signed { signer, payload }: Signed<PauseChange>,
) -> Result<Json<Pauses>, HandlerError<OperatorError>> {
    check_operator(cx.plugin(), signer)?;
    let scope = payload.chain.unwrap_or_else(|| pauses::ALL.to_owned());
    if scope != pauses::ALL && cx.plugin().chain(&scope).is_none() {
        return Err(OperatorError::UnknownChain(scope.chars().take(32).collect()).into());
    }
    let reason: String = payload.reason.chars().take(REASON_CHARS_MAX).collect();
    let (paused, is_paused) = (scope.clone(), payload.paused);
    let all = cx
        .write(async move |tx| {
            match is_paused {
                true => pauses::pause(tx, &paused, &reason, Some(signer)).await.map(drop)?,
                false => pauses::resume(tx, &paused).await?,
            }
            let mut all = pauses::list(tx).await?;
            all.extend(prices::paused(tx).await?);
            Ok(all)
        })
        .await?;
    let name = if scope == pauses::ALL { "everything" } else { &scope };
    cx.warn(&format!("the operator {signer} {} {name}", if is_paused { "paused" } else { "resumed" }));
    cx.wake(PAY_JOB).await?;
    Ok(Json(Pauses { paused: all.into_iter().map(Pause::new).collect() }))
}

impl Pause {
    fn new((scope, reason): (String, String)) -> Self {
        let (chain, asset) = match scope.split_once(' ') {
            Some((chain, asset)) => (chain, Some(asset.to_owned())),
            None => (&*scope, None),
        };
        Self { chain: Some(chain.to_owned()).filter(|chain| chain != pauses::ALL), asset, reason }
    }
}
