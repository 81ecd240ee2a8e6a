//! Canonical JSON: the rules of RFC 8785 one by one, and properties of any document.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::canonical::{candidates, javascript_order, rfc8785};
use super::super::strict_json;
use super::wallet::any_json;

fn canonical(text: &str) -> String {
    let document = strict_json::parse_document(text.as_bytes()).unwrap();
    assert_eq!(rfc8785(&document.value()).unwrap(), document.text(), "both writers write the same");
    document.into_text()
}

fn all_candidates(text: &str) -> Vec<String> {
    let document = strict_json::parse_document(text.as_bytes()).unwrap();
    let texts: Vec<_> = candidates(&document.value()).map(Result::unwrap).collect();
    let reordered = document.in_javascript_order().map(Result::unwrap);
    assert_eq!(texts.get(1), reordered.as_ref());
    texts
}

/// RFC 8785, appendix B: the bits of a double and its text.
#[test]
fn numbers_print_as_in_ecmascript() {
    let samples: [(u64, &str); 24] = [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
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
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];
    for (bits, text) in samples {
        assert_eq!(rfc8785(&json!(f64::from_bits(bits))).unwrap(), text, "{bits:016x}");
        assert_eq!(canonical(text), text, "{bits:016x}");
    }
}

#[test]
fn numbers_in_other_notations_come_out_the_same() {
    for (input, output) in [
        ("1.0", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("0e9", "0"),
        ("1E30", "1e+30"),
        ("4.50", "4.5"),
        ("2e-3", "0.002"),
        ("0.000000000000000000000000001", "1e-27"),
        ("333333333.33333329", "333333333.3333333"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e+21"),
        ("1e-7", "1e-7"),
        ("0.0000001", "1e-7"),
        ("1e-400", "0"),
    ] {
        assert_eq!(canonical(input), output, "{input}");
    }
}

#[test]
fn strings_escape_only_what_they_must() {
    let input = r#""\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/""#;
    assert_eq!(canonical(input), r#""€$\u000f\nA'B\"\\\\\"/""#);
    assert_eq!(canonical(r#""\u0008\u0009\u000a\u000c\u000d""#), r#""\b\t\n\f\r""#);
    assert_eq!(canonical(r#""\u0001\u001f\u007f\u2028""#), "\"\\u0001\\u001f\u{7f}\u{2028}\"");
    assert_eq!(canonical(r#""\ud83d\ude00""#), "\"😀\"");
    // No Unicode normalisation: A + ring above stays two characters.
    assert_eq!(canonical("\"A\u{30a}\""), "\"A\u{30a}\"");
    assert_ne!(canonical("\"A\u{30a}\""), canonical("\"\u{c5}\""));
}

#[test]
fn keys_sort_by_utf16_code_units_at_every_depth() {
    // In UTF-8 order the emoji would come after U+FB33.
    let input = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#;
    let output = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}";
    assert_eq!(canonical(input), output);
    assert_eq!(
        canonical(r#"{"b":[{"d":1,"c":2}],"a":{"f":{},"e":[]},"":0}"#),
        r#"{"":0,"a":{"e":[],"f":{}},"b":[{"c":2,"d":1}]}"#
    );
    assert_eq!(canonical(r#"{"aa":1,"a":2,"A":3,"a\u0001":4}"#), r#"{"A":3,"a":2,"a\u0001":4,"aa":1}"#);
}

#[test]
fn arrays_keep_their_order_and_white_space_goes() {
    assert_eq!(canonical(" [ 3 , 1 ,\n2 , [ ] , { } , null , true , false ]\t"), "[3,1,2,[],{},null,true,false]");
}

#[test]
fn index_like_keys_have_a_second_order() {
    let input = r#"{"b":1,"10":2,"a":3,"9":4,"-1":5,"01":6}"#;
    assert_eq!(
        all_candidates(input),
        [r#"{"-1":5,"01":6,"10":2,"9":4,"a":3,"b":1}"#, r#"{"9":4,"10":2,"-1":5,"01":6,"a":3,"b":1}"#]
    );
    // The last index is 2^32 - 2.
    let edge = r#"{"4294967295":1,"4294967294":2,"!":3}"#;
    assert_eq!(all_candidates(edge)[1], r#"{"4294967294":2,"!":3,"4294967295":1}"#);
    let nested = r#"{"x":[{"b":0,"2":"\n","10":1.50}]}"#;
    assert_eq!(all_candidates(nested)[1], r#"{"x":[{"2":"\n","10":1.5,"b":0}]}"#);
}

#[test]
fn other_keys_have_one_order() {
    for input in [
        r#"{"a":1,"b":{"c":[{}]}}"#,
        r#"{"":1,"00":2,"01":3,"+1":4,"1.0":5,"1e3":6,"-0":7," 1":8,"４":9}"#,
        r#"{"4294967295":1,"99999999999":1}"#,
        "[1,2]",
        "7",
    ] {
        assert_eq!(all_candidates(input).len(), 1, "{input}");
    }
}

fn without_index_keys(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            object.iter().map(|(key, member)| (format!("k{key}"), without_index_keys(member))).collect()
        }
        Value::Array(items) => items.iter().map(without_index_keys).collect(),
        scalar => scalar.clone(),
    }
}

proptest! {
    #[test]
    fn canonical_text_is_a_fixed_point(value in any_json()) {
        let once = rfc8785(&value).unwrap();
        prop_assert_eq!(canonical(&once), once);
    }

    /// Both writers differ only in the order of index-like keys.
    #[test]
    fn both_writers_agree_without_index_keys(value in any_json()) {
        let value = without_index_keys(&value);
        prop_assert_eq!(javascript_order(&value).unwrap(), rfc8785(&value).unwrap());
    }

    #[test]
    fn every_candidate_is_the_same_value(value in any_json()) {
        let texts: Vec<_> = candidates(&value).map(Result::unwrap).collect();
        for text in &texts {
            prop_assert_eq!(&canonical(text), &texts[0]);
        }
    }
}
