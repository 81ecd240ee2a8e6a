//! An export: the lines that are shown, their root, and the footer.
//!
//! The rule: an export that does not have all lines ends with a whole second, so that the next one begins with the second behind it and
//! repeats nothing. Only a second with more lines than an export is divided, at a position of the order.

use super::{
    canonical::canonical,
    line::{Common, with_signature},
    next::{Cursor, Next},
    query::{ExportRequest, Filter},
    tree,
};
use plugin_api::{
    Address, AgentId, Hash256, HostError,
    point::{AuditLines, AuditPosition},
};
use serde::Serialize;
use std::collections::BTreeSet;

/// Of all lines together. An answer of the gateway has at most 16 MiB.
const BYTES_MAX: usize = 8 * 1024 * 1024;
/// Kind of the lines that only this plugin has.
const CHAIN: &str = "chain";

const LEAF_HASH: &str = "keccak256(utf8(canonical JSON, RFC 8785, of the line without sig))";
const MERKLE: &str = "leaves in the order of the lines; node = keccak256(left || right), an odd node is paired with itself; empty: keccak256 of no bytes";
const SIGNATURE: &str =
    "EIP-191 personal_sign over the canonical JSON of the footer without sig; of a line: the same over the line";

/// The lines of an export, without signatures.
#[derive(Debug)]
pub struct Draft {
    pub lines: Vec<String>,
    pub root: Hash256,
    /// `None` when there are no more lines.
    next: Option<Next>,
}

impl Draft {
    /// `own` are the lines of the chain, `contributed` those of other plugins.
    pub fn new(
        request: &ExportRequest,
        common: Common,
        own: AuditLines,
        contributed: Vec<AuditLines>,
    ) -> Result<Self, HostError> {
        let is_theirs = |at: &AuditPosition| at.kind != CHAIN && request.selects(at);
        let contributed = contributed.into_iter().map(|mut part| {
            part.lines.retain(|line| is_theirs(&line.at));
            part
        });
        let AuditLines { lines, more } = AuditLines::merge(contributed.chain([own]));
        let places: Vec<AuditPosition> = lines.iter().map(|line| line.at.clone()).collect();
        let (mut texts, mut bytes) = (Vec::new(), 0_usize);
        for (seq, line) in (1..).zip(lines).take(request.limit as usize) {
            let text = common.text(seq, line)?;
            bytes = bytes.saturating_add(text.len());
            if bytes > BYTES_MAX && !texts.is_empty() {
                break;
            }
            texts.push(text);
        }
        let (count, next) = end(request, &places, texts.len(), more);
        texts.truncate(count);
        let leaves = texts.iter().map(|text| Hash256::keccak(text.as_bytes())).collect();
        Ok(Self { lines: texts, root: tree::root(leaves), next })
    }
}

/// How many of the first `fit` lines an export has, and where the next one begins. `more` says that lines may follow the last place.
fn end(request: &ExportRequest, places: &[AuditPosition], fit: usize, more: bool) -> (usize, Option<Next>) {
    let is_by_block = request.filter.from_block.is_some() || request.filter.to_block.is_some();
    let from = |at: &AuditPosition| if is_by_block { at.block } else { at.ts };
    // The first line that is not here; behind the last place others of its second may be missing.
    let Some(boundary) = places.get(fit).or_else(|| places.last().filter(|_| more)) else { return (fit, None) };
    let whole = places.iter().take(fit).filter(|at| at.ts < boundary.ts).count();
    if let Some(first) = places.get(whole).filter(|_| whole > 0) {
        return (whole, Some(Next { from: from(first), after: None }));
    }
    let last = places.get(fit.saturating_sub(1));
    (fit, last.map(|last| Next { from: from(last), after: Some(Cursor(last.clone())) }))
}

/// What the footer says beside root and signature.
pub struct Footer {
    pub agent_id: AgentId,
    pub owner: Address,
    pub signer: Address,
    pub generated_at: i64,
    pub sources: ExportSources,
}

