//! Edges of the graph. The largest are found by an index of what their pairs add up to; pairs are put together here, when they are read.
//! The rule: an edge from or to a labelled address is in no answer and in no count.

use super::{derived::pairs::SUMS, labelled};
use crate::model::{Edge, EdgeFilter, Ends, Kind, Sums};
use plugin_api::{Address, AgentId, HostError, Query, Sql, Wei, point::LabelledAddresses, sql};
use serde::Deserialize;
use std::{cmp::Reverse, collections::BTreeMap};

/// Placeholders of a statement.
const IDS_OF_STATEMENT: usize = 500;
/// Edges that match, for each one that is wanted, up to which all of them are sorted. Of more, the largest are found sooner by the index of all
/// edges, in which many match.
const SORTED_PER_EDGE: i64 = 50;

#[derive(Deserialize)]
struct Row {
    id: i64,
    kind: Kind,
    client_owner: Address,
    from_agent: Option<AgentId>,
    to_agent: AgentId,
    to_owner: Address,
    edge_jobs: i64,
    edge_volume: Wei,
    #[serde(flatten)]
    sums: Sums,
}

impl Row {
    fn is_alone(&self) -> bool {
        self.edge_jobs == self.sums.jobs
    }
}

/// Whom a filter by agent is about.
#[derive(Deserialize)]
struct Subject {
    id: AgentId,
    owner: Address,
    /// The owner's agent with the lowest id: the one that stands for what he pays and is paid.
    first: AgentId,
}

/// The condition of a filter; `None` when no edge meets it.
async fn condition(
    db: &impl Query,
    filter: &EdgeFilter,
    labelled: &[LabelledAddresses],
) -> Result<Option<Condition>, HostError> {
    let Some(id) = filter.agent_id else { return Ok(Some(Condition::of(filter, None, labelled))) };
    let select =
        sql("SELECT a.id, a.owner, (SELECT min(f.id) FROM network_agents f WHERE f.owner = a.owner) AS first \
         FROM network_agents a WHERE a.id = $1")
        .bind(id);
    let subject: Option<Subject> = db.row(select).await?;
    Ok(subject.map(|subject| Condition::of(filter, Some(subject), labelled)))
}

struct Condition {
    capability: Option<String>,
    subject: Option<Subject>,
    min_jobs: Option<i64>,
    /// What is true of edges `e` to an agent `t` that are between addresses without a label; `None` where nobody labels.
    unlabelled: Option<String>,
}

impl Condition {
    fn of(filter: &EdgeFilter, subject: Option<Subject>, labelled: &[LabelledAddresses]) -> Self {
        let capability = filter.capability.as_deref().map(pattern);
        let min_jobs = Some(filter.min_jobs).filter(|jobs| *jobs > 1);
        let unlabelled = (!labelled.is_empty()).then(|| labelled::unlabelled(labelled));
        Self { capability, subject, min_jobs, unlabelled }
    }

    fn is_empty(&self) -> bool {
        self.capability.is_none() && self.subject.is_none() && self.min_jobs.is_none()
    }

    fn push_capability(&self, statement: Sql) -> Sql {
        let declares =
            " AND t.id IN (SELECT c.agent_id FROM network_capabilities c WHERE c.capability LIKE {} ESCAPE '\\')";
        statement.push_filter(declares, self.capability.as_deref())
    }

    /// `FROM` and `WHERE`: edges `e` of a kind, with the agent `t` that was hired or paid. What was paid to nobody's agent is no edge.
    /// `first` are the ids of those that may meet the condition, where they are few.
    fn push_to(&self, statement: Sql, kind: Kind, first: Option<Sql>) -> Sql {
        let join = match kind {
            Kind::Hire => "e.agent_id",
            Kind::X402 => "(SELECT min(l.id) FROM network_agents l WHERE l.owner = e.payee_owner)",
        };
        let (edges, is_selected) = match first {
            None => (statement.push(" FROM network_pairs e"), ""),
            // In this order of the join: the few edges first, not every edge of the network.
            Some(first) => {
                let selected = statement.push(" FROM (").push_sql(first);
                (selected.push(") s CROSS JOIN network_pairs e"), " AND e.id = s.id")
            }
        };
        let joined = format!(" JOIN network_agents t ON t.id = {join} WHERE e.edge_jobs > 0{is_selected}");
        let joined = edges.push(&joined).push_bind(" AND e.kind = {}", kind);
        self.push_capability(joined.push_filter(" AND e.edge_jobs >= {}", self.min_jobs))
    }

