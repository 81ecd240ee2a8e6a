//! "Check an agent" of README.md, typed as it is written.

use super::{Site, program, repository, services, serving, xtask};
use gateway_tests::process::{LIMIT, clean};
use plugin_testing::TestGateway;

const PAGE: &str = include_str!("../../../../README.md");
/// In the commands: where a gateway of `cargo xtask dev` listens, and its chain where that port is free.
const BASE_URL: &str = "http://127.0.0.1:8080";
const CHAIN: &str = "http://127.0.0.1:8545";
const FORGED: Option<i32> = Some(1);

/// The commands below the heading, without the comments behind them.
fn commands() -> Vec<&'static str> {
    let chapter = PAGE.split("## Check an agent\n").nth(1).unwrap();
    let block = chapter.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    block.lines().map(|line| line.split("  #").next().unwrap_or(line).trim_end()).collect()
}

/// Exit code and what a line prints in the folder of the repository.
fn types(line: &str) -> (Option<i32>, String) {
    let output = clean("sh").args(["-euc", line]).current_dir(repository()).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(printed).unwrap())
}

#[tokio::test]
async fn a_stranger_checks_an_agent_as_the_readme_says() {
    xtask(&["dev", "--", "--help"]);
    let scripts = tempfile::tempdir().unwrap();
    let mut gateway = serving(program(scripts.path(), &repository(), "cargo xtask dev --block-time 1")).await;
    let site = Site::of(&gateway);
    let is_issued = async || site.get("/api/cv/1/credential.json").await.status == 200;
    TestGateway::eventually(LIMIT, "the record of the first agent is issued", is_issued).await;
    let signer = site.get("/api/health").await.json()["signer"].as_str().unwrap().to_owned();
    let chain = services(&site).await["rpc"]["url"].as_str().unwrap().to_owned();
    let typed = |line: &str| {
        types(&line.replace(BASE_URL, gateway.base_url()).replace(CHAIN, &chain).replace("SIGNER", &signer))
    };
    let [health, fetch, verify, forge] = commands()[..] else {
        panic!("other commands than these four: adapt this test")
    };
    assert!(typed(health).1.contains(&format!("\"signer\":\"{signer}\"")), "{health}");
    assert_eq!(typed(fetch), (Some(0), String::new()));
    let (code, table) = typed(verify);
    assert!(code == Some(0) && table.ends_with("\nvalid\n"), "{code:?} {table}");
    let (code, table) = typed(forge);
    assert!(code == FORGED && table.ends_with("\nFORGED\n"), "{code:?} {table}");
    assert!(table.contains("FORGED       2 documentHash"), "{table}");
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
}
