//! `GET /api/faucet`: limits, what is used, and the puzzle of the next request.

use crate::{
    Faucet,
    chain::relayer,
    model::{Budget, FaucetView, POW_CHARS_MAX, Pow},
    store,
};
use plugin_api::{HandlerError, Json, RequestContext, Route};

pub fn route() -> Route<Faucet> {
    Route::get("/api/faucet", get_faucet)
        .public()
        .summary("The faucet: limits, what is left of the day, the puzzle")
        .endpoint("faucet")
        .briefing(
            "Faucet",
            "the first coins of a new wallet, without signature and gas: POST {address}, with pow while GET shows a puzzle",
        )
        .example("GET /api/faucet")
}

async fn get_faucet(cx: RequestContext<Faucet>) -> Result<Json<FaucetView>, HandlerError> {
    let (config, now_s) = (&cx.plugin().config, cx.now_s());
    let enabled = relayer(&cx).await?.is_ok();
    let used_today = store::used(&cx.db(), now_s).await?;
    let budget = Budget::at(config, now_s);
    let bits = budget.bits(config, used_today);
    let base_url = &cx.environment().base_url;
    Ok(Json(FaucetView {
        enabled,
        drip_fmx: config.drip_wei.in_coins(),
        per_address: "one drip in 24 hours, and only for an address that has sent nothing yet".to_owned(),
        per_ip: format!("{} drips in a day of UTC", config.ip_per_day),
        global_per_day: config.per_day,
        relayer_reserve_fmx: config.reserve_wei.in_coins(),
        used_today,
        allowed_by_now: budget.allowed(),
        fresh_keys_only: true,
        pow: (bits > 0).then(|| Pow { bits, how: how_to_solve(bits) }),
        how: format!("POST {base_url}/api/faucet with {{\"address\": \"0x…\"}}: no signature, no gas"),
    }))
}

fn how_to_solve(bits: u32) -> String {
    format!(
        "find a text pow of at most {POW_CHARS_MAX} characters for which keccak256 of the UTF-8 text address + \":\" + pow, with the \
         address in lower case, begins with {bits} zero bits, and POST {{address, pow}}"
    )
}
