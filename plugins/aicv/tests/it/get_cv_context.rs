//! `GET /api/ns/aicv/v1`

use super::{record, sites};
use plugin_testing::Value;

/// Terms that VC 2.0 protects everywhere.
const PROTECTED: [&str; 8] =
    ["id", "type", "name", "description", "digestMultibase", "digestSRI", "mediaType", "evidence"];
/// Members of the document that VC 2.0 defines within its type.
const VC_TERMS: [&str; 14] = [
    "@context",
    "id",
    "type",
    "name",
    "description",
    "issuer",
    "validFrom",
    "validUntil",
    "credentialSubject",
    "evidence",
    "credentialStatus",
    "credentialSchema",
    "refreshService",
    "proof",
];

#[tokio::test]
async fn every_member_has_a_term_and_no_protected_one_is_defined_again() {
    for site in sites().await {
        let response = site.get("/api/ns/aicv/v1").await;
        assert_eq!(response.header("content-type"), "application/ld+json");
        assert_eq!(response.header("cache-control"), "public, max-age=86400");
        let context = response.json()["@context"].clone();
        assert_eq!((&context["@version"], &context["@protected"]), (&plugin_testing::json!(1.1), &Value::Bool(true)));
        for term in PROTECTED {
            assert!(context.get(term).is_none(), "{term}");
        }
        assert!(context["record"]["@context"].get("evidence").is_some());
        assert_eq!(context["fmx"], "http://127.0.0.1:8080/api/ns/aicv/v1#");

        let credential = site.read("/api/cv/1/credential.json").await;
        let is_known = |member: &String| VC_TERMS.contains(&member.as_str()) || context.get(member.as_str()).is_some();
        let unknown: Vec<&String> = credential.as_object().unwrap().keys().filter(|member| !is_known(member)).collect();
        assert_eq!(unknown, Vec::<&String>::new());
        for claim in record(&credential) {
            let unknown: Vec<&String> = claim.as_object().unwrap().keys().filter(|member| !is_known(member)).collect();
            assert_eq!(unknown, Vec::<&String>::new(), "{claim}");
            assert!(context.get(claim["type"].as_str().unwrap()).is_some());
        }
        let proof = &credential["proof"];
        let own = &context[proof["type"].as_str().unwrap()]["@context"];
        let is_known = |member: &String| own.get(member.as_str()).is_some() || is_known(member);
        assert!(proof.as_object().unwrap().keys().all(is_known), "{proof}");
        site.close().await;
    }
}
