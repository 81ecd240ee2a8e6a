//! Finds references to payloads in stored texts: see [`super::Definition::references_payloads`].

use super::{Hash256, HostError, Query, format, sql};
use std::collections::BTreeSet;

/// Returns those `candidates` that the texts of a table mention. `page` selects them page by page.
pub async fn referenced_payloads(
    db: &impl Query,
    candidates: &BTreeSet<Hash256>,
    page: &'static str,
) -> Result<BTreeSet<Hash256>, HostError> {
    let mut referenced = BTreeSet::new();
    let mut after = 0;
    // The pruning job calls with no candidates to learn which plugins respond: that reads nothing.
    while referenced.len() < candidates.len() {
        let outcome = db.run(sql(page).bind(after)).await?;
        let rows: Vec<(i64, &str)> = outcome.all()?;
        let Some((last, _)) = rows.last() else { break };
        after = *last;
        let hashes = rows.iter().flat_map(|(_, text)| format::payload_hashes(text));
        referenced.extend(hashes.filter(|hash| candidates.contains(hash)));
    }
    Ok(referenced)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;
    use crate::{
        Sql,
        abi::{Cell, RowsBuilder, StatementResult, Value},
    };
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Poll, Waker},
    };

    /// A table of texts with the keys 1, 2, …, in pages of one row.
    struct Texts(Vec<String>);

    impl Query for Texts {
        async fn run(&self, statement: Sql) -> Result<StatementResult, HostError> {
            let Some(Value::Int(after)) = statement.0.params.first() else { panic!("the key is bound") };
            let mut rows = RowsBuilder::new(["id", "text"].into_iter());
            if let Some(text) = self.0.get(usize::try_from(*after).unwrap()) {
                rows.cell(Cell::Int(after + 1));
                rows.cell(Cell::Text(text));
                rows.end_row();
            }
            Ok(StatementResult { rows: rows.finish(), changes: 0 })
        }
    }

    fn hash(byte: u8) -> Hash256 {
        Hash256([byte; 32])
    }

    fn referenced(texts: &[String], candidates: &[Hash256]) -> Vec<Hash256> {
        let (texts, candidates) = (Texts(texts.to_vec()), candidates.iter().copied().collect());
        let found = pin!(referenced_payloads(&texts, &candidates, "SELECT …"));
        match found.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(found) => found.unwrap().into_iter().collect(),
            Poll::Pending => panic!("nothing here waits"),
        }
    }

    #[test]
    fn every_page_is_read_and_only_candidates_are_returned() {
        let texts = [String::new(), format!("{} {}", hash(1), hash(9)), "words".to_owned(), hash(2).to_string()];
        assert_eq!(referenced(&texts, &[hash(1), hash(2), hash(3)]), [hash(1), hash(2)]);
        for (texts, candidates) in [(&texts[..], &[hash(3)][..]), (&[], &[hash(1)]), (&texts, &[])] {
            assert!(referenced(texts, candidates).is_empty());
        }
    }
}