    fn push_unlabelled(&self, statement: Sql) -> Sql {
        match &self.unlabelled {
            Some(condition) => statement.push(&format!(" AND {condition}")),
            None => statement,
        }
    }

    /// The ids of the edges of a kind that meet the filters other than that by agent, with a label or without: by indexes alone.
    fn matching(&self, kind: Kind) -> Sql {
        const SELECT: &str = "SELECT p.id FROM ";
        let matching = match (kind, self.capability.as_deref()) {
            (Kind::Hire, None) => sql(SELECT).push_bind("network_pairs p WHERE p.counted_by = {}", kind),
            (Kind::Hire, Some(capability)) => sql(SELECT)
                .push("(SELECT DISTINCT c.agent_id FROM network_capabilities c WHERE ")
                .push_bind("c.capability LIKE {} ESCAPE '\\') t CROSS JOIN network_pairs p", capability)
                .push_bind(" WHERE p.kind = {} AND p.agent_id = t.agent_id", kind),
            (Kind::X402, _) => self.push_capability(sql(SELECT).push(
                "network_agents t CROSS JOIN network_pairs p WHERE p.counted_by = t.owner \
                 AND t.id = (SELECT min(l.id) FROM network_agents l WHERE l.owner = t.owner)",
            )),
        };
        matching.push(" AND p.edge_jobs > 0").push_filter(" AND p.edge_jobs >= {}", self.min_jobs)
    }
}

impl Subject {
    /// The ids of its edges of a kind, in and out.
    fn edges(&self, kind: Kind) -> Sql {
        const EDGES: &str = "SELECT p.id FROM network_pairs p WHERE p.edge_jobs > 0";
        let is_first = self.id == self.first;
        let into = sql(EDGES);
        let into = match kind {
            Kind::X402 if !is_first => return into.push(" AND 1 = 0"),
            Kind::X402 => into.push_bind(" AND p.payee_owner = {}", self.owner),
            Kind::Hire => into.push_bind(" AND p.kind = {}", kind).push_bind(" AND p.agent_id = {}", self.id),
        };
        if !is_first {
            return into;
        }
        let out = into.push(" UNION ").push(EDGES);
        out.push_bind(" AND p.kind = {}", kind).push_bind(" AND p.client_owner = {}", self.owner)
    }
}

/// Texts with this part.
fn pattern(part: &str) -> String {
    format!("%{}%", part.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))
}

/// The largest edges, and how many there are in all.
pub async fn largest(
    db: &impl Query,
    filter: &EdgeFilter,
    labelled: &[LabelledAddresses],
    limit: u32,
) -> Result<(Vec<Edge>, i64), HostError> {
    let Some(condition) = condition(db, filter, labelled).await? else { return Ok((Vec::new(), 0)) };
    let (mut rows, mut total) = (Vec::new(), 0);
    for kind in Kind::ALL.into_iter().filter(|kind| filter.kind.is_none_or(|only| only == *kind)) {
        let edges = count(db, kind, &condition, labelled).await?;
        let first = match &condition.subject {
            Some(subject) => Some(subject.edges(kind)),
            None if condition.is_empty() || edges > i64::from(limit).saturating_mul(SORTED_PER_EDGE) => None,
            None if edges == 0 => continue,
            None => Some(condition.matching(kind)),
        };
        rows.extend(db.rows::<Row>(select(kind, &condition, first, limit)).await?);
        total += edges;
    }
    rows.sort_by_key(|row| Reverse((row.edge_volume, row.edge_jobs, Reverse(row.id))));
    rows.truncate(limit as usize);
    Ok((fold(db, rows).await?, total))
}

