//! Compares strict JSON with serde_json, and its canonical form with a second writer of canonical JSON.

use crate::canonical::rfc8785;
use crate::strict_json;
use gateway_fuzz_seeds::Seeds;
use serde_json::{Number, Value};

const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "\\udc00",
    "\\ud83d\\ude00",
    "\\n",
    "null",
    "true",
    "false",
    "-0",
    "0.1",
    "1e400",
    "1e-7",
    "1e21",
    "9007199254740993",
    "-9223372036854775808",
    "123456789012345678901",
    "5e-324",
    "1.7976931348623157e308",
    "\u{feff}",
    "\u{2028}",
    "\u{1f600}",
    "\u{7f}",
    "\"a\":1,",
    "\"10\":1,\"9\":2,",
    "\"\u{e9}\":0,\"e\u{301}\":0,",
    " ",
    "\t",
    "\r\n",
    "//",
    "/*",
    "'",
    "NaN",
];

#[test]
fn json() {
    let seeds = Seeds::load(env!("CARGO_MANIFEST_DIR"), "json", WORDS);
    bolero::check!(name = "json").for_each(|input: &[u8]| seeds.run(input, check));
}

fn check(bytes: &[u8]) {
    let Ok(document) = strict_json::parse_document(bytes) else { return };
    let (canonical, value) = (document.text(), document.value());
    assert_eq!(rfc8785(&value).unwrap(), canonical, "both writers write the same");
    let known: Value = serde_json::from_slice(bytes).unwrap();
    // The values themselves are not compared: strict JSON turns -0 into 0, as the canonical form does.
    assert_eq!(rfc8785(&known).unwrap(), canonical, "strict JSON is JSON, and means the same");
    let again = strict_json::parse_document(canonical.as_bytes()).unwrap();
    assert_eq!(again.text(), canonical, "the canonical form is its own canonical form");
    if let Some(other) = second_writer(&value) {
        assert_eq!(canonical, other);
    }
}

/// RFC 8785 from its text; None where a number needs an exponent, which Rust writes differently.
fn second_writer(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::Number(number) => second_number(number)?,
        Value::String(text) => second_string(text),
        Value::Array(items) => {
            let items: Option<Vec<_>> = items.iter().map(second_writer).collect();
            format!("[{}]", items?.join(","))
        }
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(name, _)| name.encode_utf16().collect::<Vec<_>>());
            let members = members
                .into_iter()
                .map(|(name, value)| Some(format!("{}:{}", second_string(name), second_writer(value)?)));
            format!("{{{}}}", members.collect::<Option<Vec<_>>>()?.join(","))
        }
    })
}

fn second_number(number: &Number) -> Option<String> {
    let double = number.as_f64()?;
    if double == 0.0 {
        return Some("0".to_owned());
    }
    (1e-6..1e21).contains(&double.abs()).then(|| format!("{double}"))
}

fn second_string(text: &str) -> String {
    let escape = |character: char| match character {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\t' => "\\t".to_owned(),
        '\n' => "\\n".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\r' => "\\r".to_owned(),
        control if control < ' ' => format!("\\u{:04x}", u32::from(control)),
        other => other.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}
