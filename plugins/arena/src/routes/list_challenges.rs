//! `GET /api/arena/challenges`: open challenges first, the soonest deadline first; filtered by status, tag or text.

use super::render;
use crate::{
    Arena,
    model::{ChallengeView, Status},
    store::{
        challenges::{self, Filter},
        closing,
    },
};
use plugin_api::{HandlerError, Json, JsonSchema, Page, QueryString, RequestContext, Route, Search, format};
use serde::{Deserialize, Serialize};

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
    status: Option<ListStatus>,
    /// A part of the title or of the brief; ASCII letters match in either case.
    #[serde(default)]
    q: String,
    /// Challenges with exactly this tag; trimmed and lower-cased first.
    #[serde(default)]
    tag: String,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ListStatus {
    Open,
    /// Awarded ones, too.
    Closed,
}

#[derive(Serialize, JsonSchema)]
struct ChallengeList {
    items: Vec<ChallengeView>,
    /// How many challenges match, on all pages.
    total: i64,
    /// The gateway's clock, unix seconds.
    now: i64,
}

async fn list_challenges(
    cx: RequestContext<Arena>,
    QueryString(query): QueryString<ChallengeFilter>,
    Page { limit, offset }: Page<25, 100>,
) -> Result<Json<ChallengeList>, HandlerError> {
    closing::close_due(&cx, None).await?;
    let tag = Some(format::tag(&query.tag)).filter(|tag| !tag.is_empty());
    let status = query.status.map(|status| match status {
        ListStatus::Open => Status::Open,
        ListStatus::Closed => Status::Closed,
    });
    let db = cx.db();
    let filter = Filter { status, search: Search::new(&cx, &query.q), tag };
    let (rows, total) = challenges::list(&db, &filter, limit, offset).await?;
    let items = render::page(&cx, &db, rows).await?;
    Ok(Json(ChallengeList { items, total, now: cx.now_s() }))
}
