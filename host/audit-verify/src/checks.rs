//! What is compared, one function per check.

use super::{
    Expected, NotAnExport,
    document::{Document, Line},
    signature::signer,
};
use alloy_primitives::{Address, B256, keccak256};
use serde::Serialize;
use serde_json::{Map, Value};

/// A check and why it fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub ok: bool,
    /// What was found; the reason where it is not as it should be.
    pub detail: String,
}

/// What an export is worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditReport {
    /// Whether every check holds.
    pub valid: bool,
    pub checks: Vec<Check>,
    pub lines: usize,
    /// As the footer says: worth as much as `checks` say.
    pub agent_id: Value,
    pub owner: Value,
    pub signer: Value,
    pub merkle_root: Value,
    pub truncated: Value,
    /// Plugins whose lines are missing, as the footer says.
    pub missing: Vec<String>,
    /// Whether the signer was compared with one that the reader knows.
    pub is_signer_known: bool,
}

/// Checks everything that an export states.
pub fn verify(file: &str, expected: &Expected) -> Result<AuditReport, NotAnExport> {
    let document = Document::parse(file)?;
    let checks: Vec<Check> = [
        check("lines", is_readable(&document)),
        check("order", is_ordered(&document)),
        check("filter", is_as_filtered(&document)),
        check("root", has_root(&document)),
        check("footer signature", has_footer_signature(&document)),
        check("line signatures", has_line_signatures(&document)),
        check("sources", names_sources(&document)),
        check("expected", is_expected(&document, expected)),
    ]
    .into();
    let said = |member: &str| document.footer.members.get(member).cloned().unwrap_or_default();
    Ok(AuditReport {
        valid: checks.iter().all(|check| check.ok),
        checks,
        lines: document.lines.len(),
        agent_id: said("agentId"),
        owner: said("owner"),
        signer: said("signer"),
        merkle_root: said("merkleRoot"),
        truncated: said("truncated"),
        missing: names(&document.footer, "missing").unwrap_or_default(),
        is_signer_known: expected.signer.is_some(),
    })
}

/// What was found, or why it is wrong.
type CheckResult = Result<String, String>;

fn check(name: &'static str, outcome: CheckResult) -> Check {
    let ok = outcome.is_ok();
    Check { name, ok, detail: outcome.unwrap_or_else(|reason| reason) }
}

/// Each line is an object, numbered from 1, about the agent of the footer and by its signer; there are as many as the footer says.
fn is_readable(Document { lines, footer, problems }: &Document) -> CheckResult {
    if let Some(problem) = problems.first() {
        return Err(format!("{problem}; {} in all", problems.len()));
    }
    if footer.members.get("leaves").and_then(Value::as_u64) != u64::try_from(lines.len()).ok() {
        return Err(format!("there are {} lines, and the footer counts {}", lines.len(), shown(footer, "leaves")));
    }
    for line in lines {
        let number = line.number;
        if line.number_of("seq") != number as u64 {
            return Err(format!("line {number} has the number {}", shown(line, "seq")));
        }
        for member in ["agentId", "signer"] {
            if line.members.get(member).is_none() || line.members.get(member) != footer.members.get(member) {
                return Err(format!("line {number}: {member} is not that of the footer"));
            }
        }
        if !line.members.get("kind").is_some_and(Value::is_string)
            || line.members.get("ts").and_then(Value::as_u64).is_none()
        {
            return Err(format!("line {number} has no kind or no time"));
        }
    }
    Ok(format!("{} lines, numbered and about one agent", lines.len()))
}

/// Time, block, index of the log, kind, number of the record.
fn place(line: &Line) -> (u64, u64, u64, &str, u64) {
    let kind = line.members.get("kind").and_then(Value::as_str).unwrap_or_default();
    let id = line.number_of("activityId").max(line.number_of("deliveryId"));
    (line.number_of("ts"), line.number_of("block"), line.number_of("logIndex"), kind, id)
}

fn is_ordered(document: &Document) -> CheckResult {
    for (line, next) in document.lines.iter().zip(document.lines.iter().skip(1)) {
        let (before, after) = (place(line), place(next));
        // Lines of a kind without numbers may have one place: vouchers of one second.
        let is_repeated = before == after && (before.1 > 0 || before.4 > 0);
        if before > after || is_repeated {
            return Err(format!("line {} does not come after line {}", next.number, line.number));
        }
    }
    Ok("by time, block, log, kind and number".to_owned())
}

