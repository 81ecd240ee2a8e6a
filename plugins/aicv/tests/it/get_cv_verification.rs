//! `GET /api/cv/{agent}/verify`

use super::{refusal, sites, verifier};
use plugin_testing::{ScriptedChain, Value, json};

#[tokio::test]
async fn the_recipe_is_about_the_document_that_is_issued() {
    for site in sites().await {
        let response = site.get("/api/cv/1/verify").await;
        assert_eq!(response.header("cache-control"), "public, max-age=30");
        let recipe = response.json();
        let credential = site.read("/api/cv/1/credential.json").await;
        for member in ["documentHash", "claimsRoot", "asOfBlock"] {
            assert_eq!(recipe[member], credential[member], "{member}");
        }
        assert_eq!(recipe["v"], 1);
        assert_eq!(recipe["hashing"], credential["hashing"]);
        let (digest, _) = verifier::signer(&json!({ "eip712": without_digest(&recipe["eip712"]), "proofValue": null }));
        assert_eq!((&recipe["eip712"]["digest"], &credential["proof"]["digest"]), (&json!(digest), &json!(digest)));
        let names: Vec<&str> =
            recipe["steps"].as_array().unwrap().iter().map(|step| step["name"].as_str().unwrap()).collect();
        assert_eq!(
            names,
            [
                "shape",
                "documentHash",
                "claimsRoot",
                "signature",
                "aggregate cross-check",
                "pin the contracts",
                "per claim",
                "mutable state",
                "trust floor",
                "supersession",
                "completeness",
            ]
        );
        let numbers: Vec<u64> =
            recipe["steps"].as_array().unwrap().iter().map(|step| step["n"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=11).collect::<Vec<_>>());
        let contracts = recipe["contracts"].as_object().unwrap();
        assert_eq!(contracts["serviceEscrow"], json!(ScriptedChain::address_of("escrow")));
        assert_eq!((&contracts["streamPay"], contracts.len()), (&Value::Null, 12));
        assert_eq!(refusal(&site.get("/api/cv/9/verify").await), (404, "not_found".to_owned()));
        site.close().await;
    }
}

fn without_digest(eip712: &Value) -> Value {
    let mut eip712 = eip712.clone();
    eip712.as_object_mut().unwrap().remove("digest");
    eip712
}
