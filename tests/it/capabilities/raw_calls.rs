//! Raw calls of a chain's servers: only with the grant, and only of chains that the plugin reads.

use super::post;
use plugin_api::{
    ConfigError, Definition, Grants, HandlerError, HostErrorCode, HostHandle, Json, JsonBody, JsonSchema, NoConfig,
    Plugin, RequestContext, Route,
    chain::{RawAnswer, RawCall},
    host::{Identity, object_module as module},
};
use plugin_testing::{ScriptedChain, TestGateway, Value, json};

/// A plugin with a route to raw calls, with the grant or without.
struct Caller<const HAS_GRANT: bool>;

#[derive(serde::Deserialize, JsonSchema)]
struct ChainQuery {
    chain: String,
}

impl Identity for Caller<true> {
    const NAME: &'static str = "caller";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Calls the chain of the configuration";
}

impl Identity for Caller<false> {
    const NAME: &'static str = "beggar";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Asks for what it has no grant for";
}

impl<const HAS_GRANT: bool> Plugin for Caller<HAS_GRANT>
where
    Self: Identity,
{
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let path = if HAS_GRANT { "/api/caller/raw" } else { "/api/beggar/raw" };
        let route = Route::post(path, call_raw::<Self>).public().operation(&format!("call_raw_of_{}", Self::NAME));
        let grants = Grants { chains: vec!["main".to_owned()], raw_calls: HAS_GRANT, ..Grants::default() };
        Definition::new().routes([route]).grants(grants)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

/// The result, or the number of the gateway's error.
async fn call_raw<P: Plugin>(
    cx: RequestContext<P>,
    JsonBody(asked): JsonBody<ChainQuery>,
) -> Result<Json<Value>, HandlerError> {
    Ok(Json(match cx.chain(&asked.chain).raw_call(RawCall::new("eth_gasPrice", "[]")).await {
        Ok(RawAnswer { result: Ok(result), .. }) => json!({ "ok": String::from_utf8_lossy(&result) }),
        Ok(RawAnswer { result: Err(error), .. }) => json!({ "failed": error }),
        Err(error) => json!({ "code": error.code }),
    }))
}

#[tokio::test]
async fn only_a_plugin_with_the_grant_calls_a_chain_that_it_reads() {
    let chain = ScriptedChain::start().await;
    for builder in [Some(TestGateway::builder()), TestGateway::postgres_builder().await].into_iter().flatten() {
        let plugins = [module::<Caller<true>>(), module::<Caller<false>>()];
        let builder = plugins.into_iter().fold(builder, |builder, module| builder.plugin(module));
        let gateway = builder.chain(&chain, &[]).chain_named("other", &chain, &[]).start().await;
        let ask = async |path: &str, name: &str| post(&gateway, path, json!({ "chain": name })).await.json();
        assert!(ask("/api/caller/raw", "main").await["ok"].is_string());
        let refused = json!({ "code": HostErrorCode::Refused as u32 });
        assert_eq!(ask("/api/caller/raw", "other").await, refused);
        assert_eq!(ask("/api/beggar/raw", "main").await, refused);
        gateway.stop().await;
    }
}
