//! An export that is made here by hand, and what is done to it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;
use crate::canonical::canonical;
use alloy_primitives::{eip191_hash_message, hex};
use proptest::prelude::*;
use secp256k1::{Message, Secp256k1, SecretKey};
use serde_json::json;

const KEY: [u8; 32] = [7; 32];

fn address() -> Address {
    let key = SecretKey::from_byte_array(KEY).unwrap();
    let public = key.public_key(&Secp256k1::signing_only()).serialize_uncompressed();
    Address::from_slice(&keccak256(&public[1..])[12..])
}

fn sign(text: &str) -> String {
    let key = SecretKey::from_byte_array(KEY).unwrap();
    let message = Message::from_digest(eip191_hash_message(text.as_bytes()).0);
    let (recovery, compact) = Secp256k1::signing_only().sign_ecdsa_recoverable(message, &key).serialize_compact();
    let v = 27 + u8::try_from(i32::from(recovery)).unwrap();
    format!("0x{}{v:02x}", hex::encode(compact))
}

fn signed(mut value: Value, with: bool) -> String {
    let text = canonical(&value);
    if with {
        value["sig"] = sign(&text).into();
    }
    format!("{value}\n")
}

fn lines() -> Vec<Value> {
    let line = |seq: u64, kind: &str, ts: u64, more: Value| {
        let mut line = json!({ "seq": seq, "kind": kind, "ts": ts, "agentId": 7, "signer": address().to_string() });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    vec![
        line(
            1,
            "commons",
            1_700_000_000,
            json!({ "activityId": 4, "data": { "title": "Two\nlines \u{2028} \u{1f600} \"" } }),
        ),
        line(2, "commons", 1_700_000_000, json!({ "activityId": 5, "data": { "ratio": 0.1, "10": 1, "9": 2 } })),
        line(3, "chain", 1_700_000_000, json!({ "block": 9, "logIndex": 0, "args": { "bond": "1" } })),
        line(4, "x402", 1_700_000_000, json!({ "block": 9, "logIndex": 0, "event": "Settled" })),
        line(5, "chain", 1_700_000_007, json!({ "block": 10, "logIndex": 3, "args": {} })),
    ]
}

fn footer(lines: &[Value], change: impl FnOnce(&mut Value)) -> Value {
    let leaves = lines.iter().map(|line| keccak256(canonical(line).as_bytes())).collect();
    let mut footer = json!({
        "merkleRoot": merkle_root(leaves).to_string(), "leaves": lines.len(), "signedLines": false, "agentId": 7,
        "owner": Address::ZERO.to_string(), "signer": address().to_string(), "filter": { "fromTs": 1_700_000_000 },
        "limit": 1000, "truncated": false,
    });
    change(&mut footer);
    footer
}

fn export(lines: &[Value], signs_lines: bool, change: impl FnOnce(&mut Value)) -> String {
    let footer = footer(lines, |footer| {
        footer["signedLines"] = signs_lines.into();
        change(footer);
    });
    let lines = lines.iter().map(|line| signed(line.clone(), signs_lines));
    lines.chain([signed(footer, true)]).collect()
}

/// The names of the checks that fail.
fn failures(file: &str) -> Vec<&'static str> {
    let expected = Expected { signer: Some(address()), agent_id: Some(7) };
    let report = verify(file, &expected).unwrap();
    let failed: Vec<&str> = report.checks.iter().filter(|check| !check.ok).map(|check| check.name).collect();
    assert_eq!(report.valid, failed.is_empty());
    failed
}

#[test]
fn an_export_that_is_right_is_valid() {
    for signs_lines in [false, true] {
        let file = export(&lines(), signs_lines, |_| {});
        assert_eq!(failures(&file), Vec::<&str>::new(), "{:#?}", verify(&file, &Expected::default()));
    }
    assert_eq!(failures(&export(&[], false, |_| {})), Vec::<&str>::new(), "of nobody");
}

#[test]
fn the_root_is_that_of_the_networks_vector() {
    let leaves = ["r1", "r2", "r3"].map(|text| keccak256(text.as_bytes())).to_vec();
    let vector = "0x31eedffcfe27e25510b2e05153508eeb28c7ba2d94ede2e147d01a395cd855ef";
    assert_eq!(merkle_root(leaves).to_string(), vector);
}

#[test]
fn each_lie_of_a_signed_footer_is_found() {
    let of = |change: fn(&mut Value)| failures(&export(&lines(), false, change));
    assert_eq!(of(|footer| footer["leaves"] = 4.into()), ["lines"]);
    assert_eq!(of(|footer| footer["agentId"] = 8.into()), ["lines", "expected"]);
    assert_eq!(of(|footer| footer["filter"] = json!({ "fromTs": 1_700_000_001 })), ["filter"]);
    assert_eq!(of(|footer| footer["filter"] = json!({ "toBlock": 99 })), ["filter"]);
    assert_eq!(of(|footer| footer["limit"] = 4.into()), ["filter"]);
    assert_eq!(of(|footer| footer["merkleRoot"] = B256::ZERO.to_string().into()), ["root"]);
    assert_eq!(of(|footer| footer["signedLines"] = true.into()), ["line signatures"]);
}

