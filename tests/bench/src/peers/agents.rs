//! Agents on axum and sqlx: the same tables, statements and answers as the gateway's, without a plugin in between.

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    routing::get,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sqlx::{AssertSqlSafe, Row as _, SqlitePool, sqlite::SqliteRow, types::Json as Text};

pub const NAME: &str = "axum-agents";
/// What links begin with, as the gateway is told.
pub const PUBLIC_URL: &str = "https://gateway.example";

const COLUMNS: &str = "a.id, a.owner, a.name, a.endpoint, a.metadata_uri, a.price_per_job, a.bond, a.status, \
     a.registered_at, a.jobs_completed, a.jobs_failed, a.rating_count, a.rating_sum, c.card, c.description, \
     coalesce(c.capabilities, '[]') AS capabilities, c.model, c.price_per_call, \
     coalesce(c.online, 0) * a.active AS online, c.last_seen_ms";
const TABLES: &str = "agents_agents a LEFT JOIN agents_cards c ON c.agent_id = a.id AND c.endpoint = a.endpoint";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Agent {
    id: i64,
    owner: String,
    name: String,
    endpoint: String,
    #[serde(rename = "metadataURI")]
    metadata_uri: String,
    price_per_job: String,
    bond: String,
    status: String,
    registered_at: i64,
    jobs_completed: i64,
    jobs_failed: i64,
    rating_count: i64,
    rating_sum: i64,
    rating_avg: Option<f64>,
    description: Option<String>,
    capabilities: Vec<String>,
    model: Option<String>,
    price_per_call: Option<String>,
    card: Option<Box<RawValue>>,
    online: bool,
    last_seen: Option<i64>,
}

#[allow(clippy::cast_precision_loss, reason = "ratings are few")]
fn agent(row: &SqliteRow) -> sqlx::Result<Agent> {
    let (rating_count, rating_sum): (i64, i64) = (row.try_get("rating_count")?, row.try_get("rating_sum")?);
    let Text(capabilities) = row.try_get("capabilities")?;
    let card: Option<String> = row.try_get("card")?;
    Ok(Agent {
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        name: row.try_get("name")?,
        endpoint: row.try_get("endpoint")?,
        metadata_uri: row.try_get("metadata_uri")?,
        price_per_job: row.try_get("price_per_job")?,
        bond: row.try_get("bond")?,
        status: row.try_get("status")?,
        registered_at: row.try_get("registered_at")?,
        jobs_completed: row.try_get("jobs_completed")?,
        jobs_failed: row.try_get("jobs_failed")?,
        rating_count,
        rating_sum,
        rating_avg: (rating_count > 0).then(|| rating_sum as f64 / rating_count as f64),
        description: row.try_get("description")?,
        capabilities,
        model: row.try_get("model")?,
        price_per_call: row.try_get("price_per_call")?,
        card: card.and_then(|card| RawValue::from_string(card).ok()),
        online: row.try_get::<i64, _>("online")? == 1,
        last_seen: row.try_get("last_seen_ms")?,
    })
}

pub async fn serve() -> anyhow::Result<()> {
    let readers = SqlitePool::connect(&format!("sqlite:{}", super::variable(super::DATABASE)?)).await?;
    let app = Router::new()
        .route("/api/agents", get(list_agents))
        .route("/api/agents/{id}", get(get_agent))
        .with_state(readers);
    Ok(axum::serve(super::listener().await?, app).await?)
}

#[derive(Deserialize)]
struct AgentPageQuery {
    limit: i64,
}

#[derive(Serialize)]
struct List {
    items: Vec<Agent>,
    total: i64,
}

async fn list_agents(
    State(readers): State<SqlitePool>,
    Query(window): Query<AgentPageQuery>,
) -> Result<Json<List>, StatusCode> {
    let statement = format!("SELECT {COLUMNS} FROM {TABLES} ORDER BY a.id DESC LIMIT ?1");
    let rows = sqlx::query(AssertSqlSafe(statement))
        .bind(window.limit.clamp(1, 200))
        .fetch_all(&readers)
        .await
        .map_err(failed)?;
    let total = sqlx::query_scalar("SELECT cast(sum(agents) AS BIGINT) FROM agents_counts");
    let total = total.fetch_one(&readers).await.map_err(failed)?;
    let items = rows.iter().map(agent).collect::<Result<_, _>>().map_err(failed)?;
    Ok(Json(List { items, total }))
}

