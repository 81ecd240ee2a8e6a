//! What plugins may ask of a chain.

use super::{builders, close, ledger::Ledger, moved, opened, rules::contribution, started};
use crate::chain::ledger::{BANK, MOVED};
use plugin_api::{
    Address, Hash256, HostError, PluginContext, Wei,
    chain::{ContractCall, EventFilter},
};
use plugin_testing::{Fault, ScriptedChain, Value, json};
use serde::Deserialize;

const OWNER: &str = "ownerOf(uint256 id) view returns (address)";
const ACCOUNT: &str =
    "account(uint256 id, bool withNotes) view returns (address owner, string name, uint64 since, uint256 wei)";

#[derive(Deserialize, serde::Serialize)]
struct Account {
    owner: Address,
    name: String,
    since: u64,
    wei: Wei,
}

/// Makes every request once and returns the responses.
pub async fn ask(gateway: PluginContext<Ledger>, _: Value) -> Result<Value, HostError> {
    let (chain, bank) = (gateway.chain("main"), ScriptedChain::address_of(BANK));
    let head = chain.head().await?;
    let owner: Address = chain.call(ContractCall::new(bank, OWNER).arg("7")?).await?;
    let account = ContractCall::new(bank, ACCOUNT).arg(u64::MAX)?.arg(true)?;
    let unknown = ContractCall::new(bank, "missing() returns (bool)");
    let nobody = ContractCall::new(Address([9; 20]), OWNER).arg(1)?;
    let answers: Vec<Result<Value, HostError>> = chain.calls(vec![account.clone(), unknown, nobody], None).await?;
    let texts = answers.into_iter().map(|answer| answer.unwrap_or_else(|error| error.to_string().into()));
    let typed: Account = chain.call(account).await?;
    let moves = chain.logs::<Value>(EventFilter::new(bank, MOVED), 0, head.number).await?;
    let of = |ids: &[i64]| EventFilter::new(bank, MOVED).any_of("id", ids);
    let filtered = chain.logs::<Value>(of(&[2, 3])?, 0, head.number).await?;
    let misnamed = EventFilter::new(bank, MOVED).any_of("amount", &["11"])?;
    let too_many = of(&[7; 1_001])?;
    let sent = chain.transactions(head.number).await?;
    let elsewhere = gateway.chain("other").head().await.map_err(|error| error.to_string());
    let wrong = ContractCall::new(bank, OWNER).arg("seven")?;
    Ok(json!({
        "head": head.number,
        "finalized": chain.finalized().await?.number,
        "missing": chain.block(head.number + 1).await?.is_none(),
        "same": chain.block(head.number).await? == Some(head),
        "owner": owner,
        "answers": texts.collect::<Vec<_>>(),
        "typed": typed,
        "moves": moves.iter().map(|event| &event.args["amount"]).collect::<Vec<_>>(),
        "filtered": filtered.iter().map(|event| &event.args["amount"]).collect::<Vec<_>>(),
        "misnamed": chain.logs::<Value>(misnamed, 0, head.number).await.map_err(|error| error.to_string()).err(),
        "too_many": chain.logs::<Value>(too_many, 0, head.number).await.map_err(|error| error.to_string()).err(),
        "sent": sent,
        "unmined": chain.transactions(head.number + 1).await?.is_none(),
        "code": [chain.code(bank).await?, chain.code(Address([9; 20])).await?],
        "balance": chain.balance(bank, None).await?,
        "elsewhere": elsewhere.err(),
        "wrong": chain.call::<Value>(wrong).await.map_err(|error| error.to_string()).err(),
    }))
}

/// The owner in the states of two blocks, by their hashes.
pub async fn ask_at(gateway: PluginContext<Ledger>, hashes: [Hash256; 2]) -> Result<Value, HostError> {
    let mut said = Vec::new();
    for hash in hashes {
        let call = ContractCall::new(ScriptedChain::address_of(BANK), OWNER).arg("7")?;
        let answers = gateway.chain("main").calls_at::<Address>(vec![call], hash).await;
        said.push(match answers {
            Ok(None) => json!(null),
            Ok(Some(answers)) => answers.into_iter().map(|owner| json!(owner.ok())).collect(),
            Err(error) => error.to_string().into(),
        });
    }
    Ok(said.into())
}

