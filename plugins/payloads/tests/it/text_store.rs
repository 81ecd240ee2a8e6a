//! A test plugin that stores texts and reports the payloads that they reference, as any plugin with texts does.

use plugin_api::{
    ConfigError, Definition, HandlerError, HostHandle, Migration, NoConfig, Plugin, RequestContext, Route,
    abi::PluginModule_Ref, extract::Body, host::Identity, response::NoContent, sql,
};

pub const TEXTS: &str = "/api/text_store";

struct TextStore;

impl Identity for TextStore {
    const NAME: &'static str = "text_store";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Keeps texts";
}

impl Plugin for TextStore {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let create = "CREATE TABLE text_store_texts (id {{id}}, body TEXT NOT NULL);";
        Definition::new()
            .routes([
                Route::post(TEXTS, add_text).public().summary("Keep a text"),
                Route::delete(TEXTS, delete_texts).public().summary("Forget all texts"),
            ])
            .migrations([Migration::new(1, "create", create)])
            .references_payloads(&["SELECT id, body FROM text_store_texts WHERE id > $1 ORDER BY id LIMIT 2"])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn add_text(cx: RequestContext<TextStore>, Body(text): Body) -> Result<NoContent, HandlerError> {
    let text = String::from_utf8_lossy(&text).into_owned();
    cx.write(async move |tx| {
        let insert = sql("INSERT INTO text_store_texts (body) VALUES ($1)").bind(&text);
        Ok::<_, HandlerError>(tx.execute(insert).await?)
    })
    .await?;
    Ok(NoContent)
}

async fn delete_texts(cx: RequestContext<TextStore>) -> Result<NoContent, HandlerError> {
    cx.write(async |tx| Ok::<_, HandlerError>(tx.execute(sql("DELETE FROM text_store_texts")).await?)).await?;
    Ok(NoContent)
}

/// Does not use `export_plugin!`, which takes the name of the package.
pub fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<TextStore>()
}
