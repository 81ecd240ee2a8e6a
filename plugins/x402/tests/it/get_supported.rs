//! `GET /api/x402/supported`

use crate::{FACILITATOR, VAULT, draft::Draft, each, read, settle};
use plugin_testing::{ScriptedChain, Wallet, json};

#[tokio::test]
async fn it_says_how_to_pay() {
    each(json!({}), async |_, gateway| {
        settle(gateway, &Draft::new(gateway, 1, 1)).await;
        let supported = read(gateway, "/api/x402/supported").await;
        let (vault, facilitator) = (ScriptedChain::address_of(VAULT), Wallet::new(FACILITATOR).address().to_owned());
        let kind = |version: u8| {
            json!({
                "x402Version": version, "scheme": "service-voucher", "network": "service:3961", "asset": "FMX", "vault": vault,
                "settlement": "facilitator", "facilitator": facilitator,
                "extra": { "vault": vault, "settlement": "facilitator" },
            })
        };
        let field = |name: &str, kind: &str| json!({ "name": name, "type": kind });
        let expected = json!({
            "x402Version": 1,
            "kinds": [kind(1), kind(2)],
            "domain": { "name": "ServiceX402", "version": "1", "chainId": 3961, "verifyingContract": vault },
            "types": { "Voucher": [
                field("payer", "address"), field("payee", "address"), field("amount", "uint256"), field("nonce", "uint256"),
                field("expiry", "uint64"), field("ref", "bytes32"),
            ] },
            "batch": { "everyMs": 30000, "size": 50, "queued": 1 },
            "voucher": { "maxTimeoutSeconds": 300, "minExpirySeconds": 90, "maxExpirySeconds": 3900 },
            "facilitatorBalance": "1000000000000000000",
            "extensions": [],
            "signers": { "service:3961": [facilitator] },
        });
        assert_eq!(supported, expected);
    })
    .await;
}

#[tokio::test]
async fn it_warns_before_the_gas_runs_out() {
    each(json!({}), async |chain, gateway| {
        let facilitator = Wallet::new(FACILITATOR).address().parse().unwrap();
        chain.set_balance(facilitator, "99999999999999999");
        let supported = read(gateway, "/api/x402/supported").await;
        assert!(supported["warning"].as_str().unwrap().contains("0.1 FMX"), "{supported}");
        assert_eq!(supported["disabled"], json!(null));
    })
    .await;
}
