//! `gateway tx list`: the transactions of the running gateway, by its operator's listener.

use super::admin_client::admin_client;
use super::exit::{failure, printed};
use super::operate::refusal;
use super::runtime::with_runtime;
use crate::arguments::TransactionList;
use crate::exit_code::ExitCode;
use crate::output::{Output, aligned, printable};
use gateway_config::Overrides;
use jiff::Timestamp;
use plugin_api::manifest::TxState;
use serde::Deserialize as _;
use serde_json::Value;

const COLUMNS: usize = 9;
const HEADINGS: [&str; COLUMNS] = ["ID", "STATE", "PLUGIN", "ROLE", "CHAIN", "RECORDED", "HASH", "KEY", "REASON"];

pub(crate) fn run(output: Output, list: &TransactionList, overrides: &Overrides) -> ExitCode {
    let client = match admin_client(list.listener.admin.as_deref(), overrides) {
        Ok(client) => client,
        Err(code) => return code,
    };
    let path = if list.all { "/transactions?all" } else { "/transactions" };
    let answer = match with_runtime(client.get(path)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return failure(ExitCode::Failure, &error),
        Err(code) => return code,
    };
    let Some(transactions) = answer.body.as_array().filter(|_| answer.status.is_success()) else {
        return failure(ExitCode::Failure, &refusal(answer.status.as_u16(), &answer.body));
    };
    // A reason beside a state that is not final is what holds it up.
    let is_held_up = |one: &Value| !one["reason"].is_null() && !is_finished(one);
    let code = if transactions.iter().any(is_held_up) { ExitCode::Failure } else { ExitCode::Ok };
    printed(output.print(&answer.body, |_| text(transactions)), code)
}

fn is_finished(transaction: &Value) -> bool {
    TxState::deserialize(&transaction["state"]).is_ok_and(TxState::is_finished)
}

fn text(transactions: &[Value]) -> String {
    if transactions.is_empty() {
        return "no transactions".to_owned();
    }
    aligned(HEADINGS.map(str::to_owned), transactions.iter().map(cells)).trim_end().to_owned()
}

fn cells(transaction: &Value) -> [String; COLUMNS] {
    let word = |member: &str| printable(transaction[member].as_str().unwrap_or("-"));
    let recorded = transaction["createdMs"].as_i64().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    [
        transaction["id"].to_string(),
        word("state"),
        word("plugin"),
        word("role"),
        word("chain"),
        recorded.map_or_else(|| "-".to_owned(), |time| time.strftime("%F %T").to_string()),
        word("hash"),
        word("key"),
        printable(transaction["reason"].as_str().unwrap_or_default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_aligned_line_per_transaction() {
        let waiting = json!({ "id": 12, "plugin": "payin", "role": "payin", "key": "quote:7\u{1b}[2J", "chain": "main",
            "state": "queued", "reason": "the balance is too low", "nonce": null, "hash": null, "createdMs": 0 });
        let text = text(&[waiting]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        let expected = ["12", "queued", "payin", "payin", "main", "1970-01-01 00:00:00", "-"];
        for (heading, cell) in HEADINGS.iter().zip(expected) {
            let column = lines[0].find(heading).unwrap_or_default();
            assert!(lines[1][column..].starts_with(cell), "{heading}: {text}");
        }
        assert!(lines[1].ends_with("the balance is too low") && !text.contains('\u{1b}'), "{text}");
        assert_eq!(super::text(&[]), "no transactions");
    }
}
