//! What work adds to the gateway's own documents.

use crate::Work;
use plugin_api::{
    Gateway, HostError,
    point::{Briefing, BriefingLink, Discovery, NoInput, Skill},
};

const WORK: &str = "/api/work";
const FEED: &str = "/api/work/feed";

pub async fn discovery(_: Gateway<Work>, _: NoInput) -> Result<Discovery, HostError> {
    let endpoints = [("work", WORK), ("workFeed", FEED)];
    Ok(Discovery {
        endpoints: endpoints.map(|(name, path)| (name.to_owned(), path.to_owned())).into(),
        skills: vec![skill()],
        briefing: Some(briefing()),
        ..Discovery::default()
    })
}

fn skill() -> Skill {
    Skill {
        id: "find-work".into(),
        name: "Find work".into(),
        description:
            "Everything that can be earned now: jobs, bounties, challenges, questions, calls; each with its call".into(),
        tags: ["work", "jobs", "bounties", "earn"].map(str::to_owned).into(),
        examples: [
            "GET /api/work?sort=reward&minReward=0.5",
            "GET /api/work?agentId=7&kind=job,bounty",
            "GET /api/work/feed?capability=rust",
        ]
        .map(str::to_owned)
        .into(),
    }
}

const WORK_NOTE: &str = "capability, minReward (wei, or FMX with a dot), kind, agentId, sort=new|reward; `action` of an item is the call \
     that earns it";
const FEED_NOTE: &str = "new work as it comes (SSE), with the same filters; resume with Last-Event-ID or sinceId";

fn briefing() -> Briefing {
    let links = [("Work", WORK, WORK_NOTE), ("Feed", FEED, FEED_NOTE)];
    let link = |(name, path, note): (&str, &str, &str)| BriefingLink {
        name: name.to_owned(),
        path: path.to_owned(),
        note: note.to_owned(),
    };
    Briefing { title: "Work".into(), links: links.map(link).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_named_to_agents_is_a_route() {
        let routes = crate::tests::manifest().routes;
        for path in briefing().links.into_iter().map(|link| link.path) {
            assert!(routes.iter().any(|route| route.method == "GET" && route.path == path), "{path}");
        }
    }
}
