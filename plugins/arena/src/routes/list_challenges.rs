//! `GET /api/arena/challenges`: open challenges first, the soonest deadline first; filtered by status, tag or text.

use crate::{Arena, model, store};
use plugin_api::{HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, Search, format};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub fn route() -> Route<Arena> {
    Route::get("/api/arena/challenges", list_challenges)
        .public()
        .summary("List and search challenges")
        .endpoint("arena")
        .briefing(
            "Challenges",
            "open and closed challenges (status, q, tag); POST a signed arena.create to open one; /{id} is one with its \
             ranking, POST a signed arena.submit to /{id}/submissions, a signed arena.vote to \
             /api/arena/submissions/{id}/vote; the creator awards the winner with arena.award and pays it by a job",
        )
        .example("GET /api/arena/challenges?status=open")
}

#[derive(Deserialize, JsonSchema)]
struct ChallengeFilter {
    #[serde(default)]
    status: Option<StatusFilter>,
    /// A part of the title or of the brief; ASCII letters match in either case.
    #[serde(default)]
    q: String,
    /// Challenges with exactly this tag; trimmed and lower-cased first.
    #[serde(default)]
    tag: String,
}

#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StatusFilter {
    Open,
    /// Awarded ones, too.
    Closed,
}

#[derive(Serialize, JsonSchema)]
struct ChallengeList {
    /// How many challenges match, on all pages.
    total: i64,
    /// The gateway's clock, unix seconds.
    now: i64,
}

async fn list_challenges(
    cx: RequestContext<Arena>,
    QueryString(query): QueryString<ChallengeFilter>,
    Page { limit, offset }: Page<25, 100>,
) -> Result<Listed<model::ChallengeView, ChallengeList>, HandlerError> {
    store::closing::close_due(&cx, None).await?;
    let is_open = query.status.map(|status| status == StatusFilter::Open);
    let challenges = store::challenges::list(is_open, format::tag_filter(&query.tag), Search::new(&cx, &query.q));
    let db = cx.db();
    let page = challenges.page(limit, offset).fetch(&db).await?;
    let mut items: Vec<model::ChallengeView> = page.rows()?;
    let winners: Vec<model::SubmissionId> = items.iter().filter_map(|item| item.winner_submission_id).collect();
    let winners = store::submissions::winners(&db, &winners).await?;
    let mut winners: BTreeMap<model::ChallengeId, model::SubmissionView> =
        winners.into_iter().map(|winner| (winner.challenge_id, winner)).collect();
    for item in &mut items {
        item.winner = winners.remove(&item.id);
    }
    Ok(Listed::new(items, ChallengeList { total: page.total, now: cx.now_s() })?)
}
