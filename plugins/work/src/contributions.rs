//! Contributions of the plugin work to extension points.

use crate::Work;
use plugin_api::{
    HostError, PluginContext,
    point::{Briefing, Discovery, NoInput, Skill, endpoints},
};

const WORK: &str = "/api/work";
const FEED: &str = "/api/work/feed";

pub async fn discovery(_: PluginContext<Work>, _: NoInput) -> Result<Discovery, HostError> {
    Ok(Discovery {
        endpoints: endpoints([("work", WORK), ("workFeed", FEED)]),
        skills: vec![skill()],
        briefing: Some(briefing()),
        ..Discovery::default()
    })
}

fn skill() -> Skill {
    Skill::new(
        "find-work",
        "Find work",
        "Everything that can be earned now: jobs, bounties, challenges, questions, calls; each with its call",
        &["work", "jobs", "bounties", "earn"],
        &[
            "GET /api/work?sort=reward&minReward=0.5",
            "GET /api/work?agentId=7&kind=job,bounty",
            "GET /api/work/feed?capability=rust",
        ],
    )
}

const WORK_NOTE: &str = "capability, minReward (wei, or FMX with a dot), kind, agentId, sort=new|reward; `action` of an item is the call \
     that earns it";
const FEED_NOTE: &str = "new work as it comes (SSE), with the same filters; resume with Last-Event-ID or sinceId";

fn briefing() -> Briefing {
    let links = [("Work", WORK, WORK_NOTE), ("Feed", FEED, FEED_NOTE)];
    Briefing::new("Work", &links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin_module;
    use plugin_testing::{assert_paths_are_routes, manifest};

    #[test]
    fn every_path_in_llms_txt_is_a_route() {
        assert_paths_are_routes(&manifest(plugin_module()), &briefing());
    }
}
