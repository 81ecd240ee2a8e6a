//! Optional members of answers. The rule: in the played economy some answer fills each one that the OpenAPI document has for a GET,
//! or it stands in [`UNFILLED`] with the reason: the document could be wrong about a member that nothing fills, and no test
//! would see it.

use super::{calls, played_economy::further_reads, send};
use crate::{e2e::Site, openapi};
use gateway_clock::Clock;
use jsonschema::Validator;
use plugin_testing::{TestResponse, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Members that no answer fills here, by the name of their schema, and why. A name that ends with a dot stands for all members of
/// the schema that are not filled.
const UNFILLED: &[(&str, &str)] = &[
    ("Downloads.runtime", NO_PLUGIN),
    ("Downloads.sdk", NO_PLUGIN),
    ("RouteIndex.mcp", NO_PLUGIN),
    ("agents.Service.", NO_PLUGIN),
    ("agents.Uptime.uptimePct", "needs probes of seven days: plugins/agents/src/model/uptime.rs"),
    ("arena.ChallengeDetail.winner", NO_WINNER),
    ("arena.ChallengeDetail.winnerSubmissionId", NO_WINNER),
    ("arena.ChallengeView.winner", NO_WINNER),
    ("arena.ChallengeView.winnerSubmissionId", NO_WINNER),
    ("Release.counts.", "CHANGELOG.md has no such change"),
    ("TransactionStatus.", "needs a key and a chain that mines: tests/it/tx/transaction_route.rs"),
    ("faucet.FaucetView.pow", "needs a puzzle: plugins/faucet/tests/it/request_drip.rs"),
    ("loadtest.", "needs transactions of the wallets and a runner: plugins/loadtest/tests/it"),
    ("memory.LogView.", NO_ANCHOR),
    ("memory.OnchainProof.", NO_ANCHOR),
    ("network.EdgeView.fromAgentId", NO_OWNER),
    ("network.EdgeView.fromName", NO_OWNER),
    ("payin.", NO_PAYIN),
    ("referrals.ReferralView.", NO_GROWTH),
    ("relay.RelayView.", "needs the key of the relayer: plugins/relay/tests/it/get_relay.rs"),
    ("supply.Coin.", NO_SNAPSHOT),
    ("supply.Extension.", NO_SNAPSHOT),
    ("supply.Image.", NO_SNAPSHOT),
    ("supply.InUsd.", NO_SNAPSHOT),
    ("supply.NumberView.", NO_SNAPSHOT),
    ("supply.Snapshot.stale", NO_SNAPSHOT),
    ("webhooks.WebhookDelivery.", NO_ENDPOINT),
    ("webhooks.WebhookView.", NO_ENDPOINT),
    ("x402.Kind.facilitator", NO_FACILITATOR),
    ("x402.Supported.facilitatorBalance", NO_FACILITATOR),
    ("x402.Supported.warning", NO_FACILITATOR),
    ("x402.VoucherView.", NO_FACILITATOR),
];
const NO_PLUGIN: &str = "no plugin of the release serves it";
const NO_OWNER: &str = "needs a payer who owns an agent: plugins/network/tests/it/get_network.rs";
const NO_WINNER: &str = "needs a clock that passes endsAt: plugins/arena/tests/it/get_challenge.rs";
const NO_ANCHOR: &str = "needs an anchor of a batch that was built here: plugins/memory/tests/it/get_memory_proof.rs";
const NO_GROWTH: &str = "needs a paid job and the key of the role growth: plugins/referrals/tests/it/pay.rs";
const NO_PAYIN: &str = "needs another chain and the key of the role payin: plugins/payin/tests/it";
const NO_ENDPOINT: &str = "needs an endpoint that answers, or is gone: plugins/webhooks/tests/it";
const NO_FACILITATOR: &str = "needs the key of the role facilitator: plugins/x402/tests/it, tests/it/payments";
const NO_SNAPSHOT: &str = "needs a chain with blocks enough: plugins/supply/tests/it";
/// More than there are records of any kind.
const IDS_MAX: u32 = 45;

/// What the answers of a GET filled, and where they are not as the document says.
pub struct FilledMembers {
    document: Value,
    /// Schema and validator of the answers, by operation.
    answers: BTreeMap<String, (Value, Validator)>,
    /// `Schema.member`, or `operation.member` where a schema has no name.
    filled: BTreeSet<String>,
    wrong: Vec<String>,
}

impl FilledMembers {
    pub fn new(document: Value) -> Self {
        let mut answers = BTreeMap::new();
        for (operation, schema) in answers_to_get(&document) {
            let whole = json!({ "allOf": [schema], "components": document["components"] });
            let validator = jsonschema::draft202012::new(&whole).unwrap();
            answers.insert(operation, (schema, validator));
        }
        Self { document, answers, filled: BTreeSet::new(), wrong: Vec::new() }
    }

    /// Reads every list, every record by its id, and what [`calls`] read with parameters and signatures.
    pub async fn read(&mut self, site: &Site) {
        let reads = calls(Clock::System.now_s()).into_iter().filter(|call| call.method == "GET");
        for call in reads.chain(further_reads()) {
            let answer = send(site, &call.request(Clock::System.now_s())).await;
            self.add(call.operation, &answer);
        }
        for (method, path, operation) in openapi::operations(&self.document) {
            let name = operation["operationId"].as_str().unwrap();
            if method != "GET" || !self.answers.contains_key(name) {
                continue;
            }
            for target in targets(&path, &operation) {
                self.add(name, &site.get(&target).await);
            }
        }
    }

    fn add(&mut self, operation: &str, answer: &TestResponse) {
        if answer.status != 200 || !answer.header("content-type").starts_with("application/json") {
            return;
        }
        let Some((schema, validator)) = self.answers.get(operation) else { return };
        let answer = answer.json();
        let errors = validator.iter_errors(&answer);
        self.wrong.extend(errors.map(|error| format!("{operation}{}: {error}", error.instance_path())));
        add_filled(&self.document, schema, operation, &answer, &mut self.filled);
    }

    #[track_caller]
    pub fn assert_complete(mut self) {
        let gaps = gaps(&self.document, &self.filled, UNFILLED);
        self.wrong.extend(gaps);
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
    }
}

/// Operation and schema of each JSON that a GET answers.
fn answers_to_get(document: &Value) -> Vec<(String, Value)> {
    let reads = openapi::operations(document).into_iter().filter(|(method, ..)| method == "GET");
    let schema = |(_, _, operation): (String, String, Value)| {
        let schema = operation["responses"]["200"]["content"]["application/json"]["schema"].clone();
        Some((operation["operationId"].as_str()?.to_owned(), schema)).filter(|(_, schema)| schema.is_object())
    };
    reads.filter_map(schema).collect()
}

/// A list with as many rows as it gives, or each record by its id.
fn targets(path: &str, operation: &Value) -> Vec<String> {
    if path.contains("{id}") {
        return (1..=IDS_MAX).map(|id| path.replace("{id}", &id.to_string())).collect();
    }
    if path.contains('{') {
        return Vec::new();
    }
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let limit = parameters
        .filter(|parameter| parameter["name"] == "limit")
        .find_map(|limit| limit["schema"]["maximum"].as_u64());
    vec![limit.map_or_else(|| path.to_owned(), |limit| format!("{path}?limit={limit}"))]
}

/// The optional members that nothing filled and nobody excuses, and the excuses that are none.
fn gaps(document: &Value, filled: &BTreeSet<String>, unfilled: &[(&str, &str)]) -> Vec<String> {
    let (mut optional, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for (operation, schema) in answers_to_get(document) {
        add_optional(document, &schema, &operation, &mut seen, &mut optional);
    }
    let missing: BTreeSet<&String> = optional.difference(filled).collect();
    let names = |name: &str, member: &str| member == name || (name.ends_with('.') && member.starts_with(name));
    let is_excused = |member: &str| unfilled.iter().any(|(name, _)| names(name, member));
    let gaps = missing.iter().filter(|member| !is_excused(member)).map(|member| format!("{member} is never filled"));
    let is_needless = |name: &str| !missing.iter().any(|member| names(name, member));
    let excuses =
        unfilled.iter().filter(|(name, _)| is_needless(name)).map(|(name, _)| format!("{name} is filled, or gone"));
    gaps.chain(excuses).collect()
}

/// The schema itself, and where it stands: behind a reference, under the name of the schema.
fn resolved<'d>(document: &'d Value, schema: &'d Value, place: &str) -> (&'d Value, String) {
    let name = schema["$ref"].as_str().and_then(|target| target.strip_prefix("#/components/schemas/"));
    name.map_or((schema, place.to_owned()), |name| (&document["components"]["schemas"][name], name.to_owned()))
}

fn members(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    schema["anyOf"].as_array().into_iter().flatten()
}

fn add_optional(
    document: &Value,
    schema: &Value,
    place: &str,
    seen: &mut BTreeSet<String>,
    optional: &mut BTreeSet<String>,
) {
    let is_reference = schema["$ref"].is_string();
    let (schema, place) = resolved(document, schema, place);
    if !schema.is_object() || (is_reference && !seen.insert(place.clone())) {
        return;
    }
    for part in alternatives(schema) {
        add_optional(document, part, &place, seen, optional);
    }
    for (name, member) in members(schema) {
        let inner = format!("{place}.{name}");
        let is_required = schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
        if !is_required || allows_null(member) {
            optional.insert(inner.clone());
        }
        add_optional(document, member, &inner, seen, optional);
    }
    for inner in [&schema["items"], &schema["additionalProperties"]] {
        add_optional(document, inner, &format!("{place}[]"), seen, optional);
    }
}

fn allows_null(schema: &Value) -> bool {
    let mut kinds = schema["type"].as_array().into_iter().flatten().chain([&schema["type"]]);
    kinds.any(|kind| kind == "null") || alternatives(schema).any(allows_null)
}

fn add_filled(document: &Value, schema: &Value, place: &str, answer: &Value, filled: &mut BTreeSet<String>) {
    let (schema, place) = resolved(document, schema, place);
    if !schema.is_object() {
        return;
    }
    for part in alternatives(schema) {
        add_filled(document, part, &place, answer, filled);
    }
    for (name, member) in members(schema) {
        if !answer[name].is_null() {
            let inner = format!("{place}.{name}");
            add_filled(document, member, &inner, &answer[name], filled);
            filled.insert(inner);
        }
    }
    let inner = format!("{place}[]");
    for item in answer.as_array().into_iter().flatten() {
        add_filled(document, &schema["items"], &inner, item, filled);
    }
    for (_, value) in answer.as_object().into_iter().flatten().filter(|(name, _)| schema["properties"][*name].is_null())
    {
        add_filled(document, &schema["additionalProperties"], &inner, value, filled);
    }
}

#[test]
fn a_member_that_nothing_fills_is_found() {
    let author = json!({ "type": "object", "required": ["address"], "properties": {
        "address": { "type": "string" }, "name": { "type": ["string", "null"] }
    } });
    let note = json!({ "type": "object", "required": ["id", "author"], "properties": {
        "id": { "type": "integer" },
        "author": { "anyOf": [{ "$ref": "#/components/schemas/Author" }, { "type": "null" }] },
        "replies": { "type": "array", "items": { "$ref": "#/components/schemas/Note" } },
    } });
    let content = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Note" } } });
    let get = json!({ "operationId": "get_note", "responses": { "200": { "content": content } } });
    let document = json!({ "paths": { "/api/notes/{id}": { "get": get } }, "components": { "schemas": { "Author": author, "Note": note } } });
    let gaps_after = |answer: Value, excuses: &[(&str, &str)]| {
        let mut filled = BTreeSet::new();
        add_filled(&document, &content["application/json"]["schema"], "get_note", &answer, &mut filled);
        gaps(&document, &filled, excuses)
    };
    let (bare, reply) =
        (json!({ "id": 1, "author": null }), json!({ "id": 2, "author": { "address": "0x", "name": "A" } }));
    let all = ["Author.name is never filled", "Note.author is never filled", "Note.replies is never filled"];
    assert_eq!(gaps_after(bare.clone(), &[]), all);
    assert_eq!(gaps_after(bare, &[("Author.", ""), ("Note.", "")]), Vec::<String>::new());
    let full = json!({ "id": 1, "author": null, "replies": [reply] });
    assert_eq!(gaps_after(full.clone(), &[]), Vec::<String>::new());
    assert_eq!(gaps_after(full, &[("Author.name", "")]), ["Author.name is filled, or gone"]);
}
