//! The operator's page in headless Chromium, driven by `tests/clients/browser/operator_page.mjs`.

use super::{
    answer,
    clients::{clients, node},
    faults, setup,
    site::{Site, in_time},
};
use gateway_tests::{
    fixtures,
    plugins::plugin_file,
    process::{GatewayProcess, LIMIT},
};
use plugin_testing::{ScriptedChain, TestGateway, Wallet, json};
use std::{cell::RefCell, fs, process::Stdio};
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// The numbers of the wallets with the gateway's key, and with the key that pays drips.
const SIGNER: u64 = 900;
const RELAYER: u64 = 901;

/// A gateway with good plugins, one of which follows a chain, and a hostile one that is fenced by now.
async fn start(chain: &ScriptedChain) -> GatewayProcess {
    let hostile = tokio::task::spawn_blocking(fixtures::hostile).await.unwrap().unwrap();
    let setup = setup();
    let folder = setup.folder().join("plugins");
    fs::create_dir(&folder).unwrap();
    let good = ["activity", "agents", "faucet", "forum", "hello", "payin"].map(|name| plugin_file(name).unwrap());
    // Links to those of this build: a copy of the forum would have to be granted its names.
    for file in good.into_iter().chain([hostile]) {
        std::os::unix::fs::symlink(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
    let setup = setup.set("plugins.dir", folder.display()).set("plugins.fence_faults", 3);
    let setup = setup.set("plugins.hostile.grants", "egress").set("plugins.payin.enabled", true);
    let contract = |name| ScriptedChain::address_of(name).to_string();
    let setup = setup
        .set("chains.main.rpc", chain.url())
        .set("chains.main.deploy_block", 1)
        .set("chains.main.contracts.registry", contract("registry"))
        .set("chains.main.contracts.escrow", contract("escrow"))
        .set("signers.gateway.key", Wallet::new(SIGNER).key_text())
        .set("signers.relayer.key", Wallet::new(RELAYER).key_text());
    let gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    assert_eq!(site.get("/api/hello/world").await.status, 200);
    for operation in ["panic_after_await", "panic_in_extractor", "panic_at_once"] {
        for _ in 0..3 {
            assert_eq!(
                answer(site.request(reqwest::Method::GET, &format!("/api/hostile/{operation}"))).await.status,
                500
            );
        }
    }
    let is_fenced = async || faults::operator_sees(&gateway, "/plugins", "hostile").await["state"] == "fenced";
    TestGateway::eventually(LIMIT, "the hostile plugin is fenced", is_fenced).await;
    gateway
}

/// The hash of a transaction that no block takes: its row stays on the page.
async fn drip(gateway: &GatewayProcess) -> String {
    let (site, hash) = (Site::of(gateway), RefCell::default());
    TestGateway::eventually(LIMIT, "the faucet gives", async || {
        let asked = site.request(reqwest::Method::POST, "/api/faucet").header("content-type", "application/json");
        let given = answer(asked.body(json!({ "address": Wallet::new(5).address() }).to_string())).await;
        hash.replace(given.json()["txHash"].as_str().unwrap_or_default().to_owned());
        given.status == 202
    })
    .await;
    hash.take()
}

#[tokio::test]
async fn an_operator_looks_clicks_and_watches() {
    let chain = ScriptedChain::start().await;
    chain.mine_empty(3);
    chain.set_balance(Wallet::new(RELAYER).address().parse().unwrap(), "1000000000000000000000");
    let gateway = start(&chain).await;
    let hash = drip(&gateway).await;
    let listed = gateway.setup().run(&["tx", "list", "--admin", gateway.admin_url()]).unwrap();
    assert!(listed.stdout.contains("faucet") && listed.stdout.contains(&hash), "{listed:?}");
    let picture = gateway.setup().folder().join("page.png");
    let mut command = tokio::process::Command::from(node("browser/operator_page.mjs"));
    command.args([gateway.admin_url(), gateway.base_url(), picture.to_str().unwrap()]).current_dir(clients());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut browser = command.spawn().unwrap();
    let mut lines = BufReader::new(browser.stdout.take().unwrap()).lines();
    let mut seen = Vec::new();
    while let Ok(Some(line)) = tokio::time::timeout(3 * LIMIT, lines.next_line()).await.expect("the browser goes on") {
        if line == "following" {
            Site::of(&gateway).open_thread(&Wallet::new(1), "Seen without a reload").await;
        }
        seen.push(line);
    }
    let ended = in_time(browser.wait_with_output()).await.unwrap();
    assert!(ended.status.success(), "after {seen:?}: {}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(seen, ["looked", "switched", "resumed", "paused", "indexed", "logged", "following", "done"]);
    let audit = Site::at(gateway.admin_url()).get("/audit").await.text();
    assert!(audit.contains("\"reindex\""), "{audit}");
    assert!(audit.contains("payin all-chains") && audit.contains("\"pause\""), "{audit}");
    // What is not offered is not pressed.
    let resume =
        Site::at(gateway.admin_url()).request(reqwest::Method::POST, "/plugins/payin/controls/all-chains/resume");
    let refused = answer(resume.header("x-gateway-admin", "1")).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "not_offered"), "{}", refused.text());
    if let Some(keep) = std::env::var_os("KEEP_PICTURES") {
        for name in ["page.png", "page-paused.png", "page-small.png"] {
            fs::copy(gateway.setup().folder().join(name), std::path::Path::new(&keep).join(name)).unwrap();
        }
    }
}
