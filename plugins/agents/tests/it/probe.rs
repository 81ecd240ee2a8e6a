//! A plugin of the tests: asks who is behind addresses, as any other plugin does.

use plugin_api::{
    Address, Context, Definition, Failure, HostHandle, Identity, Json, JsonSchema, NoConfig, Payload, Plugin, Refusal,
    Route,
    abi::{PluginModule, PluginModule_Ref},
    abi_stable::prefix_type::PrefixTypeTrait as _,
    point::Author,
};
use serde::Deserialize;

struct Probe;

impl Identity for Probe {
    const NAME: &'static str = "probe";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Asks who is behind addresses";
}

impl Plugin for Probe {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new().routes([Route::post("/api/probe", name_authors).public()])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, Refusal> {
        Ok(Self)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Question {
    addresses: Vec<Address>,
}

async fn name_authors(
    cx: Context<Probe>,
    Payload(Question { addresses }): Payload<Question>,
) -> Result<Json<Vec<Author>>, Failure> {
    let authors = cx.authors(addresses.iter().copied()).await?;
    Ok(Json(addresses.into_iter().map(|address| authors.get(address)).collect()))
}

pub fn module() -> PluginModule_Ref {
    let module =
        PluginModule { manifest: plugin_api::object_manifest::<Probe>, construct: plugin_api::object_new::<Probe> };
    module.leak_into_prefix()
}
