//! `GET /api/cv/{agent}/credential.json`

use super::{SIGNER, prepared, refusal, script, sites, verifier};
use plugin_testing::{ScriptedChain, TestGateway, Value, Wallet, json};

#[tokio::test]
async fn the_gateways_key_signs_the_document() {
    for site in sites().await {
        let document = site.read("/api/cv/1").await;
        let response = site.get("/api/cv/1/credential.json").await;
        let mut credential = response.json();
        verifier::assert_hashes(&credential);
        let gateway_key = Wallet::new(SIGNER);
        assert_eq!(response.header("x-service-signer"), gateway_key.address());
        assert_eq!(response.header("cache-control"), "public, max-age=30");
        let proof = credential.as_object_mut().unwrap().remove("proof").unwrap();
        assert_eq!(credential, document);

        let (digest, signer) = verifier::signer(&proof);
        assert_eq!(signer.unwrap().to_string(), gateway_key.address());
        assert_eq!(proof["digest"], json!(digest));
        let eip712 = &proof["eip712"];
        let identity = ScriptedChain::address_of("identity8004");
        let domain = json!({ "name": "Service AI-CV", "version": "1", "chainId": 3961, "verifyingContract": identity });
        assert_eq!(eip712["domain"], domain);
        let members: Vec<&String> = eip712["message"].as_object().unwrap().keys().collect();
        let types: Vec<&Value> =
            eip712["types"]["AgentCV"].as_array().unwrap().iter().map(|field| &field["name"]).collect();
        assert_eq!(members.len(), 11);
        assert!(members.iter().zip(&types).all(|(member, name)| **member == **name), "{members:?} {types:?}");
        let message = &eip712["message"];
        assert_eq!(message["documentHash"], document["documentHash"]);
        assert_eq!(message["claimsRoot"], document["claimsRoot"]);
        assert_eq!(message["subject"], json!(script::account(1)));
        assert_eq!(message["asOfBlockHash"], document["evidence"][0]["asOfBlockHash"]);
        assert_eq!(message["uri"], document["id"]);
        assert_eq!(proof["type"], "ServiceAgentCVEip712Proof2025");
        assert!(document["issuer"].as_str().unwrap().ends_with(gateway_key.address()));
        site.close().await;
    }
}

#[tokio::test]
async fn the_owner_gets_what_he_has_to_sign() {
    for site in sites().await {
        let response = site.get("/api/cv/1/credential.json?signer=owner").await;
        let credential = response.json();
        let proof = &credential["proof"];
        assert_eq!(proof["proofValue"], Value::Null);
        assert!(proof["sign"].as_str().is_some() && proof.get("attests").is_none());
        assert_eq!(response.header("x-service-signer"), script::account(1));
        let by_gateway = site.read("/api/cv/1/credential.json").await;
        assert_eq!(proof["digest"], by_gateway["proof"]["digest"]);
        assert_eq!(credential["issuer"], by_gateway["issuer"]);
        let refused = site.get("/api/cv/1/credential.json?signer=me").await;
        assert_eq!(refusal(&refused), (400, "bad_request".to_owned()));
        assert_eq!(refusal(&site.get("/api/cv/9/credential.json").await), (404, "not_found".to_owned()));
        site.close().await;
    }
}

#[tokio::test]
async fn without_a_configured_key_the_gateways_own_one_signs() {
    let chain = ScriptedChain::start().await;
    super::set_state(&chain, "https://digger.example", script::ACTIVE);
    for logs in super::history() {
        chain.mine(logs);
    }
    let builder = prepared(TestGateway::builder(), &chain, super::modules());
    let gateway = builder.configure(|config| config.signers.clear()).start().await;
    gateway.indexed(&chain).await;
    let credential = gateway.get("/api/cv/1/credential.json").await.json();
    let (_, signer) = verifier::signer(&credential["proof"]);
    let signer = signer.unwrap().to_string();
    assert_ne!(signer, Wallet::new(SIGNER).address());
    assert_eq!(credential["issuer"], format!("did:pkh:eip155:3961:{signer}"));
    gateway.stop().await;
}
