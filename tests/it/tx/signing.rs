//! Signatures for plugins, and the recovery of signers.

use super::{each, payer::Payer, relayer};
use plugin_api::{HostError, HostErrorCode, PluginContext};
use plugin_testing::{Value, Wallet, json};

/// The document of EIP-712, whose signature by the key of `cow` everybody can look up.
fn mail() -> Value {
    json!({
        "types": {
            "EIP712Domain": [
                { "name": "name", "type": "string" }, { "name": "version", "type": "string" },
                { "name": "chainId", "type": "uint256" }, { "name": "verifyingContract", "type": "address" },
            ],
            "Person": [{ "name": "name", "type": "string" }, { "name": "wallet", "type": "address" }],
            "Mail": [
                { "name": "from", "type": "Person" }, { "name": "to", "type": "Person" },
                { "name": "contents", "type": "string" },
            ],
        },
        "primaryType": "Mail",
        "domain": {
            "name": "Ether Mail", "version": "1", "chainId": 1,
            "verifyingContract": "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC",
        },
        "message": {
            "from": { "name": "Cow", "wallet": "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826" },
            "to": { "name": "Bob", "wallet": "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB" },
            "contents": "Hello, Bob!",
        },
    })
}

fn result_json<T: serde::Serialize>(result: Result<T, HostError>) -> Value {
    result.map_or_else(|error| json!({ "code": error.code, "error": error.message.as_str() }), |value| json!(value))
}

/// Makes every request once and returns the responses.
pub async fn ask(gateway: PluginContext<Payer>, _: Value) -> Result<Value, HostError> {
    let signer = gateway.signer("relayer");
    let text = signer.sign_text("hello").await?;
    let bytes = signer.sign_bytes(&[7; 32]).await?;
    let typed = signer.sign_typed_data(mail()).await?;
    let mut broken = mail();
    broken["message"]["to"]["wallet"] = json!("nobody");
    Ok(json!({
        "address": signer.address().await?,
        "text": text,
        "bytes": bytes,
        "typed": typed,
        "text_by": gateway.recover_text("hello", &text.signature).await?,
        "other_text_by": result_json(gateway.recover_text("hello!", &text.signature).await),
        "typed_by": gateway.recover_typed_data(mail(), &typed.signature).await?,
        "short": result_json(gateway.recover_text("hello", "0x12").await),
        "broken": result_json(signer.sign_typed_data(broken).await),
        "none": result_json(signer.sign_typed_data(json!({})).await),
        "missing": result_json(gateway.signer("facilitator").sign_text("hello").await),
        "foreign": result_json(gateway.signer("payin").address().await),
        "own": gateway.signer("gateway").address().await?,
    }))
}

#[tokio::test]
async fn texts_bytes_and_documents_are_signed_by_role() {
    each(async |_, gateway| {
        let said = super::ask(gateway, "sign", &json!(null)).await;
        let me = json!(relayer());
        assert_eq!((&said["address"], &said["text_by"], &said["typed_by"]), (&me, &me, &me), "{said}");
        assert_ne!(said["other_text_by"], me, "{said}");
        // The digest of the standard's own example.
        let digest = "0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2";
        assert_eq!(said["typed"]["digest"], digest, "{said}");
        let hello = "0x50b2c43fd39106bafbba0da34fc430e1f91e3c96ea2acee2bc34119f92b37750";
        assert_eq!(said["text"]["digest"], hello, "{said}");
        assert_eq!(said["bytes"]["address"], me, "{said}");
        for (name, code) in [
            ("short", HostErrorCode::Invalid),
            ("broken", HostErrorCode::Invalid),
            ("none", HostErrorCode::Invalid),
            ("missing", HostErrorCode::Disabled),
            ("foreign", HostErrorCode::Refused),
        ] {
            assert_eq!(said[name]["code"], code as u32, "{name}: {said}");
        }
        // The gateway's own key is generated when none is configured; its address is public.
        let health = gateway.get("/api/health").await.json();
        assert_eq!((&health["signer"], &health["signerEphemeral"]), (&said["own"], &json!(false)), "{health}");
        let status = gateway.get("/api/status").await.json()["services"]["signers"].clone();
        assert_eq!(status["gateway"]["source"], "created here", "{status}");
        assert_eq!(status["relayer"]["address"], Wallet::new(super::RELAYER).address(), "{status}");
        assert!(!status.to_string().contains(&Wallet::new(super::RELAYER).key_text()), "{status}");
    })
    .await;
}
