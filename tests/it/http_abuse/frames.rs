//! HTTP/2 frames by hand (RFC 9113 §4.1), because a client library would not send what is sent here.

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// RFC 7541: `:method: GET`, `:scheme: http`, `:path: /`, `:authority: a`.
pub const GET: &[u8] = &[0x82, 0x86, 0x84, 0x41, 1, b'a'];

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Preface and settings, as every client begins.
pub fn begin() -> Vec<u8> {
    [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()
}

/// `:method: POST`, `:scheme: http`, `:path: path`, `:authority: a`.
pub fn post(path: &str) -> Vec<u8> {
    let length = u8::try_from(path.len()).unwrap();
    [&[0x83, 0x86, 0x44, length], path.as_bytes(), &[0x41, 1, b'a']].concat()
}

/// The frames that came whole: kind, stream and payload.
pub fn read(mut bytes: &[u8]) -> Vec<(u8, u32, &[u8])> {
    let mut frames = Vec::new();
    while let Some((head, rest)) = bytes.split_at_checked(9) {
        let length = usize::try_from(u32::from_be_bytes([0, head[0], head[1], head[2]])).unwrap();
        let Some((payload, rest)) = rest.split_at_checked(length) else { break };
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) & 0x7fff_ffff;
        frames.push((head[3], stream, payload));
        bytes = rest;
    }
    frames
}
