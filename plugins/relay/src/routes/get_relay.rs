//! `GET /api/relay`: limits, allowed targets, and what is signed.

use crate::{
    Relay,
    chain::{deployment, relayer, targets},
    model::{ACCOUNT_FACTORY, ACCOUNT_IMPL, Domain, GAS_MAX, Limits, RelayView, Signing, TypeField, execute_fields},
};
use plugin_api::{HandlerError, Json, RequestContext, Route};

pub fn route() -> Route<Relay> {
    Route::get("/api/relay", get_relay)
        .public()
        .summary("The gas relay: limits, contracts that may be called, and what is signed")
        .endpoint("relay")
        .briefing(
            "Gas relay",
            "sends the signed call of an account, and pays its gas: POST {account, to, value, data, deadline, sig}, signed by EIP-712 \
             as GET says",
        )
        .example("GET /api/relay")
}

async fn get_relay(cx: RequestContext<Relay>) -> Result<Json<RelayView>, HandlerError> {
    let config = &cx.plugin().config;
    let reason = deployment(&cx).await?.err();
    let environment = cx.environment();
    Ok(Json(RelayView {
        disabled: reason.is_some().then_some(true),
        enabled: reason.is_none(),
        reason,
        relayer: relayer(&cx).await?.ok(),
        factory: environment.contract(ACCOUNT_FACTORY),
        implementation: environment.contract(ACCOUNT_IMPL),
        limits: Limits {
            relays_per_account_per_day: config.account_per_day,
            relays_per_ip_per_day: config.ip_per_day,
            relays_per_day: config.per_day,
            max_gas: GAS_MAX,
            account_creates_per_owner_per_day: config.creates_per_owner,
            account_creates_per_ip_per_day: config.creates_per_ip,
            account_creates_per_day: config.creates_per_day,
        },
        allowed_targets: targets(&cx).collect(),
        signing: Signing {
            domain: Domain {
                name: config.domain_name.clone(),
                version: "1",
                chain_id: environment.chain_id,
                verifying_contract: "the account",
            },
            primary_type: "Execute",
            fields: execute_fields().map(|(name, kind)| TypeField { name, kind }).collect(),
        },
    }))
}
