//! `GET /api/openapi.json`: the document that the routes of the enabled plugins make up.

use super::fixture::GatewayFixture;
use crate::agent_card::agent_card;
use crate::changelog;
use crate::health::{ProbeResult, health};
use crate::index::index;
use crate::openapi::document;
use crate::service_manifest::manifest;
use crate::stats::stats;
use crate::status::{RuntimeState, database_service, merge_services, status};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn two_plugins() -> Value {
    GatewayFixture::with_two_plugins().with_context(document)
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths.iter().flat_map(|(path, item)| item.as_object().unwrap().iter().map(move |(method, it)| (path, method, it)))
}

fn operation<'a>(document: &'a Value, id: &str) -> &'a Value {
    operations(document).map(|(_, _, operation)| operation).find(|it| it["operationId"] == id).expect(id)
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, member)| match member {
            Value::String(target) if name == "$ref" => {
                found.insert(target.clone());
            }
            member => references(member, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

/// The file is also what `tests/clients/openapi-lint` reads.
#[test]
fn is_the_committed_document() {
    let mut bytes = serde_json::to_vec_pretty(&two_plugins()).unwrap();
    bytes.push(b'\n');
    insta::assert_binary_snapshot!("two_plugins.json", bytes);
}

#[test]
fn follows_the_schema_of_openapi_3_1() {
    let schema = serde_json::from_str(include_str!("data/openapi-3.1-schema.json")).unwrap();
    let validator = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(&schema).unwrap();
    for document in [two_plugins(), GatewayFixture::without_plugins().with_context(document)] {
        let errors: Vec<_> =
            validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
    let mut broken = two_plugins();
    broken["paths"]["/api/notes"]["get"]["responses"] = json!({});
    assert!(!validator.is_valid(&broken), "the schema finds a fault");
}

#[test]
fn every_schema_in_it_is_a_json_schema() {
    let document = two_plugins();
    let mut schemas: Vec<_> = document["components"]["schemas"].as_object().unwrap().values().collect();
    for (_, _, operation) in operations(&document) {
        schemas.extend(operation["parameters"].as_array().into_iter().flatten().filter_map(|it| it.get("schema")));
        let answers = operation["responses"].as_object().unwrap().values().chain([&operation["requestBody"]]);
        let media = answers.filter_map(|answer| answer["content"].as_object()).flat_map(|content| content.values());
        schemas.extend(media.filter_map(|media| media.get("schema")));
    }
    assert!(schemas.len() > 50);
    for schema in schemas {
        assert!(jsonschema::draft202012::meta::is_valid(schema), "{schema:#}");
    }
}

#[test]
fn every_reference_leads_somewhere_and_nothing_is_left_over() {
    let document = two_plugins();
    let mut targets = BTreeSet::new();
    references(&document, &mut targets);
    for target in &targets {
        assert!(document.pointer(target.trim_start_matches('#')).is_some(), "{target}");
    }
    for kind in ["schemas", "responses", "parameters", "headers"] {
        for name in document["components"][kind].as_object().unwrap().keys() {
            assert!(targets.contains(&format!("#/components/{kind}/{name}")), "{kind} {name} is not used");
        }
    }
}

#[test]
fn operation_ids_are_unique_and_every_route_is_there() {
    let gateway = GatewayFixture::with_two_plugins();
    let document = gateway.with_context(document);
    let ids: Vec<_> = operations(&document).map(|(_, _, it)| it["operationId"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    gateway.with_context(|context| {
        let routes: BTreeSet<_> = context.routes().map(|route| route.operation.clone()).collect();
        assert_eq!(routes, ids.into_iter().collect());
    });
}

#[test]
fn a_signed_body_is_payload_and_envelope() {
    let document = two_plugins();
    let validator_of = |id: &str| {
        let schema = &operation(&document, id)["requestBody"]["content"]["application/json"]["schema"];
        let mut whole = json!({ "components": document["components"].clone() });
        whole.as_object_mut().unwrap().extend(schema.as_object().unwrap().clone());
        jsonschema::draft202012::new(&whole).unwrap()
    };
    let signed = |payload: Value| {
        let mut body =
            json!({ "address": format!("0x{}", "a".repeat(40)), "ts": 1, "sig": format!("0x{}", "b".repeat(130)) });
        body.as_object_mut().unwrap().extend(payload.as_object().unwrap().clone());
        body
    };
    let reply = validator_of("create_reply");
    assert!(reply.is_valid(&signed(json!({ "text": "hi" }))));
    assert!(reply.is_valid(&signed(json!({ "text": "hi", "ts": "1700000000" }))), "digits are a time, too");
    assert!(!reply.is_valid(&json!({ "text": "hi" })), "no envelope");
    assert!(!reply.is_valid(&signed(json!({}))), "no text");
    assert!(!reply.is_valid(&signed(json!({ "text": "hi", "more": 1 }))), "the payload is closed");
    assert!(!reply.is_valid(&signed(json!({ "text": "hi", "sig": "0x" }))));
    let open = validator_of("create_signal");
    assert!(open.is_valid(&signed(json!({ "to": "you", "more": 1 }))), "this payload is open");
    assert!(validator_of("ping").is_valid(&signed(json!({}))), "a signed route without a payload");
}

#[test]
fn answers_are_those_that_the_route_can_give() {
    let document = two_plugins();
    let statuses = |id: &str| -> Vec<u16> {
        let responses = operation(&document, id)["responses"].as_object().unwrap();
        responses.keys().map(|status| status.parse().unwrap()).collect()
    };
    assert_eq!(statuses("list_notes"), [200, 400, 429, 503]);
    assert_eq!(statuses("create_reply"), [201, 400, 401, 404, 408, 409, 413, 429, 503]);
    assert_eq!(statuses("delete_note"), [204, 400, 401, 403, 404, 409, 429, 503]);
    assert_eq!(statuses("list_inbox"), [200, 400, 401, 429, 503]);
    assert_eq!(statuses("ping"), [200, 400, 401, 408, 409, 413, 429, 503]);
    assert_eq!(statuses("store_raw"), [201, 400, 408, 413, 429, 503]);

    let conflict = &operation(&document, "create_reply")["responses"]["409"];
    let text = conflict["description"].as_str().unwrap();
    assert!(text.contains("`note_closed`") && text.contains("`replay`"), "{text}");
    assert_eq!(conflict["content"]["application/json"]["schema"]["$ref"], "#/components/schemas/Error");
    let full = &operation(&document, "stream_signals")["responses"]["503"];
    assert!(full["description"].as_str().unwrap().contains("sse_capacity"));
    assert!(full["headers"].get("Retry-After").is_some());
    assert!(operation(&document, "stream_signals")["responses"]["200"]["content"].get("text/event-stream").is_some());
}

#[test]
fn signers_find_action_text_and_headers() {
    let mut gateway = GatewayFixture::with_two_plugins();
    gateway.environment.brand.marker = "acme".into();
    gateway.environment.brand.header_prefix = "X-Acme".into();
    gateway.environment.brand.message_line = "Acme Commons".into();
    let document = gateway.with_context(document);
    assert_eq!(operation(&document, "create_reply")["x-acme-action"], "reply.create");
    assert_eq!(operation(&document, "list_notes").get("x-acme-action"), None);
    let signing = &document["x-acme-signing"];
    assert!(signing["message"].as_str().unwrap().starts_with("Acme Commons\naction: "));
    assert_eq!(signing["actions"]["POST /api/notes/{id}/replies"], "reply.create");
    assert_eq!(
        signing["allActions"],
        json!(["inbox.read", "note.delete", "reply.create", "signal.create", "signal.ping"])
    );
    assert_eq!(document["components"]["securitySchemes"]["SignedSig"]["name"], "X-Acme-Sig");
    assert_eq!(operation(&document, "delete_note")["security"][0].as_object().unwrap().len(), 3, "all three together");
    assert_eq!(document["x-acme"]["chainId"], 3961);
    assert_eq!(document["x-acme"]["escrow"], json!(null));
}

#[test]
fn the_worked_example_adds_up() {
    let example = two_plugins()["x-service-signing"]["example"].clone();
    let mut payload = example["requestWithoutSig"].clone();
    let [address, ts] = ["address", "ts"].map(|name| payload.as_object_mut().unwrap().shift_remove(name).unwrap());
    let canonical = serde_json_canonicalizer::to_string(&payload).unwrap();
    assert_eq!(example["canonicalPayload"], canonical);
    let hash = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(canonical));
    let (action, address) = (example["action"].as_str().unwrap(), address.as_str().unwrap());
    assert_eq!(
        example["message"],
        format!("Service Commons\naction: {action}\naddress: {address}\nts: {ts}\nbody: {hash}")
    );
}

#[test]
fn a_url_needs_no_null_and_a_catch_all_is_a_plain_parameter() {
    let document = two_plugins();
    let tag = &operation(&document, "list_notes")["parameters"][1];
    assert_eq!(tag["schema"], json!({ "type": "string" }));
    let raw = &document["paths"]["/notes/raw/{path}"]["get"]["parameters"];
    assert_eq!(raw, &json!([{ "name": "path", "in": "path", "required": true, "schema": { "type": "string" } }]));
}

/// Each document with the operation that returns it.
fn own_documents(gateway: &GatewayFixture) -> Vec<(&'static str, Value)> {
    let probe = ProbeResult { ok: true, head: None, indexed_block: Some(1), signer_ephemeral: false };
    let state = RuntimeState { started_s: 0, head: None, indexed_block: None };
    let services = merge_services(
        BTreeMap::from([("db".to_owned(), database_service(Some(1), None, None))]),
        [("notes".to_owned(), Err(()))],
    );
    let releases = changelog::ChangelogQuery::parse("").unwrap();
    gateway.with_context(|context| {
        vec![
            ("get_index", json!(index(context))),
            ("get_agent_card", agent_card(context)),
            ("get_manifest", manifest(context)),
            ("get_health", json!(health(context, probe, serde_json::Map::default()))),
            ("get_stats", json!(stats(context.counters))),
            ("get_status", json!(status(context, state, services))),
            ("list_releases", json!(changelog::changelog(context, &releases))),
        ]
    })
}

#[test]
fn the_gateways_documents_are_as_it_describes_them() {
    for gateway in [GatewayFixture::with_two_plugins(), GatewayFixture::without_plugins()] {
        let document = gateway.with_context(document);
        for (id, answer) in own_documents(&gateway) {
            let schema = &operation(&document, id)["responses"]["200"]["content"]["application/json"]["schema"];
            let whole = json!({ "allOf": [schema], "components": document["components"].clone() });
            let validator = jsonschema::draft202012::new(&whole).unwrap();
            let errors: Vec<_> =
                validator.iter_errors(&answer).map(|it| format!("{}: {it}", it.instance_path())).collect();
            assert!(errors.is_empty(), "{id}: {errors:#?}");
            assert!(!validator.is_valid(&json!([])), "{id} has a schema that tells");
        }
    }
}
