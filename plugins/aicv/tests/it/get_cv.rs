//! `GET /api/cv/{agent}`

use super::{Site, claims, record, refusal, script, sites, sites_with, verifier};
use plugin_testing::{ScriptedChain, Value, json};

#[tokio::test]
async fn a_record_has_the_agents_facts_with_the_logs_that_prove_them() {
    for site in sites().await {
        let response = site.get("/api/cv/1").await;
        assert_eq!(response.status, 200, "{}", response.text());
        let document = response.json();
        verifier::assert_hashes(&document);
        assert_eq!(response.header("x-service-claims-root"), document["claimsRoot"].as_str().unwrap());
        assert_eq!(response.header("x-service-document-hash"), document["documentHash"].as_str().unwrap());
        assert_eq!(response.header("cache-control"), "public, max-age=30");
        assert!(document.get("proof").is_none());

        let kinds: Vec<&str> = record(&document).iter().map(|claim| claim["type"].as_str().unwrap()).collect();
        let expected =
            ["Registration", "EscrowJob", "EscrowJob", "Feedback", "Validation", "AgentState", "Reliability"];
        let mut sorted = kinds.clone();
        sorted.sort_unstable();
        let mut wanted = expected.to_vec();
        wanted.sort_unstable();
        assert_eq!(sorted, wanted, "{kinds:?}");
        let blocks: Vec<Option<i64>> =
            record(&document).iter().map(|claim| claim["evidence"]["block"].as_i64()).collect();
        let with_block: Vec<i64> = blocks.iter().copied().flatten().collect();
        assert!(with_block.is_sorted() && blocks[..with_block.len()].iter().all(Option::is_some), "{blocks:?}");

        let registration = claims(&document, "Registration")[0];
        assert_eq!(registration["id"], "fmx:1:registration");
        assert_eq!(registration["endpointAtRegistration"], "https://digger.example");
        assert_eq!(
            (&registration["pricePerJobWeiAtRegistration"], &registration["bondWeiAtRegistration"]),
            (&json!("5"), &json!("100"))
        );
        let owner = registration["evidence"]["bind"].as_array().unwrap().iter().find(|bind| bind["log"] == "owner");
        assert_eq!(owner.unwrap()["equals"], "subject.address");

        let job = claims(&document, "EscrowJob").into_iter().find(|job| job["jobId"] == 1).unwrap();
        assert_eq!(
            (&job["id"], &job["outcome"], &job["rating"]),
            (&json!("fmx:1:job:1"), &json!("Completed"), &json!(5))
        );
        assert_eq!((&job["payoutWei"], &job["feeWei"]), (&json!("1000000000000000000"), &json!("1")));
        let evidence = &job["evidence"];
        assert_eq!(evidence["event"], "JobCompleted(uint256,uint256,uint256,uint8)");
        assert_eq!(evidence["address"], json!(ScriptedChain::address_of("escrow")));
        assert_eq!((&evidence["block"], &evidence["blockLogIndex"]), (&json!(2), &json!(2)));
        let also: Vec<&Value> =
            job["alsoEvidence"].as_array().unwrap().iter().map(|also| &also["blockLogIndex"]).collect();
        assert_eq!(also, [&json!(0), &json!(1)]);
        assert!(job["alsoEvidence"][0].get("bind").is_none());
        let open = claims(&document, "EscrowJob").into_iter().find(|job| job["jobId"] == 2).unwrap();
        assert_eq!((&open["outcome"], &open["settledAt"]), (&json!("Open"), &Value::Null));
        assert_eq!(open["evidence"]["event"], "JobRequested(uint256,uint256,address,uint256,bytes32,string)");
        site.close().await;
    }
}

