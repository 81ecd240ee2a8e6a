//! Canonical JSON by RFC 8785.

use serde_json::{Number, Value};
use std::fmt::Write as _;

/// Integers up to this are exact in the numbers of JavaScript.
const EXACT: u64 = 1 << 53;

pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value);
    text
}

fn write(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Number(value) => text.push_str(&number(value)),
        Value::String(value) => quote(text, value),
        Value::Array(items) => {
            text.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                write(text, item);
            }
            text.push(']');
        }
        Value::Object(object) => {
            let mut members: Vec<(Vec<u16>, &String, &Value)> =
                object.iter().map(|(name, value)| (name.encode_utf16().collect(), name, value)).collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            text.push('{');
            for (position, (_, name, value)) in members.into_iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                quote(text, name);
                text.push(':');
                write(text, value);
            }
            text.push('}');
        }
    }
}

fn quote(text: &mut String, value: &str) {
    text.push('"');
    for letter in value.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            control if u32::from(control) < 0x20 => {
                // Writing to a text does not fail.
                let _ = write!(text, "\\u{:04x}", u32::from(control));
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

/// As ECMAScript prints the double that a number becomes.
fn number(number: &Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) if integer.unsigned_abs() <= EXACT => integer.to_string(),
        (_, Some(double)) => ecmascript(double),
        // Every number of JSON text has one of the two.
        (_, None) => number.to_string(),
    }
}

/// `Number::toString` of ECMAScript: the shortest digits that are read as the same double, of two equally near ones the even one, and
/// where their point is. Rust's own `{:e}` has the same digits but for such pairs; `serde_json` has the even one.
fn ecmascript(double: f64) -> String {
    let shortest = Number::from_f64(double.abs()).map_or_else(String::new, |number| number.to_string());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    if digits.is_empty() {
        return "0".to_owned();
    }
    let leading_zeros = length(&all) - length(digits);
    // Digits before the point.
    let before = length(whole) - leading_zeros + exponent.parse::<i32>().unwrap_or(0);
    let sign = if double < 0.0 { "-" } else { "" };
    format!("{sign}{}", placed(digits.trim_end_matches('0'), before))
}

fn length(digits: &str) -> i32 {
    i32::try_from(digits.len()).unwrap_or(i32::MAX)
}

/// The digits with their point, of which so many are before it.
fn placed(digits: &str, before: i32) -> String {
    let (count, zeros) = (length(digits), |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0)));
    if count <= before && before <= 21 {
        format!("{digits}{}", zeros(before - count))
    } else if 0 < before && before <= 21 {
        let (whole, rest) = digits.split_at(usize::try_from(before).unwrap_or(0));
        format!("{whole}.{rest}")
    } else if -6 < before && before <= 0 {
        format!("0.{}{digits}", zeros(-before))
    } else {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let plus = if before > 0 { "+" } else { "" };
        format!("{first}{point}{rest}e{plus}{}", before - 1)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn text(json: &str) -> String {
        canonical(&serde_json::from_str(json).unwrap())
    }

    /// Numbers of RFC 8785, Appendix B.
    #[test]
    fn numbers_are_printed_as_in_ecmascript() {
        for (bits, expected) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(ecmascript(f64::from_bits(bits)), expected);
        }
        assert_eq!(
            text("[1,-1,0,9007199254740993,18446744073709551615,1.0,1e2]"),
            "[1,-1,0,9007199254740992,18446744073709552000,1,100]"
        );
    }

    /// The example of RFC 8785, section 3.2.3.
    #[test]
    fn members_are_sorted_by_their_utf_16_units() {
        let json = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew","1":"One","\ud83d\ude00":"Emoji","\u0080":"Control","\u00f6":"Latin"}"#;
        let names = ["\\r", "1", "\u{80}", "\u{f6}", "\u{20ac}", "\u{1f600}", "\u{fb33}"];
        let found = text(json);
        let places: Vec<usize> = names.iter().map(|name| found.find(&format!("\"{name}\":")).unwrap()).collect();
        assert!(places.is_sorted(), "{found}");
    }

    #[test]
    fn texts_are_escaped_where_they_must_be() {
        assert_eq!(
            text("\"\\u0001\\u001f\\u007f\\/\\\"\\\\ \\n\\t\\b\\f\\r\u{2028}\""),
            "\"\\u0001\\u001f\u{7f}/\\\"\\\\ \\n\\t\\b\\f\\r\u{2028}\""
        );
        assert_eq!(text(r#" { "b" : [ ] , "a" : { } } "#), r#"{"a":{},"b":[]}"#);
    }
}