/// Whose lines an export has.
pub struct ExportSources {
    /// The plugins that answered.
    pub answered: BTreeSet<String>,
    /// Those that are on and did not: lines of theirs may be missing.
    pub missing: BTreeSet<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FooterView<'a> {
    merkle_root: Hash256,
    leaves: usize,
    leaf_hash: &'static str,
    merkle: &'static str,
    signature: &'static str,
    signed_lines: bool,
    agent_id: AgentId,
    owner: Address,
    signer: Address,
    /// The gateway's key is kept.
    signer_ephemeral: bool,
    generated_at: i64,
    filter: &'a Filter,
    limit: u32,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a Next>,
    sources: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    missing: &'a BTreeSet<String>,
}

impl Footer {
    /// The footer as canonical JSON, without its signature.
    pub fn text(&self, request: &ExportRequest, draft: &Draft) -> Result<String, HostError> {
        canonical(&FooterView {
            merkle_root: draft.root,
            leaves: draft.lines.len(),
            leaf_hash: LEAF_HASH,
            merkle: MERKLE,
            signature: SIGNATURE,
            signed_lines: request.signs_lines,
            agent_id: self.agent_id,
            owner: self.owner,
            signer: self.signer,
            signer_ephemeral: false,
            generated_at: self.generated_at,
            filter: &request.filter,
            limit: request.limit,
            truncated: draft.next.is_some(),
            next: draft.next.as_ref(),
            sources: &self.sources.answered,
            missing: &self.sources.missing,
        })
    }
}

/// The body of an export.
#[derive(Default)]
pub struct Export(String);

impl Export {
    pub fn push(&mut self, line: &str, signature: Option<&str>) {
        match signature {
            Some(signature) => self.0.push_str(&with_signature(line, signature)),
            None => self.0.push_str(line),
        }
        self.0.push('\n');
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::ExportQuery;
    use plugin_api::point::AuditLine;

    fn request(limit: u32) -> ExportRequest {
        ExportQuery::default().check(limit).unwrap()
    }

    fn lines(at: &[(i64, i64)], more: bool) -> AuditLines {
        let line = |(ts, id): &(i64, i64)| AuditLine::numbered("commons", *ts, *id, [("activityId", (*id).into())]);
        AuditLines { lines: at.iter().map(line).collect(), more }
    }

    fn draft(limit: u32, parts: Vec<AuditLines>) -> Draft {
        let common = Common { agent_id: AgentId(1), signer: Address::ZERO };
        Draft::new(&request(limit), common, AuditLines::default(), parts).unwrap()
    }

    fn next(draft: &Draft) -> Option<(i64, Option<String>)> {
        draft.next.as_ref().map(|next| (next.from, next.after.as_ref().map(ToString::to_string)))
    }

    #[test]
    fn an_export_with_all_lines_has_no_next_one() {
        let all = draft(3, vec![lines(&[(1, 1), (3, 3)], false), lines(&[(2, 2)], false)]);
        assert_eq!((all.lines.len(), next(&all)), (3, None));
        assert_eq!((draft(3, Vec::new()).lines.len(), next(&draft(3, Vec::new()))), (0, None));
    }

    #[test]
    fn an_export_ends_with_a_whole_second() {
        let cut = draft(3, vec![lines(&[(1, 1), (2, 2), (2, 3), (2, 4)], false)]);
        assert_eq!((cut.lines.len(), next(&cut)), (1, Some((2, None))));
        let exact = draft(3, vec![lines(&[(1, 1), (2, 2), (2, 3), (5, 4)], false)]);
        assert_eq!((exact.lines.len(), next(&exact)), (3, Some((5, None))));
    }

    #[test]
    fn a_source_that_goes_on_may_have_others_of_its_last_second() {
        let cut = draft(9, vec![lines(&[(1, 1), (2, 2)], true), lines(&[(2, 1), (7, 9)], false)]);
        assert_eq!((cut.lines.len(), next(&cut)), (1, Some((2, None))));
    }

    #[test]
    fn a_second_with_too_many_lines_is_divided() {
        let cut = draft(2, vec![lines(&[(4, 1), (4, 2), (4, 3)], false)]);
        let after = "4.0.0.commons.0000000000000000002".to_owned();
        assert_eq!((cut.lines.len(), next(&cut)), (2, Some((4, Some(after)))));
    }

    #[test]
    fn nobody_else_has_lines_of_the_chain() {
        let mut forged = lines(&[(1, 1)], false);
        forged.lines[0].at.kind = "chain".to_owned();
        assert!(draft(9, vec![forged]).lines.is_empty());
    }
}
