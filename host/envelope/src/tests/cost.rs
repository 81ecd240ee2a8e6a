//! What the JSON of a signed write costs. Run by hand, optimised:
//! `cargo test --release -p gateway-envelope -- --ignored --nocapture cost`.

use super::super::canonical::rfc8785;
use super::super::strict_json::parse_body;
use serde_json::{Map, Value, json};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: u32 = 20_000;

fn nanoseconds(mut work: impl FnMut()) -> u128 {
    let best_of = (0..5).map(|_| {
        let started = Instant::now();
        (0..ROUNDS).for_each(|_| work());
        started.elapsed().as_nanos() / u128::from(ROUNDS)
    });
    best_of.min().unwrap()
}

#[test]
#[ignore = "a measurement"]
fn cost_of_one_pass_and_of_a_tree_of_values() {
    let text = "What a thread begins with, in a paragraph that says a little more than one line. ".repeat(6);
    let payload = json!({"title": "A thread", "body": text, "tags": ["one", "two", "three"], "agentId": 7});
    let mut body = payload.clone();
    body["address"] = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266".into();
    body["ts"] = 1_760_000_000.into();
    body["sig"] = format!("0x{}", "a".repeat(130)).into();
    let body = serde_json::to_vec(&body).unwrap();
    let one_pass = nanoseconds(|| drop(black_box(parse_body(black_box(&body)).unwrap())));
    let tree = nanoseconds(|| {
        let mut members: Map<String, Value> = serde_json::from_slice(black_box(&body)).unwrap();
        for name in ["address", "ts", "sig"] {
            black_box(members.shift_remove(name));
        }
        drop(black_box(rfc8785(&Value::Object(members)).unwrap()));
    });
    println!("{} bytes: one pass {one_pass} ns, a tree of values and its canonical text {tree} ns", body.len());
}
