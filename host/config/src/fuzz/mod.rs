//! The configuration file: any content results in a configuration or a list of problems, never in a panic.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use crate::{Config, Overrides};
use gateway_fuzz_seeds::Seeds;

const WORDS: &[&str] = &[
    "[http]",
    "[[http]]",
    "[plugins.forum]",
    "[limits]",
    "\n",
    " = ",
    "\"",
    "\"\"\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "#",
    "true",
    "-1",
    "0",
    "1e99",
    "nan",
    "inf",
    "9223372036854775807",
    "99999999999999999999",
    "1979-05-27T07:32:00Z",
    "\\u0000",
    "\u{e9}",
    "listen",
    "enabled",
    "url_file",
    "/",
    "127.0.0.1:0",
    "::/0",
    "http2 = false\n",
    "allow = [\"10.0.0.0/8\"]\n",
];

#[test]
fn configuration() {
    let seeds = Seeds::load(env!("CARGO_MANIFEST_DIR"), "configuration", WORDS);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.toml");
    bolero::check!(name = "configuration").for_each(|input: &[u8]| {
        seeds.run(input, |bytes| {
            std::fs::write(&file, bytes).unwrap();
            match Config::load_from(&Overrides::default(), [], std::slice::from_ref(&file)) {
                Ok(config) => assert_eq!(config.file(), Some(file.as_path())),
                Err(problems) => assert!(problems.iter().all(|problem| !problem.to_string().is_empty())),
            }
        });
    });
}