fn select(kind: Kind, condition: &Condition, first: Option<Sql>, limit: u32) -> Sql {
    let columns = SUMS.split(", ").map(|column| format!("e.{column}")).collect::<Vec<_>>().join(", ");
    let select = format!(
        "SELECT e.id, e.kind, e.client_owner, \
         (SELECT min(f.id) FROM network_agents f WHERE f.owner = e.client_owner) AS from_agent, \
         t.id AS to_agent, t.owner AS to_owner, e.edge_jobs, e.edge_volume, {columns}"
    );
    condition
        .push_unlabelled(condition.push_to(sql(select), kind, first))
        .push_bind(" ORDER BY e.edge_volume DESC, e.edge_jobs DESC, e.id LIMIT {}", limit)
}

/// How many edges of a kind meet the condition. There may be a million: they are counted by kept numbers or by an index, and those with a
/// label, which are few, are taken off.
async fn count(
    db: &impl Query,
    kind: Kind,
    condition: &Condition,
    labelled: &[LabelledAddresses],
) -> Result<i64, HostError> {
    if let Some(subject) = &condition.subject {
        let edges = condition.push_to(sql("SELECT count(*)"), kind, Some(subject.edges(kind)));
        return db.one(condition.push_unlabelled(edges)).await;
    }
    let all: i64 = db.one(count_all(kind, condition)).await?;
    if condition.unlabelled.is_none() {
        return Ok(all);
    }
    let with_label = if condition.is_empty() {
        labelled::find(db, kind).await?
    } else {
        let edges = labelled::edges(kind, labelled);
        db.one(condition.push_to(sql("SELECT count(*)"), kind, Some(edges))).await?
    };
    // Without a filter, what is labelled was counted some minutes ago.
    Ok((all - with_label).max(0))
}

/// Of edges with a label and without.
fn count_all(kind: Kind, condition: &Condition) -> Sql {
    let kept = "SELECT cast(coalesce(sum(n.row_count), 0) AS BIGINT) FROM network_pairs_counts n";
    match kind {
        Kind::Hire if condition.is_empty() => sql(kept).push_bind(" WHERE n.counted_by = {}", kind),
        Kind::X402 if condition.min_jobs.is_none() => condition.push_capability(sql(kept).push(
            " JOIN network_agents t ON t.owner = n.counted_by \
             WHERE t.id = (SELECT min(l.id) FROM network_agents l WHERE l.owner = t.owner)",
        )),
        _ => sql("SELECT count(*) FROM (").push_sql(condition.matching(kind)).push(") m"),
    }
}

/// Adds the other pairs of edges that have several.
async fn fold(db: &impl Query, rows: Vec<Row>) -> Result<Vec<Edge>, HostError> {
    #[derive(Deserialize)]
    struct PairRow {
        edge: i64,
        #[serde(flatten)]
        sums: Sums,
    }
    let mut totals: BTreeMap<i64, Sums> = BTreeMap::new();
    let several: Vec<i64> = rows.iter().filter(|row| !row.is_alone()).map(|row| row.id).collect();
    for ids in several.chunks(IDS_OF_STATEMENT) {
        let placeholders = (1..=ids.len()).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ");
        let select = format!("SELECT edge, {SUMS} FROM network_pairs WHERE edge IN ({placeholders})");
        let select = ids.iter().fold(sql(select), |select, id| select.bind(*id));
        for PairRow { edge, sums } in db.rows(select).await? {
            let total = totals.remove(&edge).map_or_else(|| sums.clone(), |total| total.plus(&sums));
            totals.insert(edge, total);
        }
    }
    let edge = |row: Row| {
        let Row { id, kind, client_owner: from, from_agent, to_owner: to, to_agent, sums, .. } = row;
        Edge { ends: Ends { kind, from, from_agent, to, to_agent }, sums: totals.remove(&id).unwrap_or(sums) }
    };
    Ok(rows.into_iter().map(edge).collect())
}
