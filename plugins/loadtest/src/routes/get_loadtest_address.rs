//! `GET /api/loadtest/address/{addr}`: whether an address belongs to the load test.

use crate::{
    Loadtest,
    error::AddressError,
    model::{AddressView, MANIFEST, Role},
    store::wallets,
};
use plugin_api::{Address, HandlerError, Json, Path, RequestContext, Route};

pub fn route() -> Route<Loadtest> {
    Route::get("/api/loadtest/address/{addr}", get_loadtest_address)
        .public()
        .cached()
        .cache_control("public, max-age=60")
        .summary("Whether an address belongs to the load test")
        .description("`loadtest` is true for the float and for the wallets; the sink is the operator's own and no part of the test.")
}

async fn get_loadtest_address(
    cx: RequestContext<Loadtest>,
    Path(addr): Path<String>,
) -> Result<Json<AddressView>, HandlerError<AddressError>> {
    let address: Address = addr.parse().map_err(|_| AddressError::Malformed(addr.chars().take(80).collect()))?;
    let index = wallets::index_of(&cx.db(), address).await?;
    let is_sink = cx.plugin().config.sink_address() == Some(address);
    let role = match index {
        Some(0) => Some(Role::Float),
        Some(_) => Some(Role::Wallet),
        None => is_sink.then_some(Role::Sink),
    };
    let available = wallets::last(&cx.db()).await?.is_some();
    let manifest = format!("{}{MANIFEST}", cx.environment().base_url);
    Ok(Json(AddressView { address, loadtest: index.is_some(), index, role, available, manifest }))
}
