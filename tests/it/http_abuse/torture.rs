//! Bodies that a JSON parser gets wrong. The names begin as those of parsing suites do: `n` is no JSON, `y` is JSON, `i` is
//! what readers may see differently. No body is a signed request, so every one of them is the client's mistake.

use super::abuse::ask;
use futures_util::future::BoxFuture;
use std::{
    net::SocketAddr,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Small ones, as they are.
const TEXTS: &[(&str, &str)] = &[
    ("n empty", ""),
    ("n white space only", " \t\r\n "),
    ("n open object", "{"),
    ("n open array", "["),
    ("n closed only", "}"),
    ("n open name", "{\"a"),
    ("n name without value", "{\"a\""),
    ("n colon without value", "{\"a\":"),
    ("n colon without name", "{:1}"),
    ("n two colons", "{\"a\"::1}"),
    ("n comma for a colon", "{\"a\",1}"),
    ("n trailing comma", "{\"a\":1,}"),
    ("n trailing comma in an array", "{\"a\":[1,]}"),
    ("n leading comma", "{,\"a\":1}"),
    ("n two commas", "{\"a\":1,,\"b\":2}"),
    ("n no comma", "{\"a\":1 \"b\":2}"),
    ("n bare name", "{a:1}"),
    ("n single quotes", "{'a':1}"),
    ("n number as a name", "{1:1}"),
    ("n wrong bracket", "{\"a\":1]"),
    ("n text behind it", "{\"a\":1}x"),
    ("n second object behind it", "{\"a\":1}{\"b\":2}"),
    ("n bracket behind it", "{}}"),
    ("n line comment", "{\"a\":1} // x"),
    ("n block comment", "{/* x */\"a\":1}"),
    ("n not a number", "{\"a\":NaN}"),
    ("n infinity", "{\"a\":Infinity}"),
    ("n minus infinity", "{\"a\":-Infinity}"),
    ("n plus", "{\"a\":+1}"),
    ("n leading zero", "{\"a\":01}"),
    ("n minus leading zero", "{\"a\":-01}"),
    ("n point first", "{\"a\":.5}"),
    ("n point last", "{\"a\":1.}"),
    ("n minus only", "{\"a\":-}"),
    ("n exponent without digits", "{\"a\":1e}"),
    ("n exponent with a sign only", "{\"a\":1e+}"),
    ("n hexadecimal", "{\"a\":0x10}"),
    ("n underscore in a number", "{\"a\":1_000}"),
    ("n full-width digit", "{\"a\":\u{ff11}}"),
    ("n true in capitals", "{\"a\":TRUE}"),
    ("n half of null", "{\"a\":nul}"),
    ("n undefined", "{\"a\":undefined}"),
    ("n open string", "{\"a\":\"x}"),
    ("n backslash at the end", "{\"a\":\"\\"),
    ("n escape that is none", "{\"a\":\"\\x41\"}"),
    ("n escaped apostrophe", "{\"a\":\"\\'\"}"),
    ("n half an escape", "{\"a\":\"\\u12\"}"),
    ("n escape of no hex", "{\"a\":\"\\u00zz\"}"),
    ("n capital escape", "{\"a\":\"\\U0041\"}"),
    ("n control character", "{\"a\":\"\u{1}\"}"),
    ("n newline in a string", "{\"a\":\"x\ny\"}"),
    ("n tab in a string", "{\"a\":\"x\ty\"}"),
    ("n NUL in a string", "{\"a\":\"x\0y\"}"),
    ("n NUL behind it", "{\"a\":1}\0"),
    ("n form feed as white space", "{\u{c}\"a\":1}"),
    ("n no-break space as white space", "{\u{a0}\"a\":1}"),
    ("n byte order mark", "\u{feff}{\"a\":1}"),
    ("n text", "hello"),
    ("n XML", "<?xml version=\"1.0\"?><a>1</a>"),
    ("n form", "address=0x0&ts=1&sig=0x0"),
    ("y empty object", "{}"),
    ("y array", "[]"),
    ("y null", "null"),
    ("y string", "\"a\""),
    ("y number", "1"),
    ("y true", "true"),
    ("y minus zero", "{\"a\":-0}"),
    ("y minus zero with a fraction", "{\"a\":-0.0}"),
    ("y white space everywhere", " {\r\n\t\"a\" : [ 1 , 2 ] } \n"),
    ("y escaped NUL", "{\"a\":\"\\u0000\"}"),
    ("y escaped name", "{\"\\u0061\":1}"),
    ("y surrogate pair", "{\"a\":\"\\ud83d\\ude00\"}"),
    ("y line separator", "{\"a\":\"\u{2028}\"}"),
    ("y not a character", "{\"a\":\"\u{ffff}\"}"),
    ("y empty name", "{\"\":1}"),
    ("y prototype", "{\"__proto__\":{\"admin\":true},\"constructor\":1}"),
    ("y envelope of wrong types", "{\"address\":1,\"ts\":\"x\",\"sig\":[]}"),
    ("y envelope of nulls", "{\"address\":null,\"ts\":null,\"sig\":null}"),
    ("i the same name twice", "{\"a\":1,\"a\":2}"),
    ("i the same name twice, once escaped", "{\"a\":1,\"\\u0061\":2}"),
    ("i the envelope twice", "{\"address\":\"0x0\",\"address\":\"0x1\",\"ts\":1,\"sig\":\"0x0\"}"),
    ("i lone high surrogate", "{\"a\":\"\\ud800\"}"),
    ("i lone low surrogate", "{\"a\":\"\\udc00\"}"),
    ("i surrogates the wrong way round", "{\"a\":\"\\ude00\\ud83d\"}"),
    ("i lone surrogate as a name", "{\"\\udfff\":1}"),
    ("i 1e400", "{\"a\":1e400}"),
    ("i minus 1e400", "{\"a\":-1e400}"),
    ("i 1e-400", "{\"a\":1e-400}"),
    ("i exponent beyond 64 bits", "{\"a\":1e99999999999999999999}"),
    ("i integer beyond 53 bits", "{\"a\":9007199254740993}"),
    ("i integer beyond 64 bits", "{\"a\":18446744073709551616}"),
    ("i minus beyond 64 bits", "{\"a\":-9223372036854775809}"),
    ("i ts beyond 64 bits", "{\"address\":\"0x0\",\"ts\":99999999999999999999,\"sig\":\"0x0\"}"),
];

pub fn list() -> Vec<(String, Vec<u8>)> {
    let texts = TEXTS.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
    let bytes = [
        ("n lone continuation byte", b"{\"a\":\"\x80\"}".to_vec()),
        ("n byte that is never UTF-8", b"{\"a\":\"\xff\"}".to_vec()),
        ("n overlong slash", b"{\"a\":\"\xc0\xaf\"}".to_vec()),
        ("n surrogate in UTF-8", b"{\"a\":\"\xed\xa0\x80\"}".to_vec()),
        ("n beyond Unicode", b"{\"a\":\"\xf4\x90\x80\x80\"}".to_vec()),
        ("n half a character", b"{\"a\":\"\xe2\x82\"}".to_vec()),
        ("n no UTF-8 in a name", b"{\"\xff\":1}".to_vec()),
        ("n half a byte order mark", b"\xef\xbb{}".to_vec()),
        ("n UTF-16 little endian", "{\"a\":1}".encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("n UTF-16 big endian with a mark", "\u{feff}{\"a\":1}".encode_utf16().flat_map(u16::to_be_bytes).collect()),
        ("n gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xae\x05\x00".to_vec()),
        ("n random", (0..1000_u32).map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect()),
        ("n a hundred thousand open arrays", b"[".repeat(100_000)),
        ("n forty thousand open objects", b"{\"a\":".repeat(40_000)),
        ("y a hundred thousand arrays", [b"[".repeat(100_000), b"]".repeat(100_000)].concat()),
        ("y thirty thousand objects", [b"{\"a\":".repeat(30_000), b"1".to_vec(), b"}".repeat(30_000)].concat()),
        (
            "y beside an envelope, deep",
            [b"{\"sig\":\"0x0\",\"a\":".to_vec(), b"[".repeat(9_000), b"]".repeat(9_000), b"}".to_vec()].concat(),
        ),
        ("y long number", [b"{\"a\":", &b"9".repeat(200_000)[..], b"}"].concat()),
        ("y long fraction", [b"{\"a\":0.", &b"3".repeat(200_000)[..], b"}"].concat()),
        ("y long name", [b"{\"", &b"a".repeat(200_000)[..], b"\":1}"].concat()),
        ("y long string", [b"{\"a\":\"", &b"a".repeat(200_000)[..], b"\"}"].concat()),
        ("y many escapes", [b"{\"a\":\"", &b"\\u0041".repeat(40_000)[..], b"\"}"].concat()),
        ("y many names", many_names()),
        ("y larger than any body", b" ".repeat(300_000)),
    ];
    texts.chain(bytes.map(|(name, bytes)| (name.to_owned(), bytes))).collect()
}

/// Names that collide in a hash table without a secret seed take quadratic time.
fn many_names() -> Vec<u8> {
    let members: Vec<String> = (0..20_000).map(|number| format!("\"{number}\":0")).collect();
    format!("{{{}}}", members.join(",")).into_bytes()
}

pub fn request(method: &str, path: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len(),
    );
    [head.as_bytes(), body].concat()
}

/// Each round sends the next body, except the one that is too large, which gets another status.
pub fn bodies(gateway: SocketAddr) -> BoxFuture<'static, Vec<u8>> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let list = list();
    let (_, body) = &list[NEXT.fetch_add(1, Relaxed) % (list.len() - 1)];
    let request = request("POST", "/api/forum/threads", body);
    Box::pin(async move { ask(gateway, &request).await })
}
