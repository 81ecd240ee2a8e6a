//! Sums by the addresses that paid and were paid. Pairs whose parties count for the same owners are one edge of the graph; the first of
//! them has the sums by which edges are sorted. The rule: those are always the total of the edge's pairs, so they can be computed anew.

use super::folded;
use crate::model::{Kind, Parties, Settlement, Sums};
use plugin_api::{Address, HostError, Query as _, Sql, Tx, sql};
use serde::Deserialize;
use serde_json::json;

pub const TABLE: &str = "network_pairs";

/// The columns of [`Sums`].
pub const SUMS: &str = "jobs, volume, rated_jobs, rating_sum, first_at, last_at, job_ids";

#[derive(Deserialize)]
struct PairRow {
    id: i64,
    edge: i64,
    edge_jobs: i64,
    #[serde(flatten)]
    sums: Sums,
}

impl PairRow {
    /// Whether its edge has no other pair.
    fn is_alone(&self) -> bool {
        self.id == self.edge && self.edge_jobs == self.sums.jobs
    }
}

/// Where a pair that is not there yet belongs.
#[derive(Deserialize)]
struct PairPlacement {
    client_owner: Address,
    /// Empty of a hire.
    payee_owner: String,
    next_id: i64,
    edge: Option<i64>,
}

/// Adds a settlement to the sums of its parties, and to those of their edge.
pub async fn add(tx: &Tx, parties: &Parties, settlement: Settlement) -> Result<(), HostError> {
    let [pair, place] = tx.run_all([select_pair(parties), select_place(parties)]).await?;
    let (pair, place): (Option<PairRow>, PairPlacement) = (pair.first()?, place.one()?);
    let more = Sums::of(&settlement);
    match (pair, place.edge) {
        (Some(pair), _) => {
            let (is_alone, sums) = (pair.is_alone(), pair.sums.plus(&more));
            tx.defer(store_sums(pair.id, &sums))?;
            if is_alone { tx.defer(store_edge(pair.edge, &sums)) } else { total_edge(tx, pair.edge).await }
        }
        (None, None) => {
            tx.defer(insert(parties, &place, place.next_id, &more))?;
            tx.defer(store_edge(place.next_id, &more))?;
            tx.defer(count_edge(place.next_id))
        }
        (None, Some(edge)) => {
            tx.defer(insert(parties, &place, edge, &more))?;
            total_edge(tx, edge).await
        }
    }
}

fn payee(parties: &Parties) -> String {
    parties.payee.map(|payee| payee.to_string()).unwrap_or_default()
}

fn select_pair(parties: &Parties) -> Sql {
    let Parties { kind, client, agent_id, .. } = parties;
    let select = format!(
        "SELECT id, edge, edge_jobs, {SUMS} FROM network_pairs \
         WHERE kind = $1 AND client = $2 AND agent_id = $3 AND payee = $4"
    );
    sql(select).bind((kind.name(), client, agent_id, payee(parties)))
}

fn select_place(parties: &Parties) -> Sql {
    let Parties { kind, client, agent_id, .. } = parties;
    let select = format!(
        "SELECT o.client_owner, o.payee_owner, (SELECT coalesce(max(l.id), 0) + 1 FROM network_pairs l) AS next_id, \
         (SELECT min(p.edge) FROM network_pairs p WHERE p.kind = $1 AND p.client_owner = o.client_owner \
            AND p.agent_id = $3 AND p.payee_owner = o.payee_owner AND p.edge_jobs > 0) AS edge \
         FROM (SELECT {} AS client_owner, {} AS payee_owner) o",
        folded("$2"),
        folded("$4")
    );
    sql(select).bind((kind.name(), client, agent_id, payee(parties)))
}

/// Without what only an edge's first pair has.
fn insert(parties: &Parties, place: &PairPlacement, edge: i64, sums: &Sums) -> Sql {
    let Parties { kind, client, agent_id, .. } = parties;
    let insert = format!(
        "INSERT INTO network_pairs (id, kind, client, agent_id, payee, client_owner, payee_owner, edge, {SUMS}, edge_jobs, \
         edge_volume, counted_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0, '', '')"
    );
    let insert = sql(insert).bind((place.next_id, kind.name(), client, agent_id, payee(parties)));
    insert.bind((place.client_owner, &place.payee_owner, edge)).bind(values(sums))
}

