//! Two transactions at the same time, step by step in a random order.
//!
//! The real server gets the steps in the order in which the model has finished them: what the model shows, the server shows too, unless
//! one of them refused a transaction for the other's sake. Serialisable transactions are also
//! compared with themselves one after the other, on each server.

use super::{Answer, Server, answer, forum, kind_of, one, random::Random, rows_of, seeds, statements};
use gateway_storage::{Isolation, Scope};
use plugin_api::{abi::Statement, sql};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::mpsc, time::timeout};

const SCRIPTS: u64 = 60;
/// A step that takes longer waits for the other transaction.
const BLOCKED_AFTER: Duration = Duration::from_millis(120);
const END_LIMIT: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Host,
    PluginLock,
    Serializable,
}

#[derive(Clone, Debug)]
struct Script {
    kinds: [Kind; 2],
    /// Rows that are there before.
    first: Vec<Statement>,
    steps: [Vec<Step>; 2],
    /// Whose step comes next.
    order: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Step {
    Run(Statement),
    Commit,
    RollBack,
}

/// What one transaction saw.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TransactionRecord {
    answers: Vec<Answer>,
    is_committed: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct ScriptRecord {
    transactions: [TransactionRecord; 2],
    committed: Vec<String>,
}

/// Whose steps have ended, one after the other.
type Ended = Arc<Mutex<Vec<usize>>>;

impl ScriptRecord {
    fn has_conflict(&self) -> bool {
        let refused = |answer: &Answer| matches!(answer, Answer::Error("conflict" | "busy"));
        self.transactions.iter().any(|record| record.answers.iter().any(refused))
    }
}

fn script(seed: u64) -> Script {
    let mut random = Random::new(seed ^ 0x00c0_ffee);
    let kinds = [Kind::Host, Kind::PluginLock, Kind::Serializable, Kind::Serializable];
    let kinds = match random.below(3) {
        0 => [Kind::Serializable; 2],
        _ => [*random.pick(&kinds), *random.pick(&kinds)],
    };
    let mut order = Vec::new();
    let mut steps = |random: &mut Random, number: usize| {
        let mut steps: Vec<Step> =
            (0..2 + random.below(3)).map(|_| Step::Run(statements::overlapping(random).statement)).collect();
        steps.push(if random.below(5) == 0 { Step::RollBack } else { Step::Commit });
        order.extend(steps.iter().map(|_| number));
        steps
    };
    let steps = [steps(&mut random, 0), steps(&mut random, 1)];
    for index in (1..order.len()).rev() {
        let other = usize::try_from(random.below(u64::try_from(index).unwrap() + 1)).unwrap();
        order.swap(index, other);
    }
    let insert = |id: i64| sql("INSERT INTO forum_items (id, kind, n) VALUES ($1, 'a', $1)").bind(id).into();
    Script { kinds, first: (1..=3).map(insert).collect(), steps, order }
}

async fn run_steps(
    server: Arc<Server>,
    kind: Kind,
    mut steps: mpsc::Receiver<Step>,
    done: mpsc::Sender<()>,
    note_end: impl Fn(),
) -> TransactionRecord {
    let transaction = server.client.begin(match kind {
        Kind::Host => Scope::Host,
        Kind::PluginLock => forum(Isolation::PluginLock),
        Kind::Serializable => forum(Isolation::Serializable),
    });
    let mut record = TransactionRecord { answers: Vec::new(), is_committed: false };
    let mut has_failed = false;
    while let Some(step) = steps.recv().await {
        match step {
            Step::Run(statement) if !has_failed => {
                let result = one(transaction.run(vec![statement]).await);
                has_failed = result.is_err();
                record.answers.push(answer(&result, true));
            }
            Step::Commit if !has_failed => match transaction.commit(Vec::new()).await {
                Ok(_) => record.is_committed = true,
                Err(error) => record.answers.push(Answer::Error(kind_of(&error))),
            },
            Step::RollBack => transaction.rollback().await,
            Step::Run(_) | Step::Commit => {}
        }
        note_end();
        let _ = done.send(()).await;
    }
    record
}

async fn prepare(server: &Server, script: &Script) {
    for statement in &script.first {
        server.client.execute(statement.clone()).await.unwrap();
    }
}

/// Also returns the order in which the steps ended.
async fn run(server: Server, script: &Script, order: &[usize]) -> (ScriptRecord, Vec<usize>) {
    let ended = Ended::default();
    prepare(&server, script).await;
    let server = Arc::new(server);
    let mut transactions = Vec::new();
    for (number, kind) in script.kinds.into_iter().enumerate() {
        let ended = Arc::clone(&ended);
        let note_end = move || ended.lock().unwrap().push(number);
        let (step, steps) = mpsc::channel(16);
        let (done, dones) = mpsc::channel(16);
        let task = tokio::spawn(run_steps(Arc::clone(&server), kind, steps, done, note_end));
        transactions.push((step, dones, task, 0_usize));
    }
    let mut left: Vec<_> = script.steps.iter().map(|steps| steps.iter()).collect();
    for &number in order {
        let (step, _, _, waiting) = &mut transactions[number];
        step.send(left[number].next().unwrap().clone()).await.unwrap();
        *waiting += 1;
        // The other one may have been let go on by this one's last step.
        for (_, dones, _, waiting) in &mut transactions {
            while *waiting > 0 && timeout(BLOCKED_AFTER, dones.recv()).await.is_ok() {
                *waiting -= 1;
            }
        }
    }
    let mut records = Vec::new();
    for (step, mut dones, task, _) in transactions {
        drop(step);
        let drained = tokio::spawn(async move { while dones.recv().await.is_some() {} });
        records.push(timeout(END_LIMIT, task).await.expect("a transaction waits for ever").unwrap());
        drained.await.unwrap();
    }
    let committed = committed(&server).await;
    if let Some(simulated) = &server.simulated {
        assert_eq!(simulated.counts().unexpected, 0, "{script:?}");
    }
    Arc::into_inner(server).expect("the transactions are over").close().await;
    let ended = ended.lock().unwrap().clone();
    (ScriptRecord { transactions: records.try_into().unwrap(), committed }, ended)
}

/// Identities are not compared: a transaction that waited has drawn some in vain.
async fn committed(server: &Server) -> Vec<String> {
    let mut all = Vec::new();
    for sql in [
        "SELECT id, kind, n FROM forum_items ORDER BY id",
        "SELECT item, text FROM forum_log ORDER BY item, text",
        "SELECT kind, row_count FROM forum_items_counts ORDER BY kind",
    ] {
        let rows = server.observer.read(&Scope::Host, plugin_api::sql(sql).into()).await.unwrap();
        all.push(format!("{:?}", rows_of(&rows)));
    }
    all
}

/// What the transactions that were committed do in this order, with nobody else.
async fn one_after_the_other(script: &Script, record: &ScriptRecord, order: [usize; 2]) -> bool {
    let server = Server::simulated(1).await;
    prepare(&server, script).await;
    for number in order {
        if !record.transactions[number].is_committed {
            continue;
        }
        let transaction = server.client.begin(Scope::Host);
        let mut answers = Vec::new();
        for step in &script.steps[number] {
            match step {
                Step::Run(statement) => {
                    let result = one(transaction.run(vec![statement.clone()]).await);
                    answers.push(answer(&result, true));
                    if result.is_err() {
                        return false;
                    }
                }
                Step::Commit => drop(transaction.commit(Vec::new()).await.unwrap()),
                Step::RollBack => unreachable!("it was committed"),
            }
        }
        if answers != record.transactions[number].answers {
            return false;
        }
    }
    committed(&server).await == record.committed
}

async fn assert_serializable(script: &Script, record: &ScriptRecord, whose: &str, seed: u64) {
    let is_serial =
        one_after_the_other(script, record, [0, 1]).await || one_after_the_other(script, record, [1, 0]).await;
    assert!(is_serial, "{whose}, SIMULATED_POSTGRES_SEED={seed}: {record:#?} of {script:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_at_the_same_time_see_what_they_see_on_the_real_server() {
    let (mut compared, mut conflicts) = (0, [0, 0]);
    for seed in seeds(SCRIPTS) {
        let script = script(seed);
        let (simulated, order) = run(Server::simulated(seed).await, &script, &script.order).await;
        let (real, _) = run(Server::real().await, &script, &order).await;
        if script.kinds == [Kind::Serializable; 2] {
            assert_serializable(&script, &simulated, "the model", seed).await;
            assert_serializable(&script, &real, "the server", seed).await;
        }
        conflicts[0] += u32::from(simulated.has_conflict());
        conflicts[1] += u32::from(real.has_conflict());
        if !simulated.has_conflict() && !real.has_conflict() {
            compared += 1;
            assert_eq!(simulated, real, "SIMULATED_POSTGRES_SEED={seed}: {script:#?}");
        }
    }
    println!("{compared} of {SCRIPTS} scripts compared; with conflicts: {conflicts:?} of the model and the server");
    if std::env::var_os("SIMULATED_POSTGRES_SEED").is_none() {
        assert!(compared > SCRIPTS / 3 && conflicts.iter().all(|count| *count > 0), "{compared} {conflicts:?}");
    }
}

/// Each reads the row that the other one changes. Both together would be what no order of the two gives.
#[tokio::test]
async fn of_two_that_read_what_the_other_changes_one_conflicts() {
    for server in [Server::simulated(1).await, Server::real().await] {
        let filled = server.client.begin(forum(Isolation::PluginLock));
        let insert = "INSERT INTO forum_items (id, kind, n) VALUES (1, 'left', 1), (2, 'right', 1)";
        filled.run(vec![sql(insert).into()]).await.unwrap();
        filled.commit(Vec::new()).await.unwrap();
        let [left, right] = [0, 1].map(|_| server.client.begin(forum(Isolation::Serializable)));
        for (transaction, other) in [(&left, 2), (&right, 1)] {
            let read = sql("SELECT n FROM forum_items WHERE id = $1").bind(other);
            let found = transaction.run(vec![read.into()]).await.unwrap();
            assert_eq!(rows_of(&found[0].rows), ["1"]);
        }
        let mut committed = 0;
        for (transaction, own) in [(&left, 1), (&right, 2)] {
            let write = sql("UPDATE forum_items SET n = 0 WHERE id = $1").bind(own);
            // The server may refuse it at the statement already.
            let is_written = transaction.run(vec![write.into()]).await.is_ok();
            let is_committed = is_written && transaction.commit(Vec::new()).await.is_ok();
            assert!(is_committed || transaction.has_conflict(), "nothing else refuses it");
            committed += u32::from(is_committed);
        }
        assert_eq!(committed, 1, "simulated: {}", server.simulated.is_some());
        server.close().await;
    }
}

const ADD: &str = "UPDATE forum_items SET n = n + 1 WHERE id = 1 RETURNING n";
const SET: &str = "UPDATE forum_items SET n = 5 WHERE id = 1";

async fn both() -> [Server; 2] {
    let servers = [Server::simulated(1).await, Server::real().await];
    for server in &servers {
        let insert = "INSERT INTO forum_items (id, kind, n) VALUES (1, 'left', 1)";
        server.client.execute(sql(insert)).await.unwrap();
    }
    servers
}

async fn n(server: &Server) -> Vec<String> {
    let read = sql("SELECT n FROM forum_items WHERE id = 1");
    rows_of(&server.observer.read(&Scope::Host, read.into()).await.unwrap())
}

/// Its own result is the same before and after the other one: only what the other one was told would be wrong.
#[tokio::test]
async fn a_write_waits_for_an_open_one_whose_result_it_would_change() {
    for server in both().await {
        let [first, second] = [0, 1].map(|_| server.client.begin(Scope::Host));
        let added = first.run(vec![sql(ADD).into()]).await.unwrap();
        assert_eq!(rows_of(&added[0].rows), ["2"]);
        let mut set = Box::pin(second.run(vec![sql(SET).into()]));
        assert!(timeout(BLOCKED_AFTER, &mut set).await.is_err(), "simulated: {}", server.simulated.is_some());
        first.commit(Vec::new()).await.unwrap();
        set.await.unwrap();
        second.commit(Vec::new()).await.unwrap();
        assert_eq!(n(&server).await, ["5"]);
        server.close().await;
    }
}

/// The server lets the serialisable one wait and then refuses it, the model refuses it at once.
#[tokio::test]
async fn a_serialisable_write_conflicts_with_an_open_one_whose_result_it_would_change() {
    for server in both().await {
        let added = server.client.begin(Scope::Host);
        added.run(vec![sql(ADD).into()]).await.unwrap();
        let set = server.client.begin(forum(Isolation::Serializable));
        let setting = async {
            set.run(vec![sql(SET).into()]).await?;
            set.commit(Vec::new()).await.map(drop)
        };
        let adding = async {
            tokio::time::sleep(BLOCKED_AFTER).await;
            added.commit(Vec::new()).await
        };
        let (is_set, is_added) = futures_util::future::join(setting, adding).await;
        is_added.unwrap();
        assert!(is_set.is_err() && set.has_conflict(), "simulated: {}", server.simulated.is_some());
        assert_eq!(n(&server).await, ["2"]);
        server.close().await;
    }
}
