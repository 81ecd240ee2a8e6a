//! Lines that other plugins contribute: the public writes of the owner.

use super::{Site, owner, probe, script, sites_with};
use plugin_testing::{Builder, Value, Wallet, json};

fn with_commons(builder: Builder) -> Builder {
    builder.plugin(forum::plugin_module()).plugin(messages::plugin_module())
}

async fn write(site: &Site, wallet: &Wallet, (path, action): (&str, &str), payload: Value) {
    let response = site.gateway.post_signed(path, wallet, action, payload).await;
    assert_eq!(response.status, 201, "{path}: {}", response.text());
}

async fn open_thread(site: &Site, wallet: &Wallet, title: &str) {
    let payload = json!({ "title": title, "body": "the whole body", "tags": ["x"] });
    write(site, wallet, ("/api/forum/threads", "thread.create"), payload).await;
}

#[tokio::test]
async fn the_owners_public_writes_are_lines_as_the_log_has_them() {
    for site in sites_with(with_commons).await {
        open_thread(&site, &owner(1), "Mine\n").await;
        open_thread(&site, &owner(2), "Another's").await;
        let reply = ("/api/forum/threads/2/posts", "post.create");
        write(&site, &owner(1), reply, json!({ "body": "a reply" })).await;
        let secret = json!({ "to": owner(2).address(), "subject": "subject", "body": "only for you" });
        write(&site, &owner(1), ("/api/messages", "message.send"), secret).await;
        let export = site.export(1, "").await;
        let commons: Vec<&Value> = export.lines.iter().filter(|line| line["kind"] == "commons").collect();
        let events = site.gateway.events().await;
        let expected: Vec<Value> = events
            .iter()
            .filter(|event| event.actor.as_deref() == Some(owner(1).address()) && !event.kind.starts_with("agent."))
            .map(|event| json!([event.id, event.kind, event.ts, event.actor, event.subject, event.data]))
            .collect();
        let members = ["activityId", "type", "ts", "actor", "ref", "data"];
        let found: Vec<Value> = commons.iter().map(|line| super::named(line, &members)).collect();
        assert_eq!(found, expected);
        assert_eq!(
            found.iter().map(|line| line[1].clone()).collect::<Vec<_>>(),
            ["thread.create", "post.create", "message.send"]
        );
        assert!(!export.text.contains("only for you"), "the body of a message is private");
        assert_eq!(export.footer["sources"], json!(["agents", "audit", "forum", "messages"]));
        site.finish().await;
    }
}

#[tokio::test]
async fn writes_are_followed_by_time_and_go_with_the_agent_to_its_next_owner() {
    for site in sites_with(with_commons).await {
        for number in 0..30 {
            open_thread(&site, &owner(1), &format!("Thread {number}")).await;
        }
        let (mut query, mut titles) = ("limit=8".to_owned(), Vec::new());
        loop {
            let export = site.export(1, &query).await;
            let commons = export.lines.iter().filter(|line| line["kind"] == "commons");
            titles.extend(commons.map(|line| line["data"]["title"].as_str().unwrap().to_owned()));
            let next = &export.footer["next"];
            let Some(from) = next["from"].as_i64() else { break };
            let after = next["after"].as_str().map(|after| format!("&after={after}")).unwrap_or_default();
            query = format!("limit=8&from={from}{after}");
        }
        assert_eq!(titles, (0..30).map(|number| format!("Thread {number}")).collect::<Vec<_>>());
        site.mine(vec![script::transferred_by(1, owner(1).address(), owner(2).address())]).await;
        let export = site.export(1, "").await;
        assert_eq!(export.footer["owner"], owner(2).address());
        assert!(!export.kinds().contains(&"commons"), "they are the new owner's");
        assert_eq!(export.names().last().map(String::as_str), Some("OwnershipTransferred"));
        site.finish().await;
    }
}

#[tokio::test]
async fn feedback_and_validations_are_lines_of_who_gave_them() {
    for site in sites_with(|builder| builder).await {
        let event = "NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, int128 value, uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash)";
        let (by, hash) = (owner(1), format!("0x{}", "00".repeat(32)));
        let arguments = [
            json!(2),
            json!(by.address()),
            json!(1),
            json!("-80"),
            json!(0),
            json!("fast"),
            json!("fast"),
            json!(""),
            json!(""),
            json!("ipfs://f"),
            json!(hash),
        ];
        site.mine(vec![plugin_testing::ScriptedLog::new("reputation8004", event, &arguments)]).await;
        // Events of the chain become public when their block is deep enough.
        site.chain.mine_empty(4);
        site.gateway.indexed(&site.chain).await;
        let names = |export: super::Export| -> Vec<(String, String)> {
            let kinds: Vec<String> = export.kinds().into_iter().map(str::to_owned).collect();
            kinds.into_iter().zip(export.names()).skip(3).collect()
        };
        let line = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
        let given = names(site.export(1, "").await);
        assert_eq!(given, [line("commons", "feedback.given"), line("chain", "NewFeedback")]);
        assert_eq!(names(site.export(2, "").await), [line("chain", "NewFeedback")]);
        site.finish().await;
    }
}

#[tokio::test]
async fn an_export_names_a_plugin_that_fails() {
    for site in sites_with(|builder| builder.plugin(probe::module())).await {
        probe::contribute(&site.gateway, vec![probe::line("probed", 1_800_000_000, "1", json!({ "of": "the probe" }))])
            .await;
        let whole = site.export(1, "").await;
        assert_eq!(
            (&whole.footer["sources"], &whole.footer["missing"]),
            (&json!(["agents", "audit", "probe"]), &Value::Null)
        );
        probe::fail(&site.gateway, true).await;
        let incomplete = site.export(1, "").await;
        let footer = &incomplete.footer;
        assert_eq!((&footer["sources"], &footer["missing"]), (&json!(["agents", "audit"]), &json!(["probe"])));
        assert_eq!(incomplete.lines.len() + 1, whole.lines.len());
        assert_ne!(footer["merkleRoot"], whole.footer["merkleRoot"]);
        probe::fail(&site.gateway, false).await;
        assert_eq!(site.export(1, "").await.lines, whole.lines);
        // The failure is the probe's fault.
        assert_eq!(site.gateway.faults().await.len(), 1);
        site.gateway.stop().await;
    }
}