fn values(sums: &Sums) -> (i64, String, i64, i64, i64, i64, String) {
    let Sums { jobs, volume, rated_jobs, rating_sum, first_at, last_at, job_ids } = sums;
    (*jobs, volume.sort_key(), *rated_jobs, *rating_sum, *first_at, *last_at, json!(job_ids).to_string())
}

fn store_sums(id: i64, sums: &Sums) -> Sql {
    let update = "UPDATE network_pairs SET jobs = $2, volume = $3, rated_jobs = $4, rating_sum = $5, first_at = $6, \
         last_at = $7, job_ids = $8 WHERE id = $1";
    sql(update).bind(id).bind(values(sums))
}

fn store_edge(edge: i64, total: &Sums) -> Sql {
    let update = "UPDATE network_pairs SET edge_jobs = $2, edge_volume = $3 WHERE id = $1";
    sql(update).bind((edge, total.jobs, total.volume.sort_key()))
}

fn count_edge(edge: i64) -> Sql {
    let update =
        "UPDATE network_pairs SET counted_by = CASE WHEN kind = $2 THEN kind ELSE payee_owner END WHERE id = $1";
    sql(update).bind((edge, Kind::Hire.name()))
}

/// Computes the sums of an edge from its pairs.
async fn total_edge(tx: &Tx, edge: i64) -> Result<(), HostError> {
    let select = format!("SELECT {SUMS} FROM network_pairs WHERE edge = $1");
    let pairs: Vec<Sums> = tx.rows(sql(select).bind(edge)).await?;
    Sums::total(&pairs).map_or(Ok(()), |total| tx.defer(store_edge(edge, &total)))
}

/// What an account paid and was paid counts for its owner from now on. Most accounts have done nothing when they are created.
pub async fn fold(tx: &Tx, account: Address, owner: Address) -> Result<(), HostError> {
    let clients = sql("UPDATE network_pairs SET client_owner = $2 WHERE client_owner = $1").bind((account, owner));
    let payees =
        sql("UPDATE network_pairs SET payee_owner = $2, counted_by = CASE WHEN edge = id THEN $2 ELSE '' END \
         WHERE payee_owner = $1")
        .bind((account, owner));
    let changed: u64 = tx.batch(vec![clients, payees]).await?.iter().map(|result| result.changes).sum();
    if changed == 0 {
        return Ok(());
    }
    merge(tx, "client_owner", owner).await?;
    merge(tx, "payee_owner", owner).await
}

#[derive(Deserialize)]
struct Ends {
    kind: Kind,
    client_owner: String,
    agent_id: i64,
    payee_owner: String,
    first: i64,
}

/// Makes one of edges that have the same ends now.
async fn merge(tx: &Tx, column: &str, owner: Address) -> Result<(), HostError> {
    let select = format!(
        "SELECT kind, client_owner, agent_id, payee_owner, min(id) AS first FROM network_pairs \
         WHERE {column} = $1 AND edge_jobs > 0 GROUP BY kind, client_owner, agent_id, payee_owner \
         HAVING count(*) > 1 ORDER BY first"
    );
    let doubled: Vec<Ends> = tx.rows(sql(select).bind(owner)).await?;
    for Ends { kind, client_owner, agent_id, payee_owner, first } in doubled {
        let join = "UPDATE network_pairs SET edge = $5, edge_jobs = CASE WHEN id = $5 THEN edge_jobs ELSE 0 END, \
             edge_volume = CASE WHEN id = $5 THEN edge_volume ELSE '' END, \
             counted_by = CASE WHEN id = $5 THEN counted_by ELSE '' END \
             WHERE kind = $1 AND client_owner = $2 AND agent_id = $3 AND payee_owner = $4";
        tx.defer(sql(join).bind((kind.name(), &client_owner, agent_id, &payee_owner, first)))?;
        total_edge(tx, first).await?;
    }
    Ok(())
}
