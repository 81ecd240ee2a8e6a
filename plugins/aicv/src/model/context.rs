//! The JSON-LD context and the JSON Schema of the document.
//!
//! The rule: no term that the VC 2.0 context protects is defined again where that context applies: `evidence` and `proof` of a claim have
//! a meaning only within `record`.

use super::{
    document::CONTRACTS,
    kinds::KINDS,
    links, proof,
    vocabulary::{ESCROW_JOB, Kind, SLASH},
};
use plugin_api::handles::Environment;
use serde_json::{Map, Value, json};

/// Members of the document that hold texts, numbers or truth values.
const SIMPLE_TERMS: &[&str] = &[
    "claimsRoot",
    "documentHash",
    "issuedAt",
    "expiresAt",
    "asOfBlock",
    "asOfBlockHash",
    "asOfBlockHashNote",
    "chainId",
    "agentId",
    "identityRegistry",
    "metadataKey",
    "statusPurpose",
    "check",
    "explorer",
    "statedAt",
    "leaf",
    "proven",
    "cryptosuiteNote",
    "digest",
    "attests",
    "signerEphemeral",
    "sign",
    "about",
    "mutableNote",
    "ratingScale",
    "ratingNote",
];

/// Members that hold objects, which stay JSON.
const JSON_TERMS: &[&str] = &[
    "agent",
    "summary",
    "recordMeta",
    "counts",
    "links",
    "hashing",
    "contracts",
    "rpc",
    "gatewayAttestation",
    "eip712",
    "alsoEvidence",
    "capabilities",
];

const TYPES: &[&str] =
    &["ServiceAgentCV", "AutonomousAgent", "ServiceChainAnchor", "ServiceRegistryPointer2026", "ServiceCvRefresh"];

/// Terms of VC 2.0 that apply everywhere, or that its type-scoped contexts define.
const PROTECTED: [&str; 4] = ["id", "type", "name", "description"];

pub fn context(base_url: &str) -> Value {
    let prefix = format!("{}#", links::context_url(base_url));
    let mut terms = Map::new();
    terms.insert("@version".to_owned(), json!(1.1));
    terms.insert("@protected".to_owned(), true.into());
    terms.insert("fmx".to_owned(), prefix.into());
    let own = |name: &str| json!(format!("fmx:{name}"));
    let as_json = |name: &str| json!({ "@id": format!("fmx:{name}"), "@type": "@json" });
    for name in TYPES {
        terms.insert((*name).to_owned(), own(name));
    }
    terms.insert(proof::TYPE.to_owned(), proof_type());
    for name in KINDS.iter().map(|kind| kind.name).chain([SLASH]) {
        terms.insert(name.to_owned(), own(name));
    }
    for name in SIMPLE_TERMS {
        terms.insert((*name).to_owned(), own(name));
    }
    for name in JSON_TERMS {
        terms.insert((*name).to_owned(), as_json(name));
    }
    // Members of claims, whose values are plain; a term means the same in each kind.
    for name in KINDS
        .iter()
        .flat_map(|kind| kind.fields.iter().map(|field| field.name).chain(kind.notes.iter().map(|(name, _)| *name)))
    {
        if !PROTECTED.contains(&name) && !terms.contains_key(name) {
            terms.insert(name.to_owned(), own(name));
        }
    }
    let claim = json!({ "@protected": true, "evidence": as_json("claimEvidence") });
    terms.insert("record".to_owned(), json!({ "@id": "fmx:record", "@container": "@list", "@context": claim }));
    json!({ "@context": terms })
}

/// The members of a proof, whose meanings are those of Data Integrity.
fn proof_type() -> Value {
    let security = |name: &str| format!("https://w3id.org/security#{name}");
    json!({
        "@id": format!("fmx:{}", proof::TYPE),
        "@context": {
            "@protected": true,
            "created": { "@id": "http://purl.org/dc/terms/created", "@type": "http://www.w3.org/2001/XMLSchema#dateTime" },
            "cryptosuite": security("cryptosuite"),
            "proofPurpose": security("proofPurpose"),
            "proofValue": security("proofValue"),
            "verificationMethod": { "@id": security("verificationMethod"), "@type": "@id" },
        },
    })
}

/// Contracts whose events claims may cite: a verifier has its own list.
fn pinned(environment: &Environment) -> Vec<Value> {
    CONTRACTS.iter().filter_map(|(_, key)| environment.contract(key)).map(|address| json!(address)).collect()
}

