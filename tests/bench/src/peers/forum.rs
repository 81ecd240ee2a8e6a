//! The forum on axum and sqlx: the same tables, statements and answers as the gateway's, without a plugin in between.

use super::{
    forum_rows::{self, ThreadDetail, ThreadList},
    forum_write,
    signed::{Pools, SignedError},
};
use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, Query, State},
    http::StatusCode,
    routing::get,
};
use serde::Deserialize;
use tower_http::compression::CompressionLayer;

pub const NAME: &str = "axum-forum";

pub async fn serve() -> anyhow::Result<()> {
    let app = Router::new()
        .route("/api/forum/threads", get(list_threads).post(create_thread))
        .route("/api/forum/threads/{id}", get(get_thread))
        .layer(CompressionLayer::new())
        .with_state(Pools::open().await?);
    Ok(axum::serve(super::listener().await?, app).await?)
}

#[derive(Deserialize)]
struct ThreadPageQuery {
    #[serde(default = "limit")]
    limit: i64,
    #[serde(default)]
    offset: i64,
}

fn limit() -> i64 {
    25
}

async fn list_threads(
    State(forum): State<Pools>,
    Query(window): Query<ThreadPageQuery>,
) -> Result<Json<ThreadList>, SignedError> {
    Ok(Json(forum_rows::list(&forum.readers, window.limit.clamp(1, 100), window.offset).await?))
}

async fn get_thread(State(forum): State<Pools>, Path(id): Path<i64>) -> Result<Json<ThreadDetail>, SignedError> {
    forum_rows::detail(&forum.readers, id).await?.map(Json).ok_or(SignedError::Unknown)
}

async fn create_thread(
    State(forum): State<Pools>,
    body: Bytes,
) -> Result<(StatusCode, Json<ThreadDetail>), SignedError> {
    let signed = forum_write::check(&body)?;
    Ok((StatusCode::CREATED, Json(forum_write::store(&forum.writer, signed).await?)))
}
