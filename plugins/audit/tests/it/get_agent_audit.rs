//! `GET /api/agents/{id}/audit.jsonl`: lines, footer, signatures, limits and refusals.

use super::{CHAIN_START_S, SIGNER, Site, address_of, named, owner, path, probe, script, sites, sites_with, time_of};
use plugin_testing::{ScriptedLog, TestGateway, Value, Wallet, json};
use std::{net::IpAddr, time::Duration};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn the_lines_are_the_logs_of_the_agent_its_jobs_and_its_owner() {
    for site in sites().await {
        let client = Wallet::new(5);
        let job = script::requested_by(3, 1, client.address(), "7", "fmx://payload/in");
        let other = script::requested_by(4, 2, owner(1).address(), "7", "fmx://payload/in");
        site.mine(vec![job, other, script::delivered(3, 9, "ipfs://out"), script::completed(3, "6", 5)]).await;
        let stream = "StreamOpened(uint256 indexed id, address indexed payer, address indexed payee, uint256 ratePerSec, uint256 deposit, uint64 start, uint64 stop)";
        let opened = |payee: &Wallet| {
            let arguments =
                [json!(1), json!(client.address()), json!(payee.address()), json!("1"), json!("2"), json!(3), json!(4)];
            ScriptedLog::new("streamPay", stream, &arguments)
        };
        let withdrawn = |contract: &str| {
            let arguments = [json!(owner(1).address()), json!("5")];
            ScriptedLog::new(contract, "Withdrawn(address indexed to, uint256 amount)", &arguments)
        };
        site.mine(vec![opened(&owner(1)), opened(&owner(2)), withdrawn("escrow"), withdrawn("x402Vault")]).await;
        let export = site.export(1, "").await;
        let places: Vec<Value> =
            export.lines.iter().map(|line| named(line, &["block", "logIndex", "contract", "event"])).collect();
        let expected = json!([
            [1, 0, "registry", "AgentRegistered"],
            [1, 1, "registry", "AgentStatusChanged"],
            [1, 2, "registry", "BondChanged"],
            [2, 0, "escrow", "JobRequested"],
            [2, 2, "escrow", "JobDelivered"],
            [2, 3, "escrow", "JobCompleted"],
            [3, 0, "streamPay", "StreamOpened"],
            [3, 3, "x402Vault", "Withdrawn"],
        ]);
        assert_eq!(Value::from(places), expected);
        let completed = &export.lines[5];
        assert_eq!(completed["args"], json!({ "jobId": "3", "agentPayout": "6", "fee": "1", "rating": "5" }));
        assert_eq!(named(completed, &["seq", "kind", "ts", "agentId"]), json!([6, "chain", time_of(2), 1]));
        assert!(completed["tx"].as_str().is_some_and(|tx| tx.len() == 66), "{completed}");
        site.finish().await;
    }
}

#[tokio::test]
async fn the_footer_says_what_was_signed() {
    for site in sites().await {
        let mut footer = site.export(2, "to=2000000000&limit=2").await.footer;
        let members = footer.as_object_mut().unwrap();
        for text in ["leafHash", "merkle", "signature", "merkleRoot", "sig"] {
            assert!(members.remove(text).is_some_and(|text| text.is_string()), "{text}");
        }
        let expected = json!({
            "leaves": 2, "signedLines": false, "agentId": 2, "owner": owner(2).address(), "signer": Wallet::new(SIGNER).address(),
            "signerEphemeral": false, "generatedAt": site.gateway.now_s(), "filter": { "toTs": 2_000_000_000 }, "limit": 2,
            "truncated": true, "next": { "from": time_of(1), "after": format!("{}.1.4.chain.", time_of(1)) },
            "sources": ["agents", "audit"],
        });
        assert_eq!(footer, expected);
        site.finish().await;
    }
}

