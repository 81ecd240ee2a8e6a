//! `GET /api/work/feed`

use super::{LIMIT, Site, WORK, owner, poster, sites};
use plugin_testing::{Value, json};

/// The next events of an open stream: ids, names and data.
async fn take<B>(body: &mut B, count: usize) -> Vec<(String, String, Value)>
where
    B: http_body_util::BodyExt + Unpin,
    B::Data: AsRef<[u8]>,
    B::Error: std::fmt::Debug,
{
    let (mut text, mut events) = (String::new(), Vec::new());
    while events.len() < count {
        let frame = tokio::time::timeout(LIMIT, body.frame()).await.expect("an event comes in time");
        let data = frame.expect("the stream goes on").expect("the stream does not fail").into_data();
        text.push_str(std::str::from_utf8(data.unwrap_or_else(|_| panic!("no trailers")).as_ref()).unwrap());
        while let Some((block, rest)) = text.split_once("\n\n") {
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            if let Some(data) = field("data") {
                let (id, event) = (field("id").unwrap().to_owned(), field("event").unwrap().to_owned());
                events.push((id, event, serde_json::from_str(data).unwrap()));
            }
            text = rest.to_owned();
        }
    }
    events
}

macro_rules! follow {
    ($site:expr, $query:expr) => {
        follow!($site, $query, &[])
    };
    ($site:expr, $query:expr, $headers:expr) => {{
        let response = $site.gateway.open_stream("GET", &format!("/api/work/feed{}", $query), $headers, "").await;
        assert_eq!(response.status(), 200);
        response.into_body()
    }};
}

fn ids(events: &[(String, String, Value)]) -> Vec<&str> {
    events.iter().map(|(_, _, data)| data["id"].as_str().unwrap()).collect()
}

async fn listed(site: &Site, id: &str) -> Value {
    let list = site.read(WORK).await;
    list["items"].as_array().unwrap().iter().find(|item| item["id"] == id).cloned().unwrap()
}

#[tokio::test]
async fn new_work_arrives_as_it_is_listed() {
    for site in sites().await {
        site.bury().await;
        site.bounty("before", json!({})).await;
        let response = site.gateway.open_stream("GET", "/api/work/feed", &[], "").await;
        assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
        assert_eq!(response.headers()["cache-control"], "no-cache, no-transform");
        let mut feed = response.into_body();
        let bounty = site.bounty("new", json!({})).await;
        let thread = site.question("Why?").await;
        let events = take(&mut feed, 2).await;
        let expected = [format!("bounty:{bounty}"), format!("question:{thread}")];
        for ((id, event, data), expected) in events.iter().zip(&expected) {
            assert_eq!(event, "work");
            let mut item = listed(&site, expected).await;
            item["activityId"] = json!(id.parse::<i64>().unwrap());
            assert_eq!(*data, item);
        }
        site.job(7, "9").await;
        site.bury().await;
        assert_eq!(ids(&take(&mut feed, 1).await), ["job:7"], "once the chain does not take it back");
        drop(feed);
        site.close().await;
    }
}

#[tokio::test]
async fn a_position_replays_and_what_is_taken_is_left_out() {
    for site in sites().await {
        let start = site.gateway.now_s();
        let taken = site.question("taken").await;
        let open = site.question("open").await;
        let payload = json!({ "body": "so" });
        site.write(&format!("/api/forum/threads/{taken}/posts"), &owner(1), "post.create", payload).await;
        // A restarted gateway has no events in memory: it reads what it replays from the log.
        let site = Site { gateway: site.gateway.restart().await, chain: site.chain, agent: site.agent };
        let first = site.gateway.events().await.iter().find(|event| event.kind == "thread.create").unwrap().id;
        for (query, headers) in [
            ("?sinceId=0".to_owned(), vec![]),
            (format!("?since={}", start - 1), vec![]),
            (String::new(), vec![("last-event-id", (first - 1).to_string())]),
        ] {
            let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let mut feed = follow!(site, query, &headers);
            assert_eq!(ids(&take(&mut feed, 1).await), [format!("question:{open}")], "{query}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn filters_are_those_of_the_list() {
    for site in sites().await {
        let mut paid = follow!(site, "?sinceId=0&kind=job,bounty&minReward=6");
        let mut questions = follow!(site, "?sinceId=0&kind=question,arena");
        let mut words = follow!(site, "?sinceId=0&capability=dig");
        let mut of_agent = follow!(site, "?sinceId=0&agentId=2&capability=job,why");
        site.job(7, "9").await;
        site.bury().await;
        let cheap = site.bounty("Dig", json!({})).await;
        let dear = site.bounty("Paint", json!({ "rewardWei": "6" })).await;
        let thread = site.question("Why?").await;
        assert_eq!(ids(&take(&mut paid, 2).await), ["job:7".to_owned(), format!("bounty:{dear}")]);
        assert_eq!(ids(&take(&mut questions, 1).await), [format!("question:{thread}")]);
        // The job is for an agent that is named Digger.
        assert_eq!(ids(&take(&mut words, 2).await), ["job:7".to_owned(), format!("bounty:{cheap}")]);
        assert_eq!(ids(&take(&mut of_agent, 1).await), [format!("question:{thread}")], "a job of another agent");
        drop((paid, questions, words, of_agent));
        site.close().await;
    }
}

#[tokio::test]
async fn a_bounty_that_opens_again_is_new_work() {
    for site in sites().await {
        let bounty = site.bounty("T", json!({})).await;
        let uri = format!("fmx://bounty/{bounty}");
        site.mine(vec![super::script::requested_by(7, 1, poster().address(), "5", &uri)]).await;
        site.bury().await;
        let last = site.gateway.events().await.last().unwrap().id.to_string();
        let mut feed = follow!(site, "?kind=bounty", &[("last-event-id", last.as_str())]);
        site.mine(vec![super::script::refunded(7, "5", true)]).await;
        site.bury().await;
        plugin_testing::TestGateway::eventually(LIMIT, "the refund is announced", || async {
            site.wait(11).await;
            site.gateway.events().await.iter().any(|event| event.kind == "bounty.reopen")
        })
        .await;
        assert_eq!(ids(&take(&mut feed, 1).await), [format!("bounty:{bounty}")]);
        drop(feed);
        site.close().await;
    }
}
