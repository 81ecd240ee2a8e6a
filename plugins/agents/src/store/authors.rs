//! The agent of each address: an active one first, then the lowest id.

use plugin_api::{Address, HostError, Query, Sql, point::AuthorName, sql};
use std::collections::BTreeMap;

/// Addresses per statement. The last statement is padded to one of these sizes, so that few distinct texts are prepared. Each
/// address is a sub-select: at most a third of them are padding.
const SIZES: [usize; 15] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 36, 50, 75, 100, 150, 200];

pub async fn names(db: &impl Query, addresses: &[Address]) -> Result<BTreeMap<Address, AuthorName>, HostError> {
    let mut names = BTreeMap::new();
    for some in addresses.chunks(SIZES[SIZES.len() - 1]) {
        let rows: Vec<(Address, i64, String, bool)> = db.rows(statement(some)).await?;
        names.extend(
            rows.into_iter()
                .map(|(owner, id, name, active)| (owner, AuthorName { name: Some(name), agent_id: Some(id), active })),
        );
    }
    Ok(names)
}

fn statement(addresses: &[Address]) -> Sql {
    let size = SIZES.into_iter().find(|size| *size >= addresses.len()).unwrap_or(addresses.len());
    let first = |param| {
        format!("coalesce((SELECT id FROM agents_agents WHERE owner = ${param} ORDER BY active DESC, id LIMIT 1), 0)")
    };
    let firsts: Vec<String> = (1..=size).map(first).collect();
    let text = format!("SELECT owner, id, name, active FROM agents_agents WHERE id IN ({})", firsts.join(", "));
    let last = addresses.last().copied().unwrap_or(Address::ZERO);
    let padded = addresses.iter().copied().chain(std::iter::repeat(last));
    padded.take(size).fold(sql(text), Sql::bind)
}