#[tokio::test]
async fn the_summary_and_its_scope_say_what_is_known() {
    for site in sites().await {
        let document = site.read("/api/cv/1").await;
        let subject = &document["credentialSubject"];
        let summary = &subject["summary"];
        for (member, value) in [
            ("jobsCompleted", json!(1)),
            ("ratingSum", json!(5)),
            ("jobsSettled", json!(1)),
            ("escrowEarnedWei", json!("1000000000000000000")),
            ("ratedJobsInRecord", json!(1)),
            ("asOfBlock", document["asOfBlock"].clone()),
        ] {
            assert_eq!(summary[member], value, "{member}");
        }
        // Canonical JSON writes it as 5.
        assert_eq!(summary["ratingAvg"].as_f64(), Some(5.0));
        let arms_length = &summary["armsLength"];
        assert_eq!(
            (&arms_length["paidJobsCompleted"], &arms_length["distinctPayers"], &arms_length["ratedPaidJobs"]),
            (&json!(1), &json!(1), &json!(1))
        );
        assert_eq!(summary["feedback"], json!({ "total": 1, "paymentBacked": 1, "unbacked": 0 }));
        assert_eq!(summary["validations"]["avgResponse"], 90);
        let meta = &subject["recordMeta"];
        assert_eq!((&meta["complete"], &meta["omitted"]), (&json!(true), &json!([])));
        let covers = meta["scope"]["covers"].as_array().unwrap();
        for kind in ["Registration", "AgentState", "MemoryAnchor", "X402Receipt", "Endorsement"] {
            assert!(covers.contains(&json!(kind)), "{kind}: {covers:?}");
        }
        // Kinds only: types of activity have a member of their own.
        let vocabulary = site.read("/api/ns/aicv/v1/schema.json").await["$defs"].to_string();
        assert!(covers.iter().all(|kind| vocabulary.contains(&kind.to_string())), "{covers:?}");
        let types = meta["scope"]["contributionTypes"].as_array().unwrap();
        assert!(types.contains(&json!("endorsement.given")) && types.contains(&json!("memory.anchored")), "{types:?}");
        let excludes = meta["scope"]["excludes"].as_array().unwrap();
        let why =
            |what: &str| excludes.iter().find(|exclusion| exclusion["what"] == what).map(|found| found["why"].clone());
        assert_eq!(why("Stream"), Some(json!("the plugin economy is off")));
        assert!(why("Slash").is_some() && why("Contribution (arena.submit)").is_some() && why("EscrowJob").is_none());
        assert_eq!(document["evidence"][0]["asOfBlockHash"].as_str().unwrap().len(), 66);
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_is_found_by_its_name_and_a_limit_cuts_the_record() {
    for site in sites().await {
        let (by_id, by_slug) = (site.read("/api/cv/1").await, site.read("/api/cv/Digger").await);
        assert_eq!(by_id, by_slug);
        let cut = site.read("/api/cv/1?limit=2").await;
        verifier::assert_hashes(&cut);
        assert_eq!(record(&cut).len(), 2);
        let meta = &cut["credentialSubject"]["recordMeta"];
        assert_eq!((&meta["limit"], &meta["complete"]), (&json!(2), &json!(false)));
        let omitted = meta["omitted"].as_array().unwrap();
        assert!(omitted.iter().all(|omitted| omitted["reason"] == "limit"), "{omitted:?}");
        let count: u64 = omitted.iter().map(|omitted| omitted["count"].as_u64().unwrap()).sum();
        assert_eq!(usize::try_from(count).unwrap(), record(&by_id).len() - 2);
        assert_ne!((&cut["claimsRoot"], &cut["documentHash"]), (&by_id["claimsRoot"], &by_id["documentHash"]));
        assert_eq!(site.read("/api/cv/1?limit=x").await, by_id);
        for (path, code) in [
            ("/api/cv/9", "not_found"),
            ("/api/cv/nobody", "not_found"),
            ("/api/cv/99999999999999999999", "not_found"),
            ("/api/cv/1?document=0x12", "bad_request"),
        ] {
            let refused = site.get(path).await;
            assert_eq!(refusal(&refused).1, code, "{path}");
        }
        let unknown = format!("/api/cv/1?document=0x{}", "0".repeat(64));
        assert_eq!(refusal(&site.get(&unknown).await), (404, "not_found".to_owned()));
        site.close().await;
    }
}

#[tokio::test]
async fn without_a_plugin_its_claims_are_gone_and_the_scope_says_so() {
    let settled = || {
        plugin_testing::ScriptedLog::new(
            "x402Vault",
            "Settled(address indexed payer, address indexed payee, uint256 amount, uint256 fee, uint256 nonce, bytes32 ref)",
            &[
                json!(script::account(7)),
                json!(script::account(1)),
                json!("1000"),
                json!("25"),
                json!("42"),
                json!(script::hash(1)),
            ],
        )
    };
    let blocks = || [super::history(), vec![vec![settled()]]].concat();
    for site in sites_with(blocks(), super::modules, |builder| builder).await {
        let document = site.read("/api/cv/1").await;
        let receipt = claims(&document, "X402Receipt")[0];
        assert_eq!((&receipt["id"], &receipt["feeWei"]), (&json!("fmx:1:x402:in:42"), &json!("25")));
        assert_eq!(document["credentialSubject"]["summary"]["x402EarnedWei"], "975");
        site.close().await;
    }
    let without_x402 = || {
        super::modules().into_iter().enumerate().filter(|(place, _)| *place != 2).map(|(_, module)| module).collect()
    };
    for site in sites_with(blocks(), without_x402, |builder| builder).await {
        let document = site.read("/api/cv/1").await;
        assert_eq!(claims(&document, "X402Receipt"), Vec::<&Value>::new());
        assert_eq!(document["credentialSubject"]["summary"]["x402EarnedWei"], "0");
        let scope = &document["credentialSubject"]["recordMeta"]["scope"];
        assert!(!scope["covers"].as_array().unwrap().contains(&json!("X402Receipt")));
        let excludes = scope["excludes"].as_array().unwrap();
        assert!(excludes.contains(&json!({ "what": "X402Receipt", "why": "the plugin x402 is off" })), "{excludes:?}");
        site.close().await;
    }
}

#[tokio::test]
async fn the_state_is_what_the_registry_answers() {
    for Site { gateway, chain } in sites().await {
        super::set_state(&chain, "https://moved.example", script::PAUSED);
        let document = gateway.get("/api/cv/1").await.json();
        let state = claims(&document, "AgentState")[0];
        assert_eq!((&state["endpoint"], &state["status"]), (&json!("https://moved.example"), &json!("Paused")));
        assert_eq!(
            (&state["evidence"]["method"], &state["evidence"]["call"]),
            (&json!("eth_call"), &json!("getAgent(1)"))
        );
        assert_eq!(document["credentialSubject"]["agent"]["status"], "Paused");
        Site { gateway, chain }.close().await;
    }
}

#[tokio::test]
async fn what_the_owner_published_is_counted_by_its_type() {
    for site in sites().await {
        site.mine(vec![script::validation_requested(1, 1, "ipfs://own", 2), script::validated(1, 1, 2, 100)]).await;
        let document = site.read("/api/cv/1").await;
        let counted: Vec<(&Value, &Value)> =
            claims(&document, "Contribution").into_iter().map(|claim| (&claim["kind"], &claim["count"])).collect();
        // Anyone may ask for a validation and name the validator: that is none of his contributions.
        assert_eq!(counted, [(&json!("validation.done"), &json!(1))]);
        assert_eq!(document["credentialSubject"]["summary"]["commonsContributions"], 1);
        let own = claims(&document, "Validation").into_iter().find(|claim| claim["response"] == 100).unwrap();
        assert_eq!((&own["validatorTier"], &own["selfAttested"]), (&json!("self"), &json!(true)));
        site.close().await;
    }
}