#[tokio::test]
async fn each_line_may_be_signed() {
    for site in sites().await {
        let export = site.export(1, "sign=lines").await;
        assert!(export.lines.len() == 3 && export.lines.iter().all(|line| line["sig"].is_string()), "{}", export.text);
        assert_eq!((&export.footer["signedLines"], &export.footer["limit"]), (&json!(true), &json!(250)));
        assert!(site.export(1, "sign=root").await.lines[0].get("sig").is_none());
        site.finish().await;
    }
}

#[tokio::test]
async fn an_export_has_at_most_a_thousand_lines_and_250_signed_ones() {
    for site in sites().await {
        for block in 0..11 {
            site.chain.mine((0..100).map(|log| script::bond(1, &(block * 100 + log).to_string())).collect());
        }
        site.gateway.indexed(&site.chain).await;
        let export = site.export(1, "limit=5000").await;
        // Three of the registration; the last block has no room for all of its lines.
        assert_eq!((export.lines.len(), &export.footer["truncated"]), (903, &json!(true)));
        assert_eq!(export.footer["next"], json!({ "from": time_of(11) }));
        assert_eq!(site.export(1, "sign=lines").await.lines.len(), 203);
        assert_eq!(site.export(1, "limit=0").await.footer["limit"], 1000, "no limit is the default");
        assert_eq!(site.export(1, "limit=many").await.footer["limit"], 1000);
        site.finish().await;
    }
}

#[tokio::test]
async fn a_log_that_is_too_large_for_an_export_with_others_stands_alone() {
    for site in sites().await {
        let set = |bytes: usize| {
            let event = "MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue)";
            let value = format!("0x{}", "ab".repeat(bytes));
            ScriptedLog::new("identity8004", event, &[json!(1), json!("cv"), json!("cv"), json!(value)])
        };
        site.mine(vec![set(900_000)]).await;
        site.mine(vec![set(900_000)]).await;
        site.mine(vec![set(900_000)]).await;
        let first = site.export(1, "").await;
        assert_eq!((first.lines.len(), &first.footer["next"]), (4, &json!({ "from": time_of(3) })));
        let rest = site.export(1, &format!("from={}", time_of(3))).await;
        assert_eq!((rest.lines.len(), &rest.footer["truncated"]), (2, &json!(false)));
        site.finish().await;
    }
}

#[tokio::test]
async fn hostile_texts_stay_in_their_line() {
    let name = "a\nb\r\u{2028}\u{85}\u{1f600}\"}\\ \u{202e}{\"merkleRoot\":\"0x\"}";
    for site in sites().await {
        site.mine(script::registered_by(7, owner(7).address(), name, "https://x.example/\u{0}")).await;
        let export = site.export(7, "").await;
        let args = &export.lines[0]["args"];
        assert_eq!(args["name"], name);
        assert_eq!(args["endpoint"], "https://x.example/\u{fffd}", "no database stores U+0000");
        site.finish().await;
    }
}

#[tokio::test]
async fn lines_of_one_second_are_ordered_by_block_log_kind_and_id() {
    for site in sites_with(|builder| builder.plugin(probe::module())).await {
        let at = time_of(1);
        let mut of_log = probe::line("x402", at, "", json!({ "event": "Settled", "block": 1, "logIndex": 1 }));
        (of_log["at"]["block"], of_log["at"]["logIndex"]) = (json!(1), json!(1));
        let lines = vec![
            of_log,
            probe::line("webhook", at, "0000000000000000001", json!({ "deliveryId": 1 })),
            probe::line("commons", at, "0000000000000000010", json!({ "activityId": 10 })),
            probe::line(
                "commons",
                at,
                "0000000000000000009",
                json!({ "activityId": 9, "seq": 99, "sig": "0x", "ts": 5 }),
            ),
            probe::line("commons", at + 1, "0000000000000000001", json!({ "activityId": 1 })),
            probe::line("commons", CHAIN_START_S, "0000000000000000007", json!({ "activityId": 7 })),
            probe::line("chain", at, "", json!({ "event": "Forged" })),
        ];
        probe::contribute(&site.gateway, lines).await;
        let export = site.export(1, "").await;
        assert_eq!(
            export.kinds(),
            ["commons", "commons", "commons", "webhook", "chain", "chain", "x402", "chain", "commons"],
            "{}",
            export.text
        );
        let ids: Vec<&Value> =
            export.lines.iter().map(|line| &line["activityId"]).filter(|id| id.is_number()).collect();
        assert_eq!(ids, [&json!(7), &json!(9), &json!(10), &json!(1)]);
        assert_eq!(export.footer["sources"], json!(["agents", "audit", "probe"]));
        let by_block = site.export(1, "from=1&to=1").await;
        assert_eq!(by_block.kinds(), ["chain", "chain", "x402", "chain"], "lines without a block are left out");
        site.finish().await;
    }
}

