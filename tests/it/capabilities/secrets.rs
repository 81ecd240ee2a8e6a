//! Secrets of plugins: what one seals no other one opens, and what was changed or moved does not open.

use super::post;
use plugin_api::host::object_module as module;
use plugin_api::{
    ConfigError, Definition, Grants, HostHandle, NoConfig, Plugin, Route, abi::HostErrorCode, host::Identity,
};
use plugin_testing::{TestGateway, Value, json};

const KEEPER: &str = "/api/keeper/secret";
const STRANGER: &str = "/api/stranger/secret";

/// A plugin with a route to secrets, with the grant or without.
struct Other<const HAS_GRANT: bool>;

impl Identity for Other<true> {
    const NAME: &'static str = "stranger";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Tries to open what others sealed";
}

impl Identity for Other<false> {
    const NAME: &'static str = "beggar";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Asks for what it has no grant for";
}

impl<const HAS_GRANT: bool> Plugin for Other<HAS_GRANT>
where
    Self: Identity,
{
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let path = if HAS_GRANT { STRANGER } else { "/api/beggar/secret" };
        Definition::new()
            .routes([Route::post(path, keeper::secrets::use_secret::<Self>)
                .public()
                .operation(&format!("use_secret_of_{}", Self::NAME))])
            .grants(Grants { secrets: HAS_GRANT, ..Grants::default() })
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn gateways() -> Vec<TestGateway> {
    let plugins = [keeper::plugin_module(), module::<Other<true>>(), module::<Other<false>>()];
    TestGateway::each_database(&plugins).await
}

async fn call(gateway: &TestGateway, path: &str, operation: &str, mut members: Value) -> Value {
    members["operation"] = operation.into();
    if members.get("secret").is_none() {
        members["secret"] = "values".into();
    }
    let answer = post(gateway, path, members).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn code(answer: &Value) -> u64 {
    assert!(answer.get("ok").is_none(), "it must fail: {answer}");
    answer["code"].as_u64().unwrap()
}

const INVALID: u64 = HostErrorCode::Invalid as u64;

#[tokio::test]
async fn a_sealed_text_opens_for_its_plugin_name_and_record_only() {
    for gateway in gateways().await {
        let sealed =
            call(&gateway, KEEPER, "seal", json!({ "text": "a note", "associated": "row 1" })).await["ok"].clone();
        let open = async |path: &str, members: Value| call(&gateway, path, "open", members).await;
        let own = json!({ "sealed": sealed, "associated": "row 1" });
        assert_eq!(open(KEEPER, own.clone()).await, json!({ "ok": "a note" }));
        assert_eq!(code(&open(STRANGER, own.clone()).await), INVALID);
        assert_eq!(code(&open(KEEPER, json!({ "sealed": sealed, "associated": "row 2" })).await), INVALID);
        let other_name = json!({ "secret": "names", "sealed": sealed, "associated": "row 1" });
        assert_eq!(code(&open(KEEPER, other_name).await), INVALID);
        let mut changed = sealed.as_str().unwrap().to_owned();
        changed.replace_range(80..81, if &changed[80..81] == "0" { "1" } else { "0" });
        assert_eq!(code(&open(KEEPER, json!({ "sealed": changed, "associated": "row 1" })).await), INVALID);
        assert_eq!(code(&call(&gateway, KEEPER, "seal", json!({ "text": "a", "associated": "" })).await), INVALID);
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

#[tokio::test]
async fn tags_and_sealed_keys_belong_to_their_plugin() {
    for gateway in gateways().await {
        let tag = call(&gateway, KEEPER, "hmac", json!({ "message": "m" })).await["ok"]["one"].clone();
        let verify = async |path: &str, message: &str| {
            call(&gateway, path, "verify", json!({ "message": message, "tag": tag })).await["ok"].clone()
        };
        assert_eq!(verify(KEEPER, "m").await, true);
        assert_eq!((verify(KEEPER, "n").await, verify(STRANGER, "m").await), (false.into(), false.into()));

        let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let sealed = call(&gateway, KEEPER, "seal_key", json!({ "text": text, "associated": "w" })).await["ok"].clone();
        let message = "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{\"test\": 2432232314}";
        let members = json!({ "sealed": sealed, "associated": "w", "message": message });
        let signed = call(&gateway, KEEPER, "standard_webhooks", members.clone()).await;
        assert_eq!(signed["ok"], "83484cf52b04f8e4cf2531adfed9882ad4b2665137b852442d594d20e2c9d4e1");
        let signed = call(&gateway, KEEPER, "hmac_with_key", members.clone()).await;
        assert_eq!(signed["ok"], "4dcc6584af5be940fa895235654dad4eaa7c3c455f611b1e34d7dae9bf8b7148");
        assert_eq!(code(&call(&gateway, STRANGER, "hmac_with_key", members.clone()).await), INVALID);
        assert_eq!(code(&call(&gateway, KEEPER, "open", members).await), INVALID, "a key is never shown");

        let created =
            call(&gateway, KEEPER, "create_key", json!({ "bytes": 24, "associated": "w" })).await["ok"].clone();
        assert_eq!(created["text"].as_str().map(str::len), Some(6 + 32), "{created}");
        let again = call(&gateway, KEEPER, "seal_key", json!({ "text": created["text"], "associated": "w" })).await;
        let tag_of = async |sealed: &Value| {
            let members = json!({ "sealed": sealed, "associated": "w", "message": "m" });
            call(&gateway, KEEPER, "standard_webhooks", members).await["ok"].clone()
        };
        assert_eq!(tag_of(&created["sealed"]).await, tag_of(&again["ok"]).await);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_plugin_without_the_grant_gets_nothing() {
    for gateway in gateways().await {
        let answer = call(&gateway, "/api/beggar/secret", "hmac", json!({ "message": "m" })).await;
        assert_eq!(code(&answer), HostErrorCode::Refused as u64);
        assert!(answer["error"].as_str().unwrap().contains("the grant `secrets`"), "{answer}");
        gateway.stop().await;
    }
}
