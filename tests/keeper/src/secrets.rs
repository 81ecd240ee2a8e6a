//! Every operation with a secret, as JSON.

use plugin_api::{HandlerError, HostError, Json, JsonBody, JsonSchema, RequestContext, response::Problem};
use serde::Deserialize;
use serde_json::{Value, json};

/// One operation. Bytes are hexadecimal digits.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub enum Operation {
    Seal {
        secret: String,
        text: String,
        associated: String,
    },
    Open {
        secret: String,
        sealed: String,
        associated: String,
    },
    Reseal {
        secret: String,
        sealed: String,
        associated: String,
    },
    Hmac {
        secret: String,
        message: String,
    },
    Verify {
        secret: String,
        message: String,
        tag: String,
    },
    SealKey {
        secret: String,
        text: String,
        associated: String,
    },
    CreateKey {
        secret: String,
        bytes: u32,
        associated: String,
    },
    HmacWithKey {
        secret: String,
        sealed: String,
        associated: String,
        message: String,
    },
    StandardWebhooks {
        secret: String,
        sealed: String,
        associated: String,
        message: String,
    },
    /// As any handler that passes on what the capability says.
    OpenOrFail {
        secret: String,
        sealed: String,
        associated: String,
    },
}

/// Answers `{"ok": …}`, or the error of the capability as `{"code": …, "error": …}`.
pub async fn use_secret<P: Send + Sync + 'static>(
    cx: RequestContext<P>,
    JsonBody(operation): JsonBody<Operation>,
) -> Result<Json<Value>, HandlerError> {
    if let Operation::OpenOrFail { secret, sealed, associated } = operation {
        return Ok(Json(json!(cx.secret(&secret).open(&bytes(&sealed)?, associated).await?)));
    }
    Ok(Json(match run(&cx, operation).await {
        Ok(value) => json!({ "ok": value }),
        Err(error) => json!({ "code": error.code, "error": error.message.as_str() }),
    }))
}

async fn run<P: Send + Sync + 'static>(cx: &RequestContext<P>, operation: Operation) -> Result<Value, HostError> {
    let bytes = |digits: &str| hex::decode(digits).unwrap_or_default();
    Ok(match operation {
        Operation::Seal { secret, text, associated } => {
            json!(hex::encode(cx.secret(&secret).seal(text, associated).await?))
        }
        Operation::Open { secret, sealed, associated } | Operation::OpenOrFail { secret, sealed, associated } => {
            let opened = cx.secret(&secret).open(&bytes(&sealed), associated).await?;
            json!(String::from_utf8_lossy(&opened))
        }
        Operation::Reseal { secret, sealed, associated } => {
            json!(cx.secret(&secret).reseal(&bytes(&sealed), associated).await?.map(hex::encode))
        }
        Operation::Hmac { secret, message } => {
            let secret = cx.secret(&secret);
            let (one, all) = (secret.hmac(&message).await?, secret.hmacs(&message).await?);
            json!({ "one": hex::encode(one), "all": all.iter().map(hex::encode).collect::<Vec<_>>() })
        }
        Operation::Verify { secret, message, tag } => {
            json!(cx.secret(&secret).verify_hmac(message, &bytes(&tag)).await?)
        }
        Operation::SealKey { secret, text, associated } => {
            json!(hex::encode(cx.secret(&secret).seal_key(&text, associated).await?))
        }
        Operation::CreateKey { secret, bytes, associated } => {
            let (text, sealed) = cx.secret(&secret).create_key(bytes, associated).await?;
            json!({ "text": text, "sealed": hex::encode(sealed) })
        }
        Operation::HmacWithKey { secret, sealed, associated, message } => {
            json!(hex::encode(cx.secret(&secret).hmac_with_key(&bytes(&sealed), associated, message).await?))
        }
        Operation::StandardWebhooks { secret, sealed, associated, message } => {
            json!(hex::encode(cx.secret(&secret).standard_webhooks_hmac(&bytes(&sealed), associated, message).await?))
        }
    })
}

fn bytes(digits: &str) -> Result<Vec<u8>, Problem> {
    hex::decode(digits).map_err(|error| Problem::new(400, "bad_request", error.to_string()))
}
