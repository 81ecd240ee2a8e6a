//! The forum on axum and sqlx: the same tables, statements and answers as the gateway's, without a plugin in between.

use super::{
    forum_rows::{self, ThreadDetail, ThreadList},
    forum_write::{self, Refusal},
};
use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Deserialize;
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

pub const NAME: &str = "axum-forum";

#[derive(Clone)]
struct Forum {
    readers: SqlitePool,
    /// One connection: SQLite has one writer at a time, and waiting in the pool is cheaper than waiting for its lock.
    writer: SqlitePool,
}

pub async fn serve() -> anyhow::Result<()> {
    let synchronous = match super::variable(super::SYNCHRONOUS)?.as_str() {
        "normal" => SqliteSynchronous::Normal,
        _ => SqliteSynchronous::Full,
    };
    let options = SqliteConnectOptions::new()
        .filename(super::variable(super::DATABASE)?)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous);
    let forum = Forum {
        readers: SqlitePoolOptions::new().connect_with(options.clone()).await?,
        writer: SqlitePoolOptions::new().max_connections(1).connect_with(options).await?,
    };
    let app = Router::new()
        .route("/api/forum/threads", get(list_threads).post(create_thread))
        .route("/api/forum/threads/{id}", get(get_thread))
        .with_state(forum);
    Ok(axum::serve(super::listener().await?, app).await?)
}

#[derive(Deserialize)]
struct Window {
    #[serde(default = "limit")]
    limit: i64,
    #[serde(default)]
    offset: i64,
}

fn limit() -> i64 {
    25
}

async fn list_threads(State(forum): State<Forum>, Query(window): Query<Window>) -> Result<Json<ThreadList>, Failed> {
    Ok(Json(forum_rows::list(&forum.readers, window.limit.clamp(1, 100), window.offset).await?))
}

async fn get_thread(State(forum): State<Forum>, Path(id): Path<i64>) -> Result<Json<ThreadDetail>, Failed> {
    forum_rows::detail(&forum.readers, id).await?.map(Json).ok_or(Failed::Unknown)
}

async fn create_thread(State(forum): State<Forum>, body: Bytes) -> Result<(StatusCode, Json<ThreadDetail>), Failed> {
    let signed = forum_write::check(&body)?;
    Ok((StatusCode::CREATED, Json(forum_write::store(&forum.writer, signed).await?)))
}

pub enum Failed {
    Unknown,
    Refused(Refusal),
    Database(sqlx::Error),
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let (status, error) = match self {
            Self::Unknown => (StatusCode::NOT_FOUND, "unknown thread".to_owned()),
            Self::Refused(Refusal { status, reason }) => (status, reason.to_owned()),
            Self::Database(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        };
        (status, Json(serde_json::json!({ "error": error }))).into_response()
    }
}