pub fn schema(environment: &Environment) -> Value {
    let hash = json!({ "type": "string", "pattern": "^0x[0-9a-f]{64}$" });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": links::schema_url(&environment.base_url),
        "title": "ServiceAgentCV",
        "description": "The record of an agent. evidence.address must be a contract address that the verifier pinned, which a schema \
            cannot know.",
        "type": "object",
        "required": [
            "@context", "type", "issuer", "validFrom", "validUntil", "credentialSubject", "claimsRoot", "documentHash",
        ],
        "properties": {
            "@context": {
                "type": "array",
                "prefixItems": [{ "const": "https://www.w3.org/ns/credentials/v2" }, { "type": "string" }],
                "minItems": 2,
                "maxItems": 2,
            },
            "type": { "type": "array", "items": { "type": "string" }, "contains": { "const": "ServiceAgentCV" } },
            "issuer": { "type": "string", "pattern": "^did:pkh:eip155:[0-9]+:0x[0-9a-fA-F]{40}$" },
            "validFrom": { "$ref": "#/$defs/time" },
            "validUntil": { "$ref": "#/$defs/time" },
            "credentialSubject": {
                "type": "object",
                "required": ["id", "record", "summary", "recordMeta"],
                "properties": {
                    "id": { "type": "string" },
                    "record": { "type": "array", "items": { "$ref": "#/$defs/claim" } },
                    "summary": { "type": "object" },
                    "recordMeta": {
                        "type": "object",
                        "required": ["omitted", "scope"],
                        "properties": { "omitted": { "type": "array" }, "scope": { "type": "object" } },
                    },
                },
            },
            "claimsRoot": { "$ref": "#/$defs/hash" },
            "documentHash": { "$ref": "#/$defs/hash" },
            "asOfBlock": { "type": "integer", "minimum": 0 },
            "proof": { "anyOf": [{ "type": "object" }, { "type": "array" }] },
        },
        "$defs": {
            "hash": hash,
            "time": { "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$" },
            "evidence": evidence_schema(environment),
            "claim": claim_schema(),
        },
    })
}

/// Of a claim: where what it states comes from.
fn evidence_schema(environment: &Environment) -> Value {
    let mut address = json!({
        "type": "string",
        "pattern": "^0x[0-9a-fA-F]{40}$",
        "description": "Must be a contract that the verifier pinned: this list is the issuer's.",
    });
    let pinned = pinned(environment);
    if !pinned.is_empty() {
        address["enum"] = pinned.into();
    }
    json!({
        "type": "object",
        "required": ["trust", "proven"],
        "properties": {
            "trust": { "enum": ["chain", "gateway", "selfAttested"] },
            "provenance": { "enum": ["chain", "signed", "observed", "declared"] },
            "proven": { "type": "boolean" },
            "chainId": { "type": "integer" },
            "address": address,
            "contract": { "type": "string" },
            "block": { "type": ["integer", "null"] },
            "ts": { "type": ["integer", "null"] },
            "tx": { "$ref": "#/$defs/hash" },
            "blockLogIndex": { "type": ["integer", "null"] },
            "event": { "type": "string" },
            "topic0": { "$ref": "#/$defs/hash" },
            "method": { "enum": ["eth_getTransactionReceipt", "eth_call", "GET"] },
            "call": { "type": "string" },
            "bind": { "type": "array", "items": { "type": "object" } },
            "source": { "type": "string" },
            "note": { "type": "string" },
        },
        "unevaluatedProperties": false,
    })
}

fn claim_schema() -> Value {
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).chain([SLASH]).collect();
    let variants: Vec<Value> = KINDS.iter().map(kind_schema).collect();
    json!({
        "type": "object",
        "required": ["id", "type", "evidence", "proven", "leaf"],
        "properties": {
            "id": { "type": "string" },
            "type": { "enum": kinds },
            "statedAt": { "type": ["integer", "null"] },
            "evidence": { "$ref": "#/$defs/evidence" },
            "alsoEvidence": { "type": "array", "items": { "$ref": "#/$defs/evidence" } },
            "proven": { "type": "boolean" },
            "leaf": { "$ref": "#/$defs/hash" },
        },
        "oneOf": variants,
        "unevaluatedProperties": false,
    })
}

/// The members of a kind.
fn kind_schema(kind: &Kind) -> Value {
    let mut properties = Map::new();
    properties.insert("type".to_owned(), json!({ "const": kind.name }));
    for field in kind.fields {
        let form = field.form.schema();
        let schema = if field.nullable { json!({ "anyOf": [form, { "type": "null" }] }) } else { form };
        properties.insert(field.name.to_owned(), schema);
    }
    for (name, _) in kind.notes {
        properties.insert((*name).to_owned(), json!({ "type": "string" }));
    }
    if kind.name == ESCROW_JOB {
        properties.insert("ratingNote".to_owned(), json!({ "type": "string" }));
    }
    let required: Vec<&str> = ["type"].into_iter().chain(kind.fields.iter().map(|field| field.name)).collect();
    json!({ "type": "object", "required": required, "properties": properties })
}