#[tokio::test]
async fn a_call_in_the_state_of_a_block_fails_when_the_block_is_gone() {
    let chain = ScriptedChain::start().await;
    chain.keep_removed();
    let owner = "0x00000000000000000000000000000000000000AA";
    chain.mock_call(ScriptedChain::address_of(BANK), OWNER, &[json!(owner)]);
    chain.mine_empty(5);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let ask = async |hashes: [Hash256; 2]| -> Value {
            let input = json!(hashes).to_string();
            let answers = gateway.gateway().extension_points.collect("ask_chain_at", input).await;
            serde_json::from_str(answers.first().unwrap().value.get()).unwrap()
        };
        let head = || Hash256(chain.head_hash().unwrap());
        let (before, unknown) = (head(), Hash256([9; 32]));
        assert_eq!(ask([before, unknown]).await, json!([[owner], null]));
        chain.reorg(1);
        chain.mine_empty(2);
        gateway.indexed(&chain).await;
        assert_eq!(ask([before, head()]).await, json!([null, [owner]]), "a server has the removed block still");
        // It does not know a hash when it sees one: what it says of a block that is there is its own error.
        chain.fail_always(Some(Fault::TakesNoHash));
        let said = ask([before, head()]).await;
        assert_eq!(said[0], json!(null));
        assert!(said[1].as_str().unwrap_or_default().contains("cannot unmarshal object"), "{said}");
        chain.fail_always(None);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_plugin_reads_blocks_calls_events_code_and_balances() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1), moved(1, "11"), moved(1, "22"), opened(3), moved(3, "33")]);
    chain.mine_empty(69);
    let sender = Address([5; 20]);
    chain.send_foreign(sender, 0);
    chain.mine_empty(1);
    let bank = ScriptedChain::address_of(BANK);
    let owner = "0x00000000000000000000000000000000000000AA";
    chain.mock_call(bank, OWNER, &[json!(owner)]);
    let largest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    chain.mock_call(bank, ACCOUNT, &[json!(owner), json!("na\u{0}me"), json!(u64::MAX), json!(largest)]);
    chain.set_balance(bank, largest);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let said: Value = serde_json::from_str(&contribution(&gateway, "ask_chain").await).unwrap();
        assert_eq!((&said["head"], &said["finalized"]), (&json!(71), &json!(7)), "{said}");
        assert_eq!((&said["missing"], &said["same"]), (&json!(true), &json!(true)), "{said}");
        assert_eq!(said["owner"], owner);
        let row = json!([owner, "na\u{fffd}me", u64::MAX, largest]);
        assert_eq!(said["answers"][0], row, "numbers up to 64 bits are numbers, larger ones texts");
        assert!(said["answers"][1].as_str().unwrap_or_default().contains("reverted"), "{said}");
        assert!(said["answers"][2].as_str().unwrap_or_default().contains("no such contract"), "{said}");
        assert_eq!((&said["typed"]["name"], &said["typed"]["wei"]), (&json!("na\u{fffd}me"), &json!(largest)));
        assert_eq!(said["moves"], json!(["11", "22", "33"]));
        assert_eq!(said["filtered"], json!(["33"]), "of the accounts 2 and 3");
        assert!(said["misnamed"].as_str().unwrap_or_default().contains("`amount` is no indexed argument"), "{said}");
        assert!(said["too_many"].as_str().unwrap_or_default().contains("1 to 1000 values"), "{said}");
        let sent = &said["sent"]["transactions"];
        assert_eq!((sent.as_array().map(Vec::len), &sent[0]["from"]), (Some(1), &json!(sender)), "{said}");
        assert_eq!((&sent[0]["value"], &said["sent"]["number"]), (&json!("0"), &json!(71)), "{said}");
        assert_eq!(said["unmined"], true);
        assert_eq!(said["code"], json!(["0x6001", "0x"]));
        assert_eq!(said["balance"], largest);
        assert!(
            said["elsewhere"].as_str().unwrap_or_default().contains("does not declare the chain `other`"),
            "{said}"
        );
        assert!(said["wrong"].as_str().unwrap_or_default().contains("ownerOf"), "{said}");
        close(gateway).await;
    }
}
