//! The plugin of these tests: pays on request, with a row of its own for each payment.

use plugin_api::{
    Address, ConfigError, Created, Definition, Grants, HandlerError, HostError, HostHandle, Migration, NoConfig,
    Plugin, PluginContext, RequestContext, Route, Signed, Tx, Wei, abi::PluginModule_Ref, chain::TransactionRequest,
    host::Identity, point::Point, response::Problem, sql,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub struct Payer;

impl Identity for Payer {
    const NAME: &'static str = "payer";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Pays on request";
}

const MIGRATION: &str = "CREATE TABLE payer_payments (name TEXT NOT NULL, intent BIGINT NOT NULL);";

/// A payment to be made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pay {
    pub role: String,
    pub key: String,
    pub to: Address,
    pub value: Wei,
    pub function: Option<String>,
    pub gas: Option<u64>,
    pub valid_until_s: Option<i64>,
    pub chain: String,
    /// Whether the transaction is given up at its end.
    pub gives_up: bool,
}

impl Default for Pay {
    fn default() -> Self {
        Self {
            role: "relayer".into(),
            key: "one".into(),
            to: Address([0x11; 20]),
            value: Wei::ZERO,
            function: None,
            gas: None,
            valid_until_s: None,
            chain: "main".into(),
            gives_up: false,
        }
    }
}

impl Plugin for Payer {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let roles = ["gateway", "facilitator", "relayer"].map(str::to_owned).to_vec();
        Definition::new()
            .migrations([Migration::new(1, "create", MIGRATION)])
            .grants(Grants { chains: vec!["main".into()], signer_roles: roles, ..Grants::default() })
            .own_transactions()
            .routes([create_route()])
            .contributes(Point::new("pay"), pay)
            .contributes(Point::new("paid"), paid)
            .contributes(Point::new("nonce-queue"), nonce_queue)
            .contributes(Point::new("nonce-queue-elsewhere"), nonce_queue_elsewhere)
            .contributes(Point::new("waiting"), waiting)
            .contributes(Point::new("sign"), super::signing::ask)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn record(tx: &Tx, pay: &Pay) -> Result<i64, HostError> {
    let mut send = TransactionRequest::new(&pay.role, &pay.key, pay.to).value(pay.value).chain(&pay.chain);
    if let Some(function) = &pay.function {
        send = send.call(function, &[7])?;
    }
    if let Some(gas) = pay.gas {
        send = send.gas(gas);
    }
    if let Some(until_s) = pay.valid_until_s {
        send = send.valid_until_s(until_s);
    }
    let id = send.record(tx).await?;
    let row = sql("INSERT INTO payer_payments (name, intent) VALUES ($1, $2)").bind(&pay.key).bind(id);
    tx.execute(row).await?;
    Ok(id)
}

/// The id, or what went wrong.
async fn pay(gateway: PluginContext<Payer>, pay: Pay) -> Result<Value, HostError> {
    let tx = gateway.begin();
    let recorded = record(&tx, &pay).await;
    match recorded {
        Ok(id) if pay.gives_up => Ok(json!(id)),
        Ok(id) => tx.commit().await.map(|()| json!(id)),
        Err(error) => Ok(json!({ "code": error.code, "error": error.message.as_str() })),
    }
}

async fn paid(gateway: PluginContext<Payer>, key: String) -> Result<Value, HostError> {
    let by_key = gateway.find_intent("relayer", &key).await?;
    if let Some(status) = &by_key {
        assert_eq!(
            gateway.intent_status(status.id).await?.map(|other| other.key),
            Some(key),
            "one intent, found in two ways"
        );
    }
    Ok(json!(by_key))
}

async fn nonce_queue(gateway: PluginContext<Payer>, role: String) -> Result<Value, HostError> {
    nonce_queue_on(&gateway, &role, "main").await
}

/// Of a chain that the plugin's grants do not name.
async fn nonce_queue_elsewhere(gateway: PluginContext<Payer>, chain: String) -> Result<Value, HostError> {
    nonce_queue_on(&gateway, "relayer", &chain).await
}

async fn nonce_queue_on(gateway: &PluginContext<Payer>, role: &str, chain: &str) -> Result<Value, HostError> {
    let status = gateway.nonce_queue(role, chain).await;
    Ok(status
        .map_or_else(|error| json!({ "code": error.code, "error": error.message.as_str() }), |status| json!(status)))
}

/// How many transactions go before those of wallets.
async fn waiting(gateway: PluginContext<Payer>, role: String) -> Result<Value, HostError> {
    let waiting = gateway.wallets(&role).waiting().await;
    Ok(waiting
        .map_or_else(|error| json!({ "code": error.code, "error": error.message.as_str() }), |count| json!(count)))
}

fn create_route() -> Route<Payer> {
    Route::post("/api/payer/payments", create_payment).signed("payer.pay").summary("Pay")
}

async fn create_payment(
    cx: RequestContext<Payer>,
    Signed { payload, .. }: Signed<Pay>,
) -> Result<Created<Value>, HandlerError> {
    let id = record(&cx.transaction(), &payload).await?;
    if payload.gives_up {
        return Err(Problem::new(409, "given_up", "the payment is given up").into());
    }
    Ok(Created(json!({ "intent": id })))
}

pub fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Payer>()
}
