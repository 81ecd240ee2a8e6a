//! The logs of an export: those about the agent, and those of other contracts than registry and escrow that name its owner.
//!
//! The rule: what is read is bounded, in rows by ranges of indexes and in bytes by the stored sizes, however many logs there are.

use crate::model::{lower_case, strings_for_integers};
use plugin_api::{
    HostError, HostErrorCode, Query, Sql,
    point::{AuditInput, AuditLine, AuditLines, AuditPosition, members},
    sql,
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Arguments that are read for one export.
const ARGS_BYTES_MAX: i64 = 4 * 1024 * 1024;
/// The rest of a line, roughly.
const LINE_BYTES: i64 = 700;

const KIND: &str = "chain";

/// An input with blocks as bounds gets the times of these blocks as bounds, too: every index is in the order of time.
pub async fn with_times(db: &impl Query, mut input: AuditInput) -> Result<AuditInput, HostError> {
    if let Some(block) = input.from_block {
        let first = sql("SELECT time_s FROM audit_logs WHERE block >= $1 ORDER BY block LIMIT 1").bind(block);
        let first: i64 = db.row(first).await?.unwrap_or(i64::MAX);
        input.from_s = Some(input.from_s.unwrap_or(0).max(first));
    }
    if let Some(block) = input.to_block {
        let last = sql("SELECT time_s FROM audit_logs WHERE block <= $1 ORDER BY block DESC LIMIT 1").bind(block);
        let last: i64 = db.row(last).await?.unwrap_or(0);
        input.to_s = Some(input.end_s().min(last));
    }
    Ok(input)
}

/// The first lines of the kind `chain`. Arguments are short, as a rule: then one statement reads all of them, none longer than its share.
pub async fn lines(db: &impl Query, input: &AuditInput) -> Result<AuditLines, HostError> {
    let (limit, and_next) = (input.limit as usize, i64::from(input.limit) + 1);
    let share = (ARGS_BYTES_MAX / and_next - LINE_BYTES).max(0);
    let columns = format!("{COLUMNS}, CASE WHEN l.args_bytes <= {share} THEN l.args END AS args");
    let mut rows: Vec<LogRow> = db.rows(select(&columns, input, and_next)).await?;
    let mut more = rows.len() > limit;
    if rows.iter().any(|row| row.args.is_none()) {
        let count = fitting(db, input).await?;
        more = rows.len() > count;
        let columns = format!("{COLUMNS}, l.args");
        rows = db.rows(select(&columns, input, i64::try_from(count).unwrap_or(i64::MAX))).await?;
    }
    rows.truncate(limit);
    Ok(AuditLines { lines: rows.into_iter().map(LogRow::into_line).collect::<Result<_, _>>()?, more })
}

/// How many logs an export may have by their sizes. One that is larger than the bound is an export of its own.
async fn fitting(db: &impl Query, input: &AuditInput) -> Result<usize, HostError> {
    let sizes: Vec<i64> = db.rows(select("l.args_bytes", input, i64::from(input.limit))).await?;
    let mut bytes = 0_i64;
    let fits = |size: &&i64| {
        bytes = bytes.saturating_add(**size).saturating_add(LINE_BYTES);
        bytes <= ARGS_BYTES_MAX
    };
    Ok(sizes.iter().take_while(fits).count().max(1))
}

const COLUMNS: &str = "l.time_s, l.block, l.log_index, l.contract, l.event, l.tx";

#[derive(Deserialize)]
struct LogRow {
    time_s: i64,
    block: i64,
    log_index: i64,
    contract: String,
    event: String,
    tx: String,
    /// JSON; `None` of arguments that are longer than their share.
    args: Option<String>,
}

impl LogRow {
    fn into_line(self) -> Result<AuditLine, HostError> {
        let Self { time_s, block, log_index, contract, event, tx, args } = self;
        let args: Map<String, Value> = serde_json::from_str(args.as_deref().unwrap_or("{}"))
            .map_err(|error| HostError::new(HostErrorCode::Internal, format!("arguments of {tx}: {error}")))?;
        let at = AuditPosition { ts: time_s, block, log_index, kind: KIND.to_owned(), id: String::new() };
        let members = members([
            ("block", block.into()),
            ("contract", contract.into()),
            ("event", event.into()),
            ("tx", tx.into()),
            ("logIndex", log_index.into()),
            ("args", Value::Object(strings_for_integers(args))),
        ]);
        Ok(AuditLine { at, members })
    }
}

/// Columns of the first logs `l`, in the order of the chain. Each of the three ranges is the beginning of an index.
fn select(columns: &str, input: &AuditInput, rows: i64) -> Sql {
    let keys = "time_s, block, log_index";
    let range = |table: &str, name: &str| {
        sql(format!(
            "SELECT {keys} FROM (SELECT {keys} FROM {table} = $1 AND time_s >= $2 AND time_s <= $3 \
             AND (time_s > $2 OR block > $4 OR (block = $4 AND log_index > $5)) AND block >= $6 AND block <= $7 \
             ORDER BY {keys} LIMIT $8) AS {name}"
        ))
    };
    let bounds = |range: Sql| {
        let (ts, block, log_index) = input.start_on_chain(KIND);
        let blocks = (input.from_block.unwrap_or(0), input.to_block.unwrap_or(i64::MAX));
        range.bind((ts, input.end_s(), block, log_index, blocks.0, blocks.1, rows))
    };
    let about_agent = bounds(range("audit_logs WHERE agent_id", "about_agent").bind(input.agent_id));
    let by_agent = bounds(range("audit_logs WHERE by_agent_id", "by_agent").bind(input.agent_id));
    let naming_owner = "audit_log_addresses WHERE of_registry_or_escrow = 0 AND address";
    let naming_owner = bounds(range(naming_owner, "naming_owner").bind(lower_case(input.owner)));
    sql(format!("SELECT {columns} FROM (SELECT {keys} FROM ("))
        .push_sql(about_agent)
        .push(" UNION ")
        .push_sql(by_agent)
        .push(" UNION ")
        .push_sql(naming_owner)
        .push_bind(&format!(") AS named ORDER BY {keys} LIMIT {{}}) AS k "), rows)
        .push("JOIN audit_logs l ON l.block = k.block AND l.log_index = k.log_index ORDER BY k.time_s, k.block, k.log_index")
}
