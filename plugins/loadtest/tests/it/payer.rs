//! A test plugin that pays by the gateway's journal, as payouts and the relay do.

use super::PAYEE;
use plugin_api::{
    ConfigError, Definition, Grants, HandlerError, HostHandle, Json, NoConfig, Plugin, RequestContext, Route, Wei,
    abi::PluginModule_Ref,
    chain::{MAIN, TransactionRequest},
    host::Identity,
};

struct Payer;

impl Identity for Payer {
    const NAME: &'static str = "payer";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Pays somebody";
}

impl Plugin for Payer {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let grants =
            Grants { chains: vec![MAIN.to_owned()], signer_roles: vec!["payin".to_owned()], ..Grants::default() };
        Definition::new().routes([Route::post("/api/payer", pay).public()]).grants(grants)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn pay(cx: RequestContext<Payer>) -> Result<Json<i64>, HandlerError> {
    let payout = TransactionRequest::new("payin", "payout", PAYEE.parse().unwrap()).value(Wei::from(1));
    Ok(Json(payout.send(&cx).await?))
}

pub fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Payer>()
}
