//! Transactions one after the other: every result and every state is the same on both.

use super::{Answer, Server, answer, forum, kind_of, one, random::Random, seeds, statements};
use gateway_storage::{CommitStatement, Isolation, Scope, StorageError};
use plugin_api::sql;

const SCRIPTS: u64 = 40;
const TRANSACTIONS: u64 = 12;

/// What one script showed.
#[derive(Debug, PartialEq, Eq)]
enum Shown {
    Statement(String, Answer),
    Commit(String),
    /// What the other client sees.
    Committed(Vec<String>),
}

async fn run(server: &Server, seed: u64) -> Vec<Shown> {
    let mut random = Random::new(seed);
    let mut shown = Vec::new();
    for _ in 0..TRANSACTIONS {
        let is_host = random.below(2) == 0;
        let isolation = if random.below(2) == 0 { Isolation::Serializable } else { Isolation::PluginLock };
        let scope = if is_host { Scope::Host } else { forum(isolation) };
        let transaction = server.client.begin(scope);
        let mut has_failed = false;
        for _ in 0..=random.below(4) {
            let scripted = statements::any(&mut random);
            if has_failed || (scripted.is_host_only && !is_host) {
                continue;
            }
            let text = format!("{:?}", scripted.statement);
            let result = one(transaction.run(vec![scripted.statement]).await);
            has_failed = result.is_err();
            shown.push(Shown::Statement(text, answer(&result, scripted.is_ordered)));
        }
        // Nothing of it is to be seen before its commit.
        shown.push(Shown::Committed(server.committed().await));
        if random.below(4) == 0 {
            transaction.rollback().await;
        } else {
            let ended = transaction.commit(conditions(&mut random)).await;
            shown.push(Shown::Commit(end_text(ended.map(drop))));
        }
        shown.push(Shown::Committed(server.committed().await));
    }
    shown
}

fn end_text(ended: Result<(), StorageError>) -> String {
    match ended {
        Ok(()) => "committed".to_owned(),
        Err(StorageError::Rejected(index)) => format!("rejected by {index}"),
        Err(error) => kind_of(&error).to_owned(),
    }
}

/// What the gateway itself runs with a commit: statements that refuse it.
fn conditions(random: &mut Random) -> Vec<CommitStatement> {
    let id = random.number(4) + 1;
    match random.below(4) {
        0 => vec![CommitStatement::expecting_row(sql("SELECT 1 FROM forum_items WHERE id = $1").bind(id).into())],
        1 => {
            let note = "INSERT INTO forum_log (item, text) SELECT $1, CASE WHEN NOT EXISTS (SELECT 1 FROM forum_log WHERE item = $1) \
                THEN 'first' ELSE CAST(1 / (random() * 0) AS TEXT) END";
            let change = CommitStatement::new(sql("INSERT INTO host_changes (owner) VALUES ($1)").bind("forum").into());
            vec![change, CommitStatement::dividing(sql(note).bind(id).into())]
        }
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn transactions_one_after_the_other_do_the_same_as_on_the_real_server() {
    for seed in seeds(SCRIPTS) {
        let (simulated, real) = (Server::simulated(seed).await, Server::real().await);
        let (of_simulated, of_real) = (run(&simulated, seed).await, run(&real, seed).await);
        for (step, (simulated, real)) in of_simulated.iter().zip(&of_real).enumerate() {
            assert_eq!(simulated, real, "step {step} of SIMULATED_POSTGRES_SEED={seed}");
        }
        assert_eq!(of_simulated.len(), of_real.len(), "SIMULATED_POSTGRES_SEED={seed}");
        simulated.close().await;
        real.close().await;
    }
}
