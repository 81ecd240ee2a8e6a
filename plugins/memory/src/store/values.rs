//! Values: inserts, reads and deletes by the tag of their name.

use super::{
    credits,
    drafts::{Draft, SealedValue},
    heads::{self, Head},
    sealed,
};
use crate::model::MemoryKey;
use plugin_api::{Address, HostError, HostHandle, Query, Sql, Tx, sql};
use serde::Deserialize;

/// What a write needs to know of the value that is there.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredAs {
    pub name_tag: String,
    pub size: i64,
    pub created_at: i64,
}

fn select_by_tags(columns: &str, owner: Address, tags: &[String]) -> Sql {
    let select = sql(format!("SELECT {columns} FROM memory_values WHERE address = $1 AND name_tag")).bind(owner);
    select.push_in(tags)
}

pub async fn find(db: &impl Query, owner: Address, tags: &[String]) -> Result<Option<StoredAs>, HostError> {
    db.row(select_by_tags("name_tag, size, created_at", owner, tags)).await
}

/// What a write starts from.
pub struct Before {
    pub head: Head,
    /// Bytes that are paid for now.
    pub paid_bytes: i64,
    /// The value under the key.
    pub value: Option<StoredAs>,
}

pub async fn before(tx: &Tx, owner: Address, tags: &[String]) -> Result<Before, HostError> {
    let value = select_by_tags("name_tag, size, created_at", owner, tags);
    let statements = [heads::select(owner), credits::select_live(owner, tx.now_s()), value];
    let [head, paid_bytes, value] = tx.run_all(statements).await?;
    Ok(Before { head: head.first()?.unwrap_or(Head::NONE), paid_bytes: paid_bytes.one()?, value: value.first()? })
}

/// Stores the value, in place of the one that is there.
pub fn store(draft: &Draft, sealed: &SealedValue, before: Option<&StoredAs>, now_s: i64) -> Sql {
    let (tag, size) = (draft.tag(), draft.header.size);
    let (name, value) = (&sealed.name[..], &sealed.value[..]);
    let Some(before) = before else {
        let insert = sql("INSERT INTO memory_values \
             (address, name_tag, key_id, size, created_at, updated_at, sealed_name, sealed_value) \
             VALUES ($1, $2, $3, $4, $5, $5, $6, $7)");
        return insert.bind((draft.owner, tag, &draft.key_id, size, now_s, name, value));
    };
    let update =
        sql("UPDATE memory_values SET name_tag = $3, key_id = $4, size = $5, updated_at = $6, sealed_name = $7, \
         sealed_value = $8 WHERE address = $1 AND name_tag = $2");
    update.bind((draft.owner, &before.name_tag, tag, &draft.key_id, size, now_s, name, value))
}

pub fn delete(owner: Address, tag: &str) -> Sql {
    sql("DELETE FROM memory_values WHERE address = $1 AND name_tag = $2").bind((owner, tag))
}

#[derive(Deserialize)]
pub struct ValueRow {
    pub size: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub sealed_value: Vec<u8>,
}

pub async fn read(db: &impl Query, owner: Address, tags: &[String]) -> Result<Option<ValueRow>, HostError> {
    db.row(select_by_tags("size, created_at, updated_at, sealed_value", owner, tags)).await
}

#[derive(Deserialize)]
pub struct NameRow {
    pub name_tag: String,
    pub size: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub sealed_name: Vec<u8>,
}

/// All values of an address, in any order.
pub async fn names(db: &impl Query, owner: Address) -> Result<Vec<NameRow>, HostError> {
    let names = "SELECT name_tag, size, created_at, updated_at, sealed_name FROM memory_values WHERE address = $1";
    db.rows(sql(names).bind(owner)).await
}

/// A value that another master key sealed.
#[derive(Deserialize)]
pub struct StaleValue {
    pub address: Address,
    pub name_tag: String,
    sealed_name: Vec<u8>,
    sealed_value: Vec<u8>,
}

/// Those after this one.
pub async fn stale(
    db: &impl Query,
    key_id: &str,
    after: (&str, &str),
    limit: u32,
) -> Result<Vec<StaleValue>, HostError> {
    let stale = sql("SELECT address, name_tag, sealed_name, sealed_value FROM memory_values \
         WHERE (key_id < $1 OR key_id > $1) AND (address, name_tag) > ($2, $3) ORDER BY address, name_tag LIMIT $4");
    db.rows(stale.bind((key_id, after.0, after.1, limit))).await
}

impl StaleValue {
    /// The statement that stores it sealed with the newest key, unless it was written meanwhile.
    pub async fn resealed(&self, host: &HostHandle, key_id: &str) -> Result<Sql, HostError> {
        let Self { address, name_tag, sealed_name, sealed_value } = self;
        let key: MemoryKey = sealed::open_name(host, *address, name_tag, sealed_name).await?;
        let tags = sealed::name_tags(host, *address, &key).await?;
        let tag = tags.first().unwrap_or(name_tag);
        let new_name = sealed::seal_name(host, *address, tag, &key).await?;
        let new_value = sealed::reseal_value(host, *address, &key, sealed_value).await?;
        let new_value = new_value.unwrap_or_else(|| sealed_value.clone());
        let update = sql("UPDATE memory_values SET name_tag = $4, key_id = $5, sealed_name = $6, sealed_value = $7 \
             WHERE address = $1 AND name_tag = $2 AND sealed_value = $3");
        Ok(update.bind((address, name_tag, &sealed_value[..], tag, key_id, new_name, new_value)))
    }
}
