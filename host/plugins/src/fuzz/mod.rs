//! The bytes that a plugin passes to the gateway: rows, stamps, manifests. A wrong length must become an error, and
//! bytes are freed exactly once.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use gateway_fuzz_seeds::Seeds;
use plugin_api::{
    abi::{Cell, FfiBytes, MalformedRows, Rows, RowsBuilder, StampFacts},
    manifest::Manifest,
};

const WORDS: &[&str] = &[
    "GWPLUGIN",
    "\0\0\0\0",
    "\u{1}\0\0\0",
    "\u{2}\0\0\0",
    "\u{7f}\0\0\0",
    "\0",
    "\u{1}",
    "\u{2}",
    "\u{3}",
    "\u{4}",
    "id",
    "{",
    "}",
    "[",
    "]",
    "\"name\":",
    "\"routes\":",
    "null",
    "-1",
    "1e99",
    "\"\"",
    ",",
    "\u{e9}",
    "\u{10ffff}",
];

#[test]
fn abi() {
    let seeds = Seeds::load(env!("CARGO_MANIFEST_DIR"), "abi", WORDS);
    bolero::check!(name = "abi").for_each(|input: &[u8]| seeds.run(input, check));
}

fn check(bytes: &[u8]) {
    // Each in an allocation of its own, so that a read beyond the end is detected.
    rows(&Rows::from_buffer(bytes.to_vec()));
    rows(&Rows::from_buffer(FfiBytes::from_owner(bytes.to_vec().into_boxed_slice())));
    if let Some(facts) = StampFacts::read(bytes) {
        assert!(bytes.len() >= 112 && facts.name.len() <= 64 && facts.version.len() <= 32);
    }
    if let Ok(manifest) = serde_json::from_slice::<Manifest>(bytes) {
        let text = serde_json::to_vec(&manifest).unwrap();
        assert!(serde_json::from_slice::<Manifest>(&text).is_ok(), "what was read can be written and read again");
    }
}

/// What can be read can be written again and reads the same.
fn rows(rows: &Rows) {
    let Ok(columns) = rows.columns() else { return };
    let Ok(cells) = rows.cells() else { return };
    let Ok(cells) = cells.take(10_000).collect::<Result<Vec<Cell<'_>>, MalformedRows>>() else { return };
    if columns.is_empty() || cells.len() != columns.len() * rows.row_count() {
        return;
    }
    let mut builder = RowsBuilder::new(columns.iter().copied());
    for row in cells.chunks(columns.len()) {
        row.iter().for_each(|cell| builder.cell(*cell));
        builder.end_row();
    }
    let again = builder.finish();
    assert_eq!(again.columns(), Ok(columns));
    let same: Vec<_> = again.cells().unwrap().map(Result::unwrap).collect();
    // By their text, as NaN is not equal to itself.
    assert_eq!(format!("{same:?}"), format!("{cells:?}"));
}
