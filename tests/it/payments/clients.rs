//! The official clients of x402 and A2A, unmodified, buy from real agents. Each script of `tests/clients` pays with a wallet of its own.

use super::{FMX, Market, PRICE, Till, until, wei};
use crate::e2e::{node, python, run};
use futures_util::future::join_all;
use gateway_tests::process::LIMIT;
use plugin_testing::Value;
use std::{path::Path, process::Stdio};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

/// Names of the first two agents of `tests/devnet/agents.mjs`, as they stand in paths.
const FREE: &str = "echo";
const PRICED: &str = "paid-echo";
const REQUEST_JOB: &str = "requestJob(uint256 agentId, bytes32 inputHash, string inputURI)";

/// Each with the test key that pays, and how many vouchers it uses.
const CLIENTS: [(&str, &str, usize); 6] = [
    ("paid_call.mjs", "user2", 4),
    ("paid_call.py", "user3", 3),
    ("facilitator.mjs", "user4", 3),
    ("a2a.mjs", "user5", 1),
    ("a2a_client.py", "user6", 1),
    ("browser/paid_call.mjs", "user9", 2),
];

/// The agents that `cargo xtask dev` has, too. They end with the value.
pub struct Agents {
    _program: Child,
    owner: String,
}

impl Agents {
    pub async fn start(market: &mut Market) -> Self {
        let mut node = Command::new("node");
        node.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("devnet/agents.mjs")).arg("--devnet");
        node.arg(market.devnet.file()).args(["--port", "0", "--agents", "2", "--with-parent"]);
        let mut program = node.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let line = tokio::time::timeout(LIMIT, lines.next_line()).await.unwrap().unwrap();
        let agents: Value = serde_json::from_str(&line.expect("it says which agents there are")).unwrap();
        let agents = agents["agents"].as_array().unwrap();
        let endpoint = agents[0]["endpoint"].as_str().unwrap();
        market.allow(endpoint.split('/').nth(2).unwrap().to_owned());
        Self { _program: program, owner: agents[0]["owner"].as_str().unwrap().to_owned() }
    }
}

/// What a script prints.
async fn told(market: &Market, till: &Till, owner: &str, (script, payer, _): (&str, &str, usize)) -> Value {
    let (base_url, key) = (till.gateway.base_url(), market.devnet.key(payer).unwrap().private_key.as_str());
    let rest: &[&str] = match script {
        "facilitator.mjs" => &[owner],
        "paid_call.py" => &[PRICED, FREE, owner],
        "paid_call.mjs" | "browser/paid_call.mjs" => &[PRICED, FREE],
        // The job that is requested below.
        _ => &[PRICED, FREE, FREE, "1"],
    };
    let client = if script.ends_with(".py") { python(script) } else { node(script) };
    let printed = run(client, &[&[base_url, key], rest].concat()).await;
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{script}: {error}: {printed}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_clients_pay_agents_and_their_vouchers_settle() {
    let mut market = Market::open(&[]).await;
    let agents = Agents::start(&mut market).await;
    for (_, payer, _) in CLIENTS {
        market.deposit(payer, FMX).await;
    }
    let input = format!("0x{:064x}", 7);
    market.send("user7", "escrow", REQUEST_JOB, &["1", &input, "fmx://payload/in"], FMX).await;
    let mut paid = 0;
    for till in market.tills(|setup| setup.set("plugins.x402.batch_s", 1)).await {
        till.knows_price_of(2).await;
        let told = join_all(CLIENTS.map(|client| told(&market, &till, &agents.owner, client))).await;
        for (told, (script, payer, vouchers)) in told.iter().zip(CLIENTS) {
            assert_eq!(told["payer"], market.account(payer), "{script}: {told}");
            assert_vouchers(&market, &till, &agents.owner, payer, vouchers).await;
        }
        assert_calls(&told[0]);
        assert_calls(&told[1]);
        assert_calls(&told[5]);
        assert_ne!(told[5]["origin"], till.gateway.base_url(), "a page of another origin pays");
        assert_jobs(&told[3]);
        assert_jobs(&told[4]);
        paid += 1;
        for (script, payer, vouchers) in CLIENTS {
            let spent = paid * u128::try_from(vouchers).unwrap() * PRICE;
            let is_paid = async || market.balance(payer).await == wei(FMX - spent);
            until(&format!("the vouchers of {script} are settled"), is_paid).await;
        }
    }
}

/// The gateway has taken so many vouchers of a payer, each over the price, for the agents' owner.
async fn assert_vouchers(market: &Market, till: &Till, owner: &str, payer: &str, count: usize) {
    let account = till.account(market.account(payer)).await;
    let vouchers = account["vouchers"].as_array().unwrap();
    let is_over_price = |voucher: &&Value| voucher["amount"] == PRICE.to_string().as_str() && voucher["payee"] == owner;
    let taken = ["queued", "submitted", "settled"];
    let is_taken = |voucher: &&Value| taken.contains(&voucher["status"].as_str().unwrap());
    assert_eq!(vouchers.iter().filter(is_over_price).filter(is_taken).count(), count, "{account}");
    assert_eq!(vouchers.len(), count, "{account}");
}

/// The agent was told who paid, with the voucher that the client signed.
fn assert_calls(told: &Value) {
    let calls = told["calls"].as_array().unwrap();
    let (paid, free): (Vec<&Value>, Vec<&Value>) = calls.iter().partition(|call| call["payment"].is_object());
    assert!(paid.len() >= 2 && !free.is_empty(), "{told}");
    for call in paid {
        assert_eq!(call["answer"]["payer"], told["payer"], "{call}");
        assert!(call["answer"]["nonce"].is_string(), "{call}");
        assert_eq!(call["answer"]["echo"]["text"], "Grüße, 世界", "{call}");
    }
    assert!(free.iter().all(|call| call["answer"]["payer"].is_null()), "{told}");
}

/// Nobody pays for the work of a job again.
fn assert_jobs(told: &Value) {
    assert_eq!(told["job"]["sent"]["id"], "job-1", "{told}");
    assert_eq!(told["job"]["read"]["id"], "job-1", "{told}");
    assert!(told["unpaid"].as_str().unwrap().contains("402"), "{told}");
}
