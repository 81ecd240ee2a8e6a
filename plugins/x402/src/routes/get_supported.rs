//! `GET /api/x402/supported`: how to pay here.

use crate::{
    X402,
    contributions::{Facilitator, facilitator, open_vault, vault_address},
    model::{BatchLimits, Kind, LIFE_MAX_S, LIFE_MIN_S, LIFE_S, Settlement, Supported, VoucherLimits, voucher_types},
    store::vouchers,
};
use plugin_api::{HandlerError, Json, RequestContext, Route};
use serde_json::json;

pub fn route() -> Route<X402> {
    Route::get("/api/x402/supported", get_supported)
        .public()
        .summary("How to pay: scheme, network, vault, and how vouchers are signed")
        .endpoint("x402")
        .briefing("Payments", "scheme, network, EIP-712 domain and types of the vouchers that priced routes take")
}

async fn get_supported(cx: RequestContext<X402>) -> Result<Json<Supported>, HandlerError> {
    let (plugin, vault) = (cx.plugin(), vault_address(&cx));
    let account = facilitator(&cx).await?;
    let disabled = open_vault(&cx).await?.err();
    let queue = vouchers::queue(&cx.db()).await?;
    let warning = account.is_low().then(|| "the facilitator has less than 0.1 FMX for gas".to_owned());
    let Facilitator { address: facilitator, balance } = account;
    let settlement = Settlement::of(disabled.as_ref());
    let kind = |x402_version| Kind {
        x402_version,
        scheme: plugin.names.scheme.clone(),
        network: plugin.names.network.clone(),
        asset: plugin.names.asset.clone(),
        vault,
        settlement,
        facilitator,
        extra: json!({ "vault": vault, "settlement": settlement }),
    };
    let signers: Vec<_> = facilitator.into_iter().collect();
    Ok(Json(Supported {
        x402_version: 1,
        kinds: vec![kind(1), kind(2)],
        domain: plugin.names.domain(vault),
        types: voucher_types(),
        batch: BatchLimits {
            every_ms: u64::from(plugin.config.batch_s) * 1000,
            size: plugin.config.batch_size,
            queued: queue.queued,
        },
        voucher: VoucherLimits {
            max_timeout_seconds: LIFE_S,
            min_expiry_seconds: LIFE_MIN_S,
            max_expiry_seconds: LIFE_MAX_S,
        },
        facilitator_balance: balance,
        warning,
        extensions: Vec::new(),
        signers: json!({ plugin.names.network.as_str(): signers }),
        disabled: disabled.is_some().then_some(true),
        reason: disabled,
    }))
}