/// No line is outside of the bounds that the footer names.
fn is_as_filtered(Document { lines, footer, .. }: &Document) -> CheckResult {
    let none = Map::new();
    let filter = footer.members.get("filter").and_then(Value::as_object).unwrap_or(&none);
    let bound = |name: &str| filter.get(name).and_then(Value::as_u64);
    let is_by_block = bound("fromBlock").is_some() || bound("toBlock").is_some();
    for line in lines {
        let (ts, block, ..) = place(line);
        let is_inside = bound("fromTs").is_none_or(|from| ts >= from)
            && bound("toTs").is_none_or(|to| ts <= to)
            && (!is_by_block || block > 0)
            && bound("fromBlock").is_none_or(|from| block >= from)
            && bound("toBlock").is_none_or(|to| block <= to);
        if !is_inside {
            return Err(format!("line {} is outside of the filter", line.number));
        }
    }
    let limit = footer.number_of("limit");
    if lines.len() as u64 > limit {
        return Err(format!("there are more lines than the limit {limit}"));
    }
    Ok(format!("{} of at most {limit} lines", lines.len()))
}

/// Pairs are hashed together from the leaves up, an odd one with itself.
fn merkle_root(mut level: Vec<B256>) -> B256 {
    if level.is_empty() {
        return keccak256([]);
    }
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| {
                let left = pair.first().copied().unwrap_or_default();
                let right = pair.get(1).copied().unwrap_or(left);
                keccak256([left.as_slice(), right.as_slice()].concat())
            })
            .collect();
    }
    level.first().copied().unwrap_or_default()
}

fn has_root(Document { lines, footer, .. }: &Document) -> CheckResult {
    let root = merkle_root(lines.iter().map(|line| keccak256(line.text.as_bytes())).collect()).to_string();
    match footer.members.get("merkleRoot").and_then(Value::as_str) {
        Some(stated) if stated == root => Ok(root),
        _ => Err(format!("the lines have the root {root}, and the footer says {}", shown(footer, "merkleRoot"))),
    }
}

/// Who the footer says has signed.
fn stated_signer(footer: &Line) -> Result<Address, String> {
    let text = footer.members.get("signer").and_then(Value::as_str).unwrap_or_default();
    Address::parse_checksummed(text, None).map_err(|_no_address| format!("{text:?} is no checksummed address"))
}

fn is_signed(line: &Line, by: Address) -> Result<(), String> {
    let signature = line.signature.as_ref().and_then(Value::as_str).ok_or("there is no signature")?;
    let signer = signer(&line.text, signature)?;
    if signer == by { Ok(()) } else { Err(format!("{signer} signed, not {by}")) }
}

fn has_footer_signature(Document { footer, .. }: &Document) -> CheckResult {
    let by = stated_signer(footer)?;
    is_signed(footer, by)?;
    Ok(format!("by {by}"))
}

/// With `signedLines` each line is signed; a signature that is there without it must be right, too.
fn has_line_signatures(Document { lines, footer, .. }: &Document) -> CheckResult {
    let all = footer.members.get("signedLines") == Some(&Value::Bool(true));
    let by = stated_signer(footer)?;
    let mut count = 0_usize;
    for line in lines.iter().filter(|line| all || line.signature.is_some()) {
        is_signed(line, by).map_err(|reason| format!("line {}: {reason}", line.number))?;
        count += 1;
    }
    Ok(if all { format!("all {count} lines") } else { "the root covers the lines".to_owned() })
}

/// The names in a list of the footer; none where there is no list.
fn names(footer: &Line, member: &str) -> Result<Vec<String>, String> {
    let Some(listed) = footer.members.get(member) else { return Ok(Vec::new()) };
    serde_json::from_value(listed.clone()).map_err(|_other| format!("{member} is no list of names: {listed}"))
}

/// An export says which plugins it lacks; none is there and missing.
fn names_sources(Document { footer, .. }: &Document) -> CheckResult {
    let (sources, missing) = (names(footer, "sources")?, names(footer, "missing")?);
    if let Some(plugin) = missing.iter().find(|plugin| sources.contains(plugin)) {
        return Err(format!("{plugin} is a source, and missing"));
    }
    match missing.as_slice() {
        [] => Ok(format!("no plugin is missing; {} are there", sources.len())),
        missing => Ok(format!("INCOMPLETE: lines of {} are missing", missing.join(", "))),
    }
}

fn is_expected(Document { footer, .. }: &Document, expected: &Expected) -> CheckResult {
    if let Some(agent) =
        expected.agent_id.filter(|agent| footer.members.get("agentId").and_then(Value::as_u64) != Some(*agent))
    {
        return Err(format!("it is about agent {}, not {agent}", shown(footer, "agentId")));
    }
    let stated = stated_signer(footer)?;
    match expected.signer {
        Some(signer) if signer != stated => Err(format!("it is signed by {stated}, not by {signer}")),
        Some(signer) => Ok(format!("signed by {signer}, as you said")),
        None => Ok(format!("compare {stated} with `signer` of the gateway's /api/health")),
    }
}

/// A member as JSON.
fn shown(line: &Line, member: &str) -> String {
    line.members.get(member).map_or_else(|| "nothing".to_owned(), Value::to_string)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