fn failed(error: sqlx::Error) -> StatusCode {
    eprintln!("{error}");
    StatusCode::INTERNAL_SERVER_ERROR
}

#[derive(Serialize)]
struct AgentDetail {
    #[serde(flatten)]
    agent: Agent,
    validation: Validation,
    uptime: Uptime,
    cv: Record,
    links: Links,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    description: &'static str,
    document: String,
    credential: String,
    verify: String,
    badge: String,
    by_slug: String,
    audit: String,
    memory_anchors: String,
    network: String,
    similar: String,
}

impl Record {
    fn of(id: i64) -> Self {
        Self {
            description: "What this agent did, as claims with evidence on the chain, and how to verify them",
            document: format!("{PUBLIC_URL}/api/cv/{id}"),
            credential: format!("{PUBLIC_URL}/api/cv/{id}/credential.json"),
            verify: format!("{PUBLIC_URL}/api/cv/{id}/verify"),
            badge: format!("{PUBLIC_URL}/api/cv/{id}/badge.svg"),
            by_slug: format!("{PUBLIC_URL}/api/cv/worker-{id}"),
            audit: format!("{PUBLIC_URL}/api/agents/{id}/audit.jsonl"),
            memory_anchors: format!("{PUBLIC_URL}/api/memory/anchors?agentId={id}"),
            network: format!("{PUBLIC_URL}/api/network?agentId={id}"),
            similar: format!("{PUBLIC_URL}/api/network/similar/{id}"),
        }
    }
}

/// There are no validations here; they are queried nevertheless.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Validation {
    count: usize,
    avg_response: Option<u8>,
    latest: Option<u8>,
}

/// There are too few days of probes here for a percentage.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Uptime {
    window_days: i64,
    days: i64,
    probes: i64,
    ok: i64,
    fail: i64,
    uptime_pct: Option<f64>,
    last_ms: Option<i64>,
    enough_history: bool,
}

#[derive(Serialize)]
struct Links {
    a2a: String,
    invoke: String,
    x402: String,
    erc8004: String,
    audit: String,
    cv: String,
    credential: String,
    badge: String,
}

async fn get_agent(State(readers): State<SqlitePool>, Path(id): Path<i64>) -> Result<Json<AgentDetail>, StatusCode> {
    let statement = format!("SELECT {COLUMNS} FROM {TABLES} WHERE a.id = ?1");
    let row = sqlx::query(AssertSqlSafe(statement)).bind(id).fetch_optional(&readers).await.map_err(failed)?;
    let row = row.ok_or(StatusCode::NOT_FOUND)?;
    let newest = "SELECT response FROM agents_validations WHERE agent_id = ?1 ORDER BY requested_at DESC LIMIT 20";
    let validations = sqlx::query(newest).bind(id).fetch_all(&readers).await.map_err(failed)?;
    let sums = "SELECT count(*), coalesce(sum(ok), 0), coalesce(sum(failed), 0), max(last_ms) FROM agents_probe_days \
         WHERE agent_id = ?1 AND day > (SELECT max(day) FROM agents_probe_days WHERE agent_id = ?1) - 30";
    let (days, ok, fail, last_ms): (i64, i64, i64, Option<i64>) =
        sqlx::query_as(sums).bind(id).fetch_one(&readers).await.map_err(failed)?;
    Ok(Json(AgentDetail {
        agent: agent(&row).map_err(failed)?,
        validation: Validation { count: validations.len(), avg_response: None, latest: None },
        uptime: Uptime {
            window_days: 30,
            days,
            probes: ok + fail,
            ok,
            fail,
            uptime_pct: None,
            last_ms,
            enough_history: false,
        },
        cv: Record::of(id),
        links: Links {
            a2a: format!("{PUBLIC_URL}/a/{id}/.well-known/agent.json"),
            invoke: format!("{PUBLIC_URL}/a/{id}/invoke"),
            x402: format!("{PUBLIC_URL}/api/x402/supported"),
            erc8004: format!("{PUBLIC_URL}/api/agents/{id}/erc8004.json"),
            audit: format!("{PUBLIC_URL}/api/agents/{id}/audit.jsonl"),
            cv: format!("{PUBLIC_URL}/api/cv/{id}"),
            credential: format!("{PUBLIC_URL}/api/cv/{id}/credential.json"),
            badge: format!("{PUBLIC_URL}/api/cv/{id}/badge.svg"),
        },
    }))
}
