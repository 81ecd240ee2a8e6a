//! The tables about chains, accounts and transactions.

use super::{
    html::Html,
    sections::{rows, time},
};
use alloy_primitives::{U256, utils::format_ether};
use gateway_chain::ChainReport;
use gateway_storage::StorageError;
use gateway_tx::{AccountReport, TransactionReport};

/// Writes nothing when no chain is configured.
pub(crate) fn chains(page: &mut Html, chains: &[ChainReport]) {
    if chains.is_empty() {
        return;
    }
    page.table("Chains", &["Chain", "Id", "Block", "Its age", "RPC server", "State", "Its block", "Latency", "Why"]);
    for chain in chains {
        for (place, server) in chain.servers.iter().enumerate() {
            page.raw("<tr><th scope=\"row\">");
            page.text(&chain.name);
            page.raw("</th>");
            if place == 0 {
                page.number_cell(chain.chain_id);
                page.cell(&or_dash(chain.head));
                page.cell(&chain.head_age_s.map_or_else(dash, |age_s| format!("{age_s} s")));
            } else {
                page.raw("<td></td><td></td><td></td>");
            }
            page.cell(&server.url);
            page.raw("<td>");
            page.badge(if server.ok { "good" } else { "bad" }, if server.ok { "ok" } else { "failing" });
            page.raw("</td>");
            page.cell(&or_dash(server.head));
            page.cell(&server.latency_ms.map_or_else(dash, |ms| format!("{ms} ms")));
            page.raw("<td class=\"words\">");
            page.text(server.reason.as_deref().unwrap_or_default());
            page.raw("</td></tr>");
        }
    }
    page.end_table();
}

/// Writes nothing when no key of a role can send.
pub(crate) fn accounts(page: &mut Html, accounts: &[AccountReport]) {
    if accounts.is_empty() {
        return;
    }
    page.table(
        "Sending accounts",
        &["Chain", "Account", "Roles", "Balance (coins)", "Queued", "Pending", "Oldest waits", "Why"],
    );
    for account in accounts {
        page.raw("<tr><th scope=\"row\">");
        page.text(&account.chain);
        page.raw("</th>");
        page.cell(&account.address.to_checksum(None));
        page.cell(&account.roles.join(", "));
        page.cell(&account.balance_wei.as_deref().map_or_else(dash, coins));
        page.number_cell(account.queued);
        page.number_cell(account.pending);
        page.cell(&account.oldest_age_s.map_or_else(dash, |age_s| format!("{age_s} s")));
        page.raw("<td class=\"words\">");
        page.text(account.reason.as_deref().unwrap_or_default());
        page.raw("</td></tr>");
    }
    page.end_table();
}

/// Writes nothing while nothing waits.
pub(crate) fn unfinished(page: &mut Html, transactions: &Result<Vec<TransactionReport>, StorageError>) {
    if transactions.as_ref().is_ok_and(Vec::is_empty) {
        return;
    }
    page.table(
        "Unfinished transactions",
        &["Id", "Plugin", "Key", "Chain", "Role", "To", "Coins", "State", "Nonce", "Hash", "Recorded", "Why"],
    );
    for transaction in rows(page, transactions, 12) {
        page.raw("<tr>");
        page.number_cell(transaction.id);
        page.cell(&transaction.plugin);
        page.raw("<td class=\"words\">");
        page.text(&transaction.key);
        page.raw("</td>");
        page.cell(&transaction.chain);
        page.cell(&transaction.role);
        page.cell(&transaction.to.to_checksum(None));
        page.cell(&coins(&transaction.value_wei));
        page.raw("<td>");
        page.badge(if transaction.reason.is_some() { "bad" } else { "calm" }, transaction.state.name());
        page.raw("</td>");
        page.cell(&transaction.nonce.map_or_else(dash, |nonce| nonce.to_string()));
        page.cell(&transaction.hash.map_or_else(dash, |hash| hash.to_string()));
        page.cell(&time(transaction.created_ms));
        page.raw("<td class=\"words\">");
        page.text(transaction.reason.as_deref().unwrap_or_default());
        page.raw("</td></tr>");
    }
    page.end_table();
}

/// Of 10^18 wei each, without the zeros at the end.
fn coins(wei: &str) -> String {
    let Ok(wei) = U256::from_str_radix(wei, 10) else { return dash() };
    format_ether(wei).trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn or_dash(number: Option<u64>) -> String {
    number.map_or_else(dash, |number| number.to_string())
}

fn dash() -> String {
    "–".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins_are_exact_and_short() {
        let shown = ["0", "1", "1000000000000000000", "1500000000000000000000", "x"].map(coins);
        assert_eq!(shown, ["0", "0.000000000000000001", "1", "1500", "–"]);
    }
}
