//! An export as a client reads it. Its root is computed here from the bytes of the lines; the rest is checked by the program that people
//! use, which shares nothing with the plugin.

use super::SIGNER;
use alloy_primitives::{B256, keccak256};
use gateway_audit_verify::{Expected, verify};
use plugin_testing::{TestResponse, Value, Wallet};

pub struct Export {
    pub text: String,
    pub lines: Vec<Value>,
    pub footer: Value,
}

impl Export {
    /// Panics with the reason where something is not as it should be.
    pub fn checked(response: &TestResponse) -> Self {
        let text = response.text();
        assert_eq!(response.header("content-type"), "application/x-ndjson; charset=utf-8");
        assert!(text.ends_with('\n') && !text.contains("\n\n"), "each line ends with one line feed");
        let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let footer = lines.pop().unwrap();
        let signer = Wallet::new(SIGNER).address().to_owned();
        let expected = Expected { signer: Some(signer.parse().unwrap()), agent_id: footer["agentId"].as_u64() };
        let report = verify(&text, &expected).unwrap();
        assert!(report.valid, "{report:#?}\n{text}");
        let root = root_of(&text).to_string();
        assert_eq!(footer["merkleRoot"], root, "{text}");
        assert_eq!(response.header("x-service-merkle-root"), root);
        assert_eq!(response.header("x-service-signer"), signer);
        let signed = if footer["signedLines"] == true { "lines+root" } else { "root" };
        assert_eq!(response.header("x-service-signed"), signed);
        Self { text, lines, footer }
    }

    pub fn kinds(&self) -> Vec<&str> {
        self.lines.iter().map(|line| line["kind"].as_str().unwrap()).collect()
    }

    /// Kind and event or type of each line.
    pub fn names(&self) -> Vec<String> {
        let name = |line: &Value| line["event"].as_str().or(line["type"].as_str()).unwrap_or_default().to_owned();
        self.lines.iter().map(name).collect()
    }
}

/// The lines are canonical, so that the leaf of one is the hash of its bytes; a signature stands at its end.
fn root_of(text: &str) -> B256 {
    let lines: Vec<&str> = text.lines().collect();
    let (_, lines) = lines.split_last().unwrap();
    let unsigned = |line: &&str| match line.split_once(",\"sig\":\"") {
        Some((members, _)) => format!("{members}}}"),
        None => (*line).to_owned(),
    };
    let mut level: Vec<B256> = lines.iter().map(|line| keccak256(unsigned(line))).collect();
    if level.is_empty() {
        return keccak256([]);
    }
    while level.len() > 1 {
        let mut above = Vec::new();
        for pair in level.chunks(2) {
            above.push(keccak256([pair[0].as_slice(), pair[pair.len() - 1].as_slice()].concat()));
        }
        level = above;
    }
    level[0]
}
