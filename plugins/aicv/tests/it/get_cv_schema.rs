//! `GET /api/ns/aicv/v1/schema.json`

use super::{record, sites};
use plugin_testing::{ScriptedChain, json};

#[tokio::test]
async fn documents_are_what_the_schema_says_and_changed_ones_are_not() {
    for site in sites().await {
        let response = site.get("/api/ns/aicv/v1/schema.json").await;
        assert_eq!(response.header("content-type"), "application/schema+json");
        assert_eq!(response.header("cache-control"), "public, max-age=86400");
        let schema = response.json();
        assert_eq!(schema["$id"], "http://127.0.0.1:8080/api/ns/aicv/v1/schema.json");
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        for path in ["/api/cv/1", "/api/cv/1/credential.json", "/api/cv/1/credential.json?signer=owner"] {
            let document = site.read(path).await;
            let errors: Vec<String> =
                validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
            assert_eq!(errors, Vec::<String>::new(), "{path}");
        }
        let document = site.read("/api/cv/1").await;
        let job = record(&document).iter().position(|claim| claim["type"] == "EscrowJob").unwrap();
        for (place, value) in [
            ("/validFrom".to_owned(), json!(5)),
            (format!("/credentialSubject/record/{job}/type"), json!("Slashed")),
            (format!("/credentialSubject/record/{job}/amountWei"), json!(5)),
            (format!("/credentialSubject/record/{job}/evidence/trust"), json!("surely")),
            (
                format!("/credentialSubject/record/{job}/evidence/address"),
                json!(ScriptedChain::address_of("elsewhere")),
            ),
        ] {
            let mut changed = document.clone();
            *changed.pointer_mut(&place).unwrap() = value;
            assert!(!validator.is_valid(&changed), "{place}");
        }
        let mut more = document.clone();
        more.pointer_mut(&format!("/credentialSubject/record/{job}")).unwrap()["stars"] = json!(5);
        assert!(!validator.is_valid(&more));
        site.close().await;
    }
}
