//! `gateway PLUGIN REPORT`: tables of plugins, as an operator types for them.

use super::{answer, setup_with_all_plugins_on, site::Site};
use crate::{crash::execute, storage::Engine};
use gateway_tests::process::{GatewayProcess, LIMIT};
use plugin_testing::{Value, json};
use reqwest::Method;
use rstest::rstest;

/// m/44'/60'/0' of the seed of 32 bytes 0x77, and its addresses 0/0 and 0/1: computed with @scure/bip32 and viem.
const XPUB: &str =
    "xpub6C9j5N4Uw7GqhzQKbrfQeMuKLGWj4hBbC1FUP9RiAkKu214V7d35Xu44LkScWoqFJdB5uWSEyj7EvbYmziWFMsXYT5PsGdGerHTwSER7ozq";
const ADDRESSES: [&str; 2] =
    ["0xFc7e1e8c3e38151338B30CCDa654E58aBd03a81b", "0xb2B649b31F8e744c09fe0d166F770DAFa706F617"];
const TOKEN: &str = "0x000000000000000000000000000000000000dEaD";
/// Addresses to which something came: more than a page has.
const FUNDED: i64 = 501;

fn address(index: i64) -> String {
    let known = usize::try_from(index).ok().and_then(|index| ADDRESSES.get(index));
    known.map_or_else(|| format!("0x{index:040}"), |address| (*address).to_owned())
}

/// Addresses that were given to quotes; something came to each but the first, to the last one on another chain.
fn statements() -> [String; 2] {
    let given =
        (0..=FUNDED).map(|index| format!("('base', '{}', '{XPUB}', {index}, 'q_{index}', 0, 0, 0)", address(index)));
    let chain = |index| if index == FUNDED { "eth" } else { "base" };
    let deposits = (1..=FUNDED).map(|index| {
        let (chain, address) = (chain(index), address(index));
        format!(
            "('{chain}', 'USDC', '{TOKEN}', '{address}', 't', 1, 0, 1, 'h', 0, 's', '1', '1', 'matched', 0, 0, 0, 0)"
        )
    });
    let [given, deposits] = [given.collect::<Vec<_>>(), deposits.collect()].map(|rows| rows.join(", "));
    [
        format!(
            "INSERT INTO payin_addresses (chain, address, xpub, address_index, quote, expires_at, late_from, late_at) VALUES {given}"
        ),
        format!(
            "INSERT INTO payin_deposits (chain, asset, token, address, tx, ordinal, log_index, block, block_hash, block_time, sender, units, \
             units_key, state, checks, check_at, seen_at, found_at) VALUES {deposits}"
        ),
    ]
}

async fn start(engine: Engine) -> GatewayProcess {
    let setup = setup_with_all_plugins_on(engine).await.unset("plugins.kb.network_pages");
    let setup = setup.with_only(&["hello", "payin"]).unwrap().set("plugins.payin.enabled", true);
    let mut gateway = setup.start().await.unwrap();
    gateway.terminate(LIMIT).await.unwrap();
    for statement in statements() {
        execute(&setup, statement).await;
    }
    setup.start().await.unwrap()
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn an_operator_lists_where_deposits_came(#[case] engine: Engine) {
    let gateway = start(engine).await;
    let (setup, admin) = (gateway.setup().clone(), gateway.admin_url().to_owned());
    let run = |line: &str| {
        let words: Vec<&str> = line.split(' ').chain(["--admin", &admin]).collect();
        setup.run(&words).unwrap()
    };
    let funded = run("payin addresses --funded --json");
    assert_eq!(funded.code, Some(0), "{funded:?}");
    let funded = funded.json().unwrap();
    let rows: Vec<&Value> = funded.as_array().unwrap().iter().collect();
    assert_eq!(rows.len(), usize::try_from(FUNDED).unwrap(), "all pages");
    let expected = json!({ "index": 1, "chain": "base", "asset": "USDC", "token": TOKEN, "deposits": 1, "address": ADDRESSES[1],
        "quote": "q_1", "xpub": XPUB });
    assert_eq!((rows[0], &rows[500]["chain"], &rows[500]["index"]), (&expected, &json!("eth"), &json!(FUNDED)));

    let all = run("plugins report payin addresses");
    assert_eq!((all.code, all.stdout.lines().count()), (Some(0), 503), "{}", all.stdout);
    let lines: Vec<&str> = all.stdout.lines().collect();
    assert!(lines[0].starts_with("INDEX  CHAIN  ASSET  TOKEN "), "{}", lines[0]);
    assert!(lines[1].starts_with("0      base   -      -  "), "{}", lines[1]);
    let listed = run("plugins report");
    assert!(
        listed.stdout.contains("gateway payin addresses") && listed.stdout.contains("--funded"),
        "{}",
        listed.stdout
    );

    for (line, words) in [
        ("payin addresses --empty", "no option \"empty\""),
        ("payin quotes", "no report of this name"),
        ("plugins report hello addresses", "no report of this name"),
    ] {
        let refused = run(line);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{line}: {refused:?}");
        assert!(refused.stderr.contains(words), "{line}: {}", refused.stderr);
    }
    let site = Site::at(&admin);
    assert_eq!(
        answer(site.request(Method::POST, "/plugins/payin/reports/addresses").header("x-gateway-admin", "1"))
            .await
            .status,
        405
    );
    let wrong = site.get("/plugins/payin/reports/addresses?offset=x").await;
    assert_eq!((wrong.status, wrong.code().as_str()), (400, "bad_query"), "{}", wrong.text());
}
