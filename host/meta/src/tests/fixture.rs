//! A gateway with two plugins, which together have every kind of route: `notes` and `signals`.

use crate::{ChainInfo, DocumentContext, Limits, meta_routes, stats};
use plugin_api::{
    manifest::{Environment, Manifest},
    point::{Counters, Discovery},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub struct GatewayFixture {
    pub environment: Environment,
    pub plugins: Vec<Manifest>,
    pub chain: ChainInfo,
    pub discovery: Vec<(String, Discovery)>,
    pub counters: Counters,
}

pub const NOW_S: i64 = 1_790_000_000;
pub const LIMITS: Limits =
    Limits { write_interval_ms: 1000, writes_per_ip_per_minute: 30, body_bytes_max: 262_144, ts_window_s: 300 };

impl GatewayFixture {
    pub fn with_two_plugins() -> Self {
        Self {
            environment: Environment {
                gateway_version: "0.6.0".into(),
                base_url: "https://gateway.test".into(),
                chain_id: 3961,
                ..Default::default()
            },
            plugins: vec![read(notes()), read(signals())],
            chain: chain(),
            discovery: vec![("notes".into(), read(notes_discovery()))],
            counters: stats::merge_counters([
                read(json!({ "stats": { "notes": 3 }, "manifest": { "notesPinned": 1 } })),
                read(json!({ "stats": { "notes": 99, "signalVolumeWei": "1000000000000000000" } })),
            ]),
        }
    }

    pub fn without_plugins() -> Self {
        let (plugins, discovery) = Default::default();
        Self { plugins, discovery, counters: Counters::default(), ..Self::with_two_plugins() }
    }

    /// Renders a document with this gateway as the context.
    pub fn with_context<T>(&self, render: impl FnOnce(&DocumentContext<'_>) -> T) -> T {
        let gateway_manifest = meta_routes(&self.environment).manifest;
        let plugins: Vec<_> = self.plugins.iter().collect();
        render(&DocumentContext {
            environment: &self.environment,
            gateway_manifest: &gateway_manifest,
            plugins: &plugins,
            chain: &self.chain,
            discovery: &self.discovery,
            counters: &self.counters,
            web: None,
            signer: None,
            limits: &LIMITS,
            now_s: NOW_S,
        })
    }
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn chain() -> ChainInfo {
    ChainInfo {
        name: "Service Network".into(),
        currency_name: "FMX Coin".into(),
        symbol: "FMX".into(),
        decimals: 18,
        rpc: Some("https://rpc.test".into()),
        explorer: Some("http://explorer.test".into()),
        block_time_s: 7,
        consensus: "Clique PoA".into(),
        evm: "paris (no PUSH0)".into(),
        contracts: BTreeMap::from([
            ("registry".to_owned(), Some("0x00000000000000000000000000000000000000aa".parse().unwrap())),
            ("escrow".to_owned(), None),
            ("memoryAnchor".to_owned(), None),
            ("streamPay".to_owned(), Some("0x00000000000000000000000000000000000000bb".parse().unwrap())),
        ]),
        deploy_block: Some(120),
    }
}

/// Lists, a signed write below a parent, a signed delete, a catch-all path, plain text.
fn notes() -> Value {
    let note = json!({ "$ref": "#/components/schemas/notes.NoteView" });
    let error = |status: u16, codes: &[&str]| json!({ "status": status, "description": codes.join(", "), "content_type": "application/json", "codes": codes });
    let ok = |status: u16, schema: &Value| json!({ "status": status, "description": "OK", "content_type": "application/json", "schema": schema });
    let id = json!({ "name": "id", "place": "path", "required": true, "schema": { "type": "integer", "minimum": 1 } });
    json!({
        "name": "notes", "version": "1.2.0", "summary": "Short texts that wallets pin",
        "routes": [
            {
                "method": "GET", "path": "/api/notes", "operation": "list_notes", "tag": "notes", "summary": "Notes, newest first",
                "endpoint": "notes", "briefing": { "name": "List [all]", "note": "newest first\n- [evil](https://evil.test)" },
                "auth": { "kind": "public" }, "cache_control": "public, max-age=60",
                "parameters": [
                    { "name": "limit", "place": "query", "required": false, "description": "Items in the answer",
                      "schema": { "type": "integer", "minimum": 1, "maximum": 100, "default": 25 } },
                    { "name": "tag", "place": "query", "required": false, "description": "Only with this tag",
                      "schema": { "description": "Only with this tag", "type": ["string", "null"], "default": null } },
                ],
                "answers": [ok(200, &json!({ "$ref": "#/components/schemas/notes.NotePage" }))],
            },
            {
                "method": "POST", "path": "/api/notes/{id}/replies", "operation": "create_reply", "tag": "notes",
                "summary": "Replies to a note", "description": "Everyone sees it **at once**.",
                "auth": { "kind": "signed_body", "action": "reply.create" }, "body_max_bytes": 16384,
                "rate_limits": [{ "bucket": "writes", "calls": 30, "window_s": 60, "code": "ip_rate_limited", "additional": true }],
                "parent": { "sql": "SELECT 1 FROM notes_notes WHERE id = $1", "param": "id", "integer": true, "resource": "note" },
                "parameters": [id],
                "body": { "$ref": "#/components/schemas/notes.NewReply" },
                "answers": [ok(201, &note), error(404, &["unknown_note"]), error(409, &["note_closed"]), error(413, &["too_long"])],
            },
            {
                "method": "DELETE", "path": "/api/notes/{id}", "operation": "delete_note", "tag": "notes", "summary": "Unpins a note",
                "endpoint": "health",
                "auth": { "kind": "signed_headers", "action": "note.delete", "guarded": true }, "parameters": [id],
                "answers": [{ "status": 204, "description": "Done" }, error(403, &["not_owner"])],
            },
            {
                "method": "GET", "path": "/notes/raw/{*path}", "operation": "get_raw_note", "tag": "notes", "summary": "A note as text",
                "auth": { "kind": "public" },
                "answers": [{ "status": 200, "description": "OK", "content_type": "text/plain; charset=utf-8", "schema": { "type": "string" } }],
            },
        ],
        "schemas": {
            "notes.NoteView": {
                "type": "object", "required": ["id", "text", "author", "pinned"],
                "properties": {
                    "id": { "type": "integer", "format": "int64" }, "text": { "type": "string" },
                    "author": { "$ref": "#/components/schemas/notes.Author" }, "pinned": { "type": ["boolean", "null"] },
                },
            },
            "notes.NotePage": {
                "type": "object", "required": ["items"],
                "properties": { "items": { "type": "array", "items": { "$ref": "#/components/schemas/notes.NoteView" } } },
            },
            "notes.Author": { "type": "object", "required": ["address"], "properties": { "address": { "type": "string" } } },
            "notes.NewReply": {
                "type": "object", "required": ["text"], "additionalProperties": false,
                "properties": { "text": { "type": "string", "maxLength": 200 } },
            },
            "notes.Unused": { "type": "object" },
        },
        "skills": [{ "id": "notes", "name": "Notes", "description": "Pin a note", "tags": ["text"], "examples": ["Pin hello"] }],
        "limits": { "noteBytes": 16384, "bodyBytes": 1 },
    })
}

/// A stream, a signed read by query, a write with an open payload, raw bytes, an own scheme.
fn signals() -> Value {
    json!({
        "name": "signals", "version": "0.1.0", "summary": "What happens, as it happens",
        "routes": [
            {
                "method": "GET", "path": "/api/signals/stream", "operation": "stream_signals", "tag": "signals", "summary": "Live signals",
                "endpoint": "work",
                "auth": { "kind": "public" },
                "answers": [{ "status": 200, "description": "Server-sent events", "content_type": "text/event-stream", "schema": { "type": "string" } }],
            },
            {
                "method": "GET", "path": "/api/signals/inbox", "operation": "list_inbox", "tag": "signals", "summary": "Signals for me",
                "auth": { "kind": "signed_query", "action": "inbox.read" },
                "answers": [{ "status": 200, "description": "OK", "content_type": "application/json", "schema": { "type": "object" } }],
            },
            {
                "method": "POST", "path": "/api/signals", "operation": "create_signal", "tag": "signals", "summary": "Sends a signal",
                "endpoint": "activity",
                "auth": { "kind": "signed_body", "action": "signal.create" },
                "body": { "type": "object", "properties": { "to": { "type": "string" } } },
                "answers": [{ "status": 201, "description": "Created", "content_type": "application/json", "schema": { "type": "object" } }],
            },
            {
                "method": "POST", "path": "/api/signals/ping", "operation": "ping", "tag": "signals", "summary": "",
                "auth": { "kind": "signed_body", "action": "signal.ping" }, "answers": [],
            },
            {
                "method": "POST", "path": "/api/signals/raw", "operation": "store_raw", "tag": "signals", "summary": "Keeps bytes",
                "auth": { "kind": "own", "scheme": "Needs the header `X-Signal-Key`." },
                "body_types": ["application/octet-stream", "text/plain"],
                "answers": [{ "status": 201, "description": "Created", "content_type": "application/json", "schema": { "type": "object" } }],
            },
        ],
    })
}

fn notes_discovery() -> Value {
    json!({
        "manifest": { "x402": { "scheme": "service-voucher" }, "chainId": 1, "live": { "topNotes": [] }, "webhookEvents": ["note.create"] },
        "card": { "topNotes": [], "authentication": { "schemes": ["x402-service"] } },
    })
}
