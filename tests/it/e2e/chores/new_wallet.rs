//! "A new wallet" of README.md, as it is written there.

use super::{Site, node, program, repository, run, serving, xtask};
use gateway_tests::process::LIMIT;
use plugin_testing::TestGateway;

const PAGE: &str = include_str!("../../../../README.md");

/// What the chapter says that each step prints, up to the first value that differs from run to run.
fn promised() -> Vec<&'static str> {
    let chapter = PAGE.split("## A new wallet\n").nth(1).unwrap();
    let block = chapter.split("```\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    block.lines().map(|line| line.split("0x…").next().unwrap_or(line)).collect()
}

#[tokio::test]
async fn a_wallet_with_nothing_comes_in_and_hears_what_happens_to_it() {
    xtask(&["dev", "--", "--help"]);
    let scripts = tempfile::tempdir().unwrap();
    let mut gateway = serving(program(scripts.path(), &repository(), "cargo xtask dev --block-time 1")).await;
    let site = Site::of(&gateway);
    let is_open = async || site.get("/api/faucet").await.json()["enabled"] == true;
    TestGateway::eventually(LIMIT, "the faucet knows its balance", is_open).await;
    let printed = run(node("new_wallet.mjs"), &[gateway.base_url()]).await;
    let printed: Vec<&str> = printed.lines().collect();
    let promised = promised();
    assert_eq!(printed.len(), promised.len(), "{printed:?}");
    for (line, start) in printed.iter().zip(&promised) {
        let start = start.split("  ").next().unwrap().trim_end();
        assert!(line.starts_with(start), "{line} instead of {start}");
    }
    let value = |start: &str| printed.iter().find_map(|line| line.strip_prefix(start)).unwrap();
    let account = value("account: ");
    let accounts = site.get(&format!("/api/accounts?address={account}")).await.text();
    assert!(accounts.to_lowercase().contains(&account.to_lowercase()), "{accounts}");
    assert_eq!(value("heard: ").split(", from ").nth(1), Some(account), "the account pays the wallet");
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
}
