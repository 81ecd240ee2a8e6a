//! At any input and any read size hyper gets only heads that it can read, so that every response is the gateway's.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod connection;

use connection::count_responses;
use gateway_fuzz_seeds::Seeds;

const WORDS: &[&str] = &[
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    "\0",
    " ",
    "\t",
    ":",
    "HTTP/1.1",
    "HTTP/1.0",
    "HTTP/0.9",
    "GET ",
    "POST ",
    "CONNECT ",
    "HEAD ",
    "OPTIONS * ",
    "/",
    "http://a/",
    "*",
    "host: a\r\n",
    "content-length: 5\r\n",
    "content-length: 0\r\n",
    "Content-Length:",
    "transfer-encoding: chunked\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "connection: close\r\n",
    "connection: keep-alive\r\n",
    "expect: 100-continue\r\n",
    "upgrade: websocket\r\n",
    "0\r\n\r\n",
    "5\r\nhello\r\n",
    "ffffffffffffffff\r\n",
    ";ext=1",
    "trailer: x\r\n",
    "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\u{e9}",
    "#",
    "?",
    "%",
    "x: y\r\n",
    "18446744073709551615",
];

#[test]
fn request_heads() {
    let seeds = Seeds::load(env!("CARGO_MANIFEST_DIR"), "request_heads", WORDS);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let runtime = std::panic::AssertUnwindSafe(runtime);
    bolero::check!(name = "request_heads").for_each(|input: &[u8]| {
        // Parts of every size from one byte to all at once.
        let part_bytes = usize::from(input.last().copied().unwrap_or_default()) + 1;
        seeds.run(input, |bytes| {
            let responses = runtime.block_on(count_responses(bytes, part_bytes));
            assert_ne!(
                responses,
                None,
                "not the gateway's own response, or none: {:?}",
                String::from_utf8_lossy(bytes)
            );
        });
    });
}