#[test]
fn an_export_says_what_it_lacks() {
    let of = |footer: Value| {
        let file =
            export(&lines(), false, |all| all.as_object_mut().unwrap().extend(footer.as_object().unwrap().clone()));
        let report = verify(&file, &Expected::default()).unwrap();
        let detail = report.checks.iter().find(|check| check.name == "sources").unwrap().detail.clone();
        (report.valid, report.missing, detail)
    };
    let (is_valid, missing, detail) = of(json!({ "sources": ["audit"], "missing": ["webhooks", "x402"] }));
    assert_eq!((is_valid, missing), (true, vec!["webhooks".to_owned(), "x402".to_owned()]));
    assert_eq!(detail, "INCOMPLETE: lines of webhooks, x402 are missing");
    assert_eq!(of(json!({ "sources": ["audit"] })), (true, vec![], "no plugin is missing; 1 are there".to_owned()));
    for wrong in
        [json!({ "sources": ["x402"], "missing": ["x402"] }), json!({ "missing": "x402" }), json!({ "missing": [1] })]
    {
        assert!(!of(wrong.clone()).0, "{wrong}");
    }
}

#[test]
fn lines_out_of_order_are_found_although_they_are_signed() {
    let renumbered = |order: &[usize]| {
        let all = lines();
        let chosen = (1..).zip(order).map(|(seq, place)| {
            let mut line = all[*place].clone();
            line["seq"] = Value::from(seq);
            line
        });
        chosen.collect::<Vec<Value>>()
    };
    for order in [&[1, 0, 2, 3, 4][..], &[0, 1, 3, 2, 4], &[4, 0], &[0, 0], &[2, 2]] {
        assert_eq!(failures(&export(&renumbered(order), false, |_| {})), ["order"], "{order:?}");
    }
    assert_eq!(failures(&export(&renumbered(&[0, 2, 4]), false, |_| {})), Vec::<&str>::new());
}

#[test]
fn a_line_that_is_left_out_added_or_changed_breaks_the_root() {
    let file = export(&lines(), false, |_| {});
    let mut texts: Vec<&str> = file.lines().collect();
    let dropped = texts.remove(1);
    assert_eq!(failures(&format!("{}\n", texts.join("\n"))), ["lines", "root"]);
    texts.insert(1, dropped);
    texts.insert(1, dropped);
    assert_eq!(failures(&format!("{}\n", texts.join("\n"))), ["lines", "order", "root"]);
    assert_eq!(failures(&file.replace("\"bond\":\"1\"", "\"bond\":\"2\"")), ["root"]);
    assert_eq!(failures(&file.replacen("\"seq\":1", "\"seq\":1,\"seq\":1", 1)), ["lines", "root"]);
    assert_eq!(failures(file.strip_suffix('\n').unwrap()), ["lines"]);
    assert_eq!(failures(&file.replacen("\"seq\":3", "\"seq\": 3", 1)), Vec::<&str>::new(), "blanks mean nothing");
}

#[test]
fn another_signer_is_found() {
    let file = export(&lines(), false, |_| {});
    let other = Expected { signer: Some(Address::repeat_byte(1)), agent_id: Some(8) };
    let report = verify(&file, &other).unwrap();
    assert!(!report.valid && report.is_signer_known);
    let forged = export(&lines(), false, |footer| footer["signer"] = Address::repeat_byte(1).to_checksum(None).into());
    assert_eq!(failures(&forged), ["lines", "footer signature", "expected"]);
}

#[test]
fn what_is_no_export_cannot_be_checked() {
    let no_export = |file: &str| verify(file, &Expected::default()).unwrap_err();
    assert_eq!(no_export(""), NotAnExport::Empty);
    assert_eq!(no_export("\n\n"), NotAnExport::Empty);
    for file in ["{}\n", "<html>\n", "{\"error\":\"unknown agent\"}\n", "1\n"] {
        assert!(matches!(no_export(file), NotAnExport::NoFooter(_)), "{file}");
    }
}

proptest! {
    /// A byte that changes makes the export invalid, unless the JSON of its lines is the same.
    #[test]
    fn every_changed_byte_is_found(place in 0_usize..6000, bit in 0_u8..7, signs_lines: bool) {
        let file = export(&lines(), signs_lines, |_| {});
        let mut bytes = file.clone().into_bytes();
        let place = place % bytes.len();
        bytes[place] ^= 1 << bit;
        let Ok(changed) = String::from_utf8(bytes) else { return Ok(()) };
        let parsed = |text: &str| text.split('\n').map(|line| serde_json::from_str::<Value>(line).ok()).collect::<Vec<_>>();
        if let Ok(report) = verify(&changed, &Expected { signer: Some(address()), agent_id: Some(7) }) {
            prop_assert!(!report.valid || parsed(&changed) == parsed(&file), "{changed}");
        }
    }
}
