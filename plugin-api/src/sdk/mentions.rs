//! Which payloads stored texts mention: the answer to [`super::point::PAYLOAD_REFERENCES`].

use super::{Hash256, HostError, Query, format, sql};
use std::collections::BTreeSet;

/// Those of the payloads `asked` about that the texts of a table mention.
///
/// `page` reads rows `(key, text)` whose integer key is above `$1`, in the order of the keys and with a `LIMIT` that keeps
/// a page to some megabytes, for example `SELECT id, body FROM forum_posts WHERE id > $1 ORDER BY id LIMIT 500`.
pub async fn mentioned_payloads(
    db: &impl Query,
    asked: &BTreeSet<Hash256>,
    page: &'static str,
) -> Result<BTreeSet<Hash256>, HostError> {
    let mut mentioned = BTreeSet::new();
    let mut after = 0;
    // The gateway asks with no payload at all to learn who answers.
    while mentioned.len() < asked.len() {
        let outcome = db.run(sql(page).bind(after)).await?;
        let rows: Vec<(i64, &str)> = outcome.all()?;
        let Some((last, _)) = rows.last() else { break };
        after = *last;
        let hashes = rows.iter().flat_map(|(_, text)| format::payload_hashes(text));
        mentioned.extend(hashes.filter(|hash| asked.contains(hash)));
    }
    Ok(mentioned)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;
    use crate::{
        Sql,
        abi::{Cell, Outcome, RowsBuilder, Value},
    };
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Poll, Waker},
    };

    /// A table of texts with the keys 1, 2, …, read one at a time.
    struct Texts(Vec<String>);

    impl Query for Texts {
        async fn run(&self, statement: Sql) -> Result<Outcome, HostError> {
            let Some(Value::Int(after)) = statement.0.params.first() else { panic!("the key is bound") };
            let mut rows = RowsBuilder::new(["id", "text"].into_iter());
            if let Some(text) = self.0.get(usize::try_from(*after).unwrap()) {
                rows.cell(Cell::Int(after + 1));
                rows.cell(Cell::Text(text));
                rows.end_row();
            }
            Ok(Outcome { rows: rows.finish(), changes: 0 })
        }
    }

    fn hash(byte: u8) -> Hash256 {
        Hash256([byte; 32])
    }

    fn mentioned(texts: &[String], asked: &[Hash256]) -> Vec<Hash256> {
        let (texts, asked) = (Texts(texts.to_vec()), asked.iter().copied().collect());
        let found = pin!(mentioned_payloads(&texts, &asked, "SELECT …"));
        match found.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(found) => found.unwrap().into_iter().collect(),
            Poll::Pending => panic!("nothing here waits"),
        }
    }

    #[test]
    fn every_page_is_read_and_only_what_was_asked_about_is_answered() {
        let texts = [String::new(), format!("{} {}", hash(1), hash(9)), "words".to_owned(), hash(2).to_string()];
        assert_eq!(mentioned(&texts, &[hash(1), hash(2), hash(3)]), [hash(1), hash(2)]);
        for (texts, asked) in [(&texts[..], &[hash(3)][..]), (&[], &[hash(1)]), (&texts, &[])] {
            assert!(mentioned(texts, asked).is_empty());
        }
    }
}
