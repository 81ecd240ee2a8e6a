//! The vectors published with RFC 8785, read where Cargo keeps the source of `serde_json_canonicalizer`, which carries
//! them unchanged: the lock file pins their bytes by its checksum.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::super::strict_json;

fn vectors() -> PathBuf {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["metadata", "--format-version=1", "--locked"]);
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    let canonicalizer = packages.find(|package| package["name"] == "serde_json_canonicalizer").unwrap();
    Path::new(canonicalizer["manifest_path"].as_str().unwrap()).with_file_name("tests/resources")
}

fn canonical(input: &Path) -> String {
    strict_json::parse_document(&fs::read(input).unwrap()).unwrap().into_text()
}

#[test]
fn the_reference_implementations_documents_come_out_byte_for_byte() {
    let folder = vectors().join("testdata");
    for name in ["arrays", "french", "structures", "unicode", "values", "weird"] {
        let text = canonical(&folder.join(format!("input/{name}.json")));
        assert_eq!(text, fs::read_to_string(folder.join(format!("output/{name}.json"))).unwrap(), "{name}");
        let bytes = fs::read_to_string(folder.join(format!("outhex/{name}.txt"))).unwrap();
        assert_eq!(hex::encode(text), bytes.split_whitespace().collect::<String>(), "{name}");
    }
}

#[test]
fn the_examples_in_the_text_of_the_rfc_come_out_byte_for_byte() {
    let folder = vectors();
    for name in ["rfc_example", "rfc_sorting"] {
        let expected = fs::read_to_string(folder.join(format!("{name}.expected.json"))).unwrap();
        assert_eq!(canonical(&folder.join(format!("{name}.input.json"))), expected.trim_end(), "{name}");
    }
}
