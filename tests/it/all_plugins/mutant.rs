//! Turns a valid call into an invalid request. Many are signed after the change, so that they pass the signature check,
//! as the request of an attacker with a wallet would.

use super::call::{Call, Payload, Request, SignedIn, encoded};
use crate::crash::Dice;
use plugin_testing::Wallet;

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"];
const HEADERS: [&str; 18] = [
    "accept",
    "accept-encoding",
    "content-type",
    "content-encoding",
    "if-none-match",
    "if-match",
    "if-modified-since",
    "last-event-id",
    "origin",
    "range",
    "access-control-request-method",
    "x-forwarded-for",
    "x-request-id",
    "x-service-address",
    "x-service-ts",
    "x-service-sig",
    "cookie",
    "x-http-method-override",
];

/// The call after random changes, signed at `now_s`.
pub fn mutant(call: &Call, dice: &mut Dice, now_s: i64) -> Request {
    let mut call = call.clone();
    // One in ten stays valid: it must be served among invalid ones.
    let changes = if dice.hits(10) { 0 } else { 1 + dice.below(2) };
    let mut later = Vec::new();
    for _ in 0..changes {
        match dice.below(10) {
            0 => mutate_path(&mut call, dice),
            1 | 2 => mutate_query(&mut call, dice),
            3 => call.headers.push(header(dice)),
            4 => call.method = (*dice.pick(&METHODS)).to_owned(),
            // The request is signed after this change; those of `later` are made to the signed request.
            5 | 6 => mutate_payload(&mut call, dice),
            7 => mutate_signer(&mut call, dice),
            other => later.push(other),
        }
    }
    let mut request = call.request(now_s + drift_s(dice));
    for _ in later {
        mutate_request(&mut request, dice);
    }
    request
}

/// How wrong the client's clock is; mostly not at all.
fn drift_s(dice: &mut Dice) -> i64 {
    if dice.hits(40) { *dice.pick(&[-301, -300, 300, 301, 100_000, -2_000_000_000]) } else { 0 }
}

fn mutate_path(call: &mut Call, dice: &mut Dice) {
    let mut segments: Vec<String> = call.path.split('/').map(str::to_owned).collect();
    let place = 1 + dice.place(segments.len() - 1);
    let text = dice.text();
    match dice.below(6) {
        0 => drop(segments.remove(place.min(segments.len() - 1))),
        1 => segments.insert(place, encoded(&text)),
        2 => segments[place] = encoded(&dice.reword(&segments[place].clone())),
        3 => segments[place] = (*dice.pick(&["..", ".", "%2e%2e", "%2F", "%zz", "%", "%ff", "%00"])).to_owned(),
        _ => {
            let last = segments.len() - 1;
            segments[last] = encoded(&text);
        }
    }
    // A target begins with a slash.
    call.path = format!("/{}", segments.join("/").trim_start_matches('/'));
}

fn mutate_query(call: &mut Call, dice: &mut Dice) {
    let place = dice.place(call.query.len());
    let text = dice.text();
    match (dice.below(6), call.query.get_mut(place)) {
        (0, Some(_)) => drop(call.query.remove(place)),
        (1, Some(pair)) => {
            let twice = (pair.0.clone(), text);
            call.query.push(twice);
        }
        (2, Some(pair)) => pair.1 = dice.reword(&pair.1.clone()),
        (3 | 4, Some(pair)) => pair.1 = text,
        (_, _) => {
            let names = ["limit", "offset", "q", "sort", "since", "sinceId", "type", "viewer", "address", "ts", "sig"];
            let name = (*dice.pick(&names)).to_owned();
            call.query.push((name, text));
        }
    }
}

/// Without line breaks and NUL, which end a header or a request: the crate `gateway-http` tests these.
fn header(dice: &mut Dice) -> (String, String) {
    let value: String = dice.text().chars().filter(|character| !character.is_control()).take(2000).collect();
    ((*dice.pick(&HEADERS)).to_owned(), value)
}

fn mutate_payload(call: &mut Call, dice: &mut Dice) {
    match &mut call.payload {
        Payload::Json(value) => dice.restructure(value),
        Payload::Bytes(_, bytes) if dice.hits(2) => dice.spoil(bytes),
        Payload::Bytes(kind, _) => *kind = header(dice).1,
        // A body where none is expected.
        Payload::None => {
            let value = dice.value();
            call.payload = Payload::Json(value);
        }
    }
}

fn mutate_signer(call: &mut Call, dice: &mut Dice) {
    let Some(signer) = &mut call.signer else { return mutate_query(call, dice) };
    match dice.below(4) {
        0 => signer.wallet = Wallet::new(1 + dice.below(20)),
        1 => signer.action = (*dice.pick(&["", "thread.create", "inbox.read", "arena.vote", "nothing"])).to_owned(),
        2 => signer.place = *dice.pick(&[SignedIn::Body, SignedIn::Query, SignedIn::Headers]),
        _ => call.signer = None,
    }
}

/// Changes parts that the signature does not cover.
fn mutate_request(request: &mut Request, dice: &mut Dice) {
    match dice.below(8) {
        0 | 1 => dice.spoil(&mut request.body),
        2 | 3 => {
            if let Ok(text) = std::str::from_utf8(&request.body) {
                request.body = dice.respell(text).into_bytes();
            }
        }
        4 => {
            if let Ok(mut value) = serde_json::from_slice(&request.body) {
                dice.restructure(&mut value);
                request.body = value.to_string().into_bytes();
            }
        }
        5 => {
            let place = dice.place(request.headers.len());
            if let Some((_, value)) = request.headers.get_mut(place) {
                dice.spoil(value);
                value.retain(|byte| !matches!(byte, b'\r' | b'\n' | 0));
            }
        }
        6 => {
            let place = dice.place(request.headers.len());
            if place < request.headers.len() {
                request.headers.remove(place);
            }
        }
        _ => {
            let mut target = std::mem::take(&mut request.target).into_bytes();
            dice.spoil(&mut target);
            // Other bytes would break the request line.
            target.retain(|byte| byte.is_ascii_graphic());
            request.target = format!("/{}", String::from_utf8_lossy(&target).trim_start_matches('/'));
        }
    }
}
