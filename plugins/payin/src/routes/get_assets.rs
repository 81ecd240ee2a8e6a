//! `GET /api/payin/assets`: chains, tokens, price and bounds.

use super::{disabled, unavailable_reason};
use crate::{
    Payin,
    model::{AssetView, AssetsView, ChainView},
    store::scans,
};
use plugin_api::{HandlerError, Json, RequestContext, Route};

pub fn route() -> Route<Payin> {
    Route::get("/api/payin/assets", get_assets)
        .public()
        .summary("What buys coins: chains, tokens, deposit addresses, price and bounds")
        .endpoint("payin")
        .briefing(
            "Pay-in",
            "coins for USDC or USDT of another chain: POST /api/payin/quote, send exactly sendExactly to depositAddress, follow GET /api/payin/{quoteId}",
        )
        .example("GET /api/payin/assets")
}

async fn get_assets(cx: RequestContext<Payin>) -> Result<Json<AssetsView>, HandlerError> {
    let (db, plugin) = (cx.db(), cx.plugin());
    let scans = scans::all(&db).await?;
    let mut chains = Vec::new();
    for chain in &plugin.chains {
        let scan = scans.get(&chain.slug);
        let reason = unavailable_reason(&cx, chain, scan).await?;
        chains.push(ChainView {
            chain: chain.slug.clone(),
            chain_id: chain.chain_id,
            name: chain.name.clone(),
            explorer: chain.explorer.clone(),
            confirmations: chain.confirmations,
            // What is sent there would buy nothing where each quote has an address of its own.
            deposit_address: chain.account.is_none().then_some(chain.deposit),
            assets: chain.assets().map(|token| AssetView::new(token, chain.gives_address(token))).collect(),
            available: reason.is_none(),
            last_scan_at: scan.and_then(|scan| scan.last_ok_at),
            unavailable_reason: reason,
        });
    }
    Ok(Json(AssetsView::new(plugin.price, disabled(&cx).await?.is_none(), chains)))
}