#[tokio::test]
async fn a_wrong_query_is_refused_and_an_unknown_agent_is_not_found() {
    for site in sites().await {
        for query in ["from=-1", "to=NaN", "from=1.5", "to=soon", "sign=all", "after=1", "after=1.2.3"] {
            let refused = site.gateway.get(&path(1, query)).await;
            assert_eq!((refused.status, refused.code().as_str()), (400, "bad_request"), "{query}: {}", refused.text());
        }
        for agent in [3, 4_000_000_000] {
            let unknown = site.gateway.get(&path(agent, "")).await;
            assert_eq!((unknown.status, unknown.code().as_str()), (404, "not_found"), "{}", unknown.text());
        }
        assert_eq!(site.gateway.get("/api/agents/x/audit.jsonl").await.status, 404);
        site.finish().await;
    }
}

#[tokio::test]
async fn a_network_has_one_export_at_a_time() {
    for site in sites_with(|builder| builder.plugin(probe::module())).await {
        let (Site { gateway, .. }, export) = (&site, path(1, ""));
        probe::hold(gateway, true).await;
        let meanwhile = async {
            TestGateway::eventually(MINUTE, "it collects", async || probe::asked(gateway).await == 1).await;
            let second = gateway.get(&path(2, "")).await;
            assert_eq!((second.status, second.code().as_str()), (429, "export_running"), "{}", second.text());
            assert!(second.header("retry-after").parse::<u32>().is_ok());
            gateway.set_client_ip(IpAddr::from([192, 0, 2, 7]));
            let (other, ()) = tokio::join!(gateway.get(&export), async {
                TestGateway::eventually(MINUTE, "so does another one", async || probe::asked(gateway).await == 2).await;
                probe::hold(gateway, false).await;
            });
            assert_eq!(other.status, 200, "another network is not held up");
        };
        let (first, ()) = tokio::join!(gateway.get(&export), meanwhile);
        assert_eq!(first.status, 200, "{}", first.text());
        gateway.set_client_ip(IpAddr::from([127, 0, 0, 1]));
        site.export(1, "").await;
        site.finish().await;
    }
}

#[tokio::test]
async fn a_client_gets_twenty_exports_a_minute() {
    for site in sites().await {
        site.gateway.set_client_ip(IpAddr::from([192, 0, 2, 8]));
        let (taken, limited) = site.gateway.until_limited("GET", &path(1, "")).await;
        assert_eq!((taken, limited.code().as_str()), (20, "rate_limited"));
        site.finish().await;
    }
}

#[tokio::test]
async fn the_key_is_the_gateways() {
    for site in sites().await {
        let health = site.gateway.get("/api/health").await.json();
        assert_eq!(health["signer"], site.export(1, "").await.footer["signer"]);
        let manifest = site.gateway.get("/.well-known/service.json").await.json();
        assert!(manifest["endpoints"]["audit"].as_str().is_some_and(|url| url.ends_with("/audit.jsonl")), "{manifest}");
        let agent = site.gateway.get("/api/agents/1").await.json();
        assert!(
            agent["links"]["audit"].as_str().is_some_and(|url| url.ends_with("/api/agents/1/audit.jsonl")),
            "{agent}"
        );
        assert_eq!(address_of("registry"), manifest["contracts"]["registry"]);
        site.finish().await;
    }
}
