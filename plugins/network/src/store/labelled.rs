//! Edges from or to labelled addresses (the operator's own traffic), which no answer has. A job counts them, so that the number of all edges
//! stays one that is kept.

use crate::model::Kind;
use plugin_api::{HostError, Query, Sql, Tx, point::LabelledAddresses, sql};

/// A condition of SQL on an edge `e` to an agent `t`: neither end has a label.
pub fn unlabelled(labelled: &[LabelledAddresses]) -> String {
    let of = |column| LabelledAddresses::leave_out(labelled, column);
    format!("{} AND {}", of("e.client_owner"), of("t.owner"))
}

/// A condition of SQL: an agent, by the column of its id, counts for nobody with a label.
pub fn unlabelled_agent(labelled: &[LabelledAddresses], id: &str) -> String {
    LabelledAddresses::leave_out(labelled, &format!("(SELECT o.owner FROM network_agents o WHERE o.id = {id})"))
}

/// The ids of the edges of a kind from or to an address with a label, each once. Addresses with a label are few.
pub fn edges(kind: Kind, labelled: &[LabelledAddresses]) -> Sql {
    let of_view = |LabelledAddresses { view }: &LabelledAddresses| {
        let of = |join: &str, end: &str| {
            format!(
                "SELECT p.id FROM {view} v{join} CROSS JOIN network_pairs p WHERE p.edge_jobs > 0 AND p.kind = $1 AND {end}"
            )
        };
        let to = match kind {
            Kind::Hire => of(" CROSS JOIN network_agents a", "a.owner = v.address AND p.agent_id = a.id"),
            Kind::X402 => of("", "p.payee_owner = v.address"),
        };
        format!("{} UNION {to}", of("", "p.client_owner = v.address"))
    };
    let of_views: Vec<String> = labelled.iter().map(of_view).collect();
    sql(of_views.join(" UNION ")).bind(kind)
}

/// As they were counted last.
pub async fn find(db: &impl Query, kind: Kind) -> Result<i64, HostError> {
    let select = sql("SELECT edges FROM network_labelled WHERE kind = $1").bind(kind);
    Ok(db.row(select).await?.unwrap_or(0))
}

pub async fn store(tx: &Tx, kind: Kind, edges: i64) -> Result<(), HostError> {
    tx.execute(Sql::upsert("network_labelled", "kind", "edges").bind((kind, edges))).await.map(drop)
}

/// Counts them anew: what no label has is part of the number of all edges.
pub async fn count(db: &impl Query, kind: Kind, labelled: &[LabelledAddresses]) -> Result<i64, HostError> {
    if labelled.is_empty() {
        return Ok(0);
    }
    let agent = match kind {
        Kind::Hire => "e.agent_id",
        Kind::X402 => "(SELECT min(l.id) FROM network_agents l WHERE l.owner = e.payee_owner)",
    };
    let count = format!(
        "SELECT count(*) FROM network_pairs e JOIN network_agents t ON t.id = {agent} \
         WHERE e.edge_jobs > 0 AND e.kind = $1 AND NOT ({})",
        unlabelled(labelled)
    );
    db.one(sql(count).bind(kind)).await
}
