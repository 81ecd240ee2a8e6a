//! Transactions one after the other: every result and every state is the same on both.

use super::{Answer, Server, answer, forum, kind_of, one, random::Random, rows_of, seeds, statements};
use gateway_storage::{CommitStatement, Isolation, Scope, StorageError};
use plugin_api::sql;

const SCRIPTS: u64 = 40;
const TRANSACTIONS: u64 = 12;

/// What is compared of a script.
#[derive(Debug, PartialEq, Eq)]
enum ScriptStep {
    Statement(String, Answer),
    Commit(String),
    /// What the other client sees.
    Committed(Vec<String>),
}

async fn run(server: &Server, seed: u64) -> Vec<ScriptStep> {
    let mut random = Random::new(seed);
    let mut steps = Vec::new();
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
            steps.push(ScriptStep::Statement(text, answer(&result, scripted.is_ordered)));
        }
        // Nothing of it is to be seen before its commit.
        steps.push(ScriptStep::Committed(server.committed().await));
        if random.below(4) == 0 {
            transaction.rollback().await;
        } else {
            let ended = transaction.commit(conditions(&mut random)).await;
            steps.push(ScriptStep::Commit(end_text(ended.map(drop))));
        }
        steps.push(ScriptStep::Committed(server.committed().await));
    }
    steps
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

/// COMMIT travels with the last statements. When the server refuses one of them it skips the COMMIT too, and the transaction stays open
/// until the gateway rolls it back, which it has done by the time of the answer.
#[tokio::test]
async fn a_commit_that_is_skipped_is_rolled_back() {
    for server in [Server::simulated(1).await, Server::real().await] {
        let insert = |id: i64| sql("INSERT INTO forum_items (id, kind, n) VALUES ($1, 'a', 1)").bind(id);
        server.client.execute(insert(1)).await.unwrap();
        for (isolation, id) in [(Isolation::Serializable, 2), (Isolation::PluginLock, 3)] {
            let refused = server.client.begin(forum(isolation));
            refused.run(vec![insert(id).into()]).await.unwrap();
            let last = [insert(1), insert(10)].map(|insert| CommitStatement::new(insert.into())).to_vec();
            let error = refused.commit(last).await.unwrap_err();
            assert!(matches!(error, StorageError::Constraint(_)), "{error:?}");
            assert!(!refused.has_unknown_outcome());
            assert_eq!(open_transactions(&server).await, 0, "simulated: {}", server.simulated.is_some());
            server.client.execute(insert(id)).await.unwrap();
        }
        let rows = server.observer.read(&Scope::Host, sql("SELECT id FROM forum_items ORDER BY id").into()).await;
        assert_eq!(rows_of(&rows.unwrap()), ["1", "2", "3"]);
        server.close().await;
    }
}

/// Of others than the one that asks.
async fn open_transactions(server: &Server) -> usize {
    if server.simulated.is_some() {
        return 0;
    }
    let open =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    server.observer.read(&Scope::Host, sql(open).into()).await.unwrap().cells().unwrap().count()
}
