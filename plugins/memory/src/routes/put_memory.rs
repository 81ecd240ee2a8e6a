//! `PUT /api/memory/{key}`: stores a value of the signer. What is above the quota is paid in the same transaction.

use super::PER_MINUTE;
use crate::{
    Config, Memory,
    error::MemoryError,
    model::{self, MemoryKey, NewValue, PaidRoom, Quota, Room, StoredValue},
    store::{self, drafts::Draft, records::Change, values::Before},
};
use plugin_api::{HandlerError, Path, RequestContext, Route, Signed, Tx, payment::Price, response::CreatedOrUpdated};

pub fn route() -> Route<Memory> {
    Route::put("/api/memory/{key}", put_memory)
        .signed("memory.put")
        .priced("each started block above the quota, for 30 days, paid to the treasury", price_of_put)
        .private_path()
        .per_minute(PER_MINUTE)
        .summary("Store a value under your key")
        .example("PUT /api/memory/{key} {value} signed as memory.put")
        .description(
            "Values are sealed; sizes, times and the hash of the value stay readable. Sign the key, too: a signature \
             without it is good for each of your keys. The response has the record that was appended to your log.",
        )
}

type Result<T> = std::result::Result<T, HandlerError<MemoryError>>;

/// From committed rows: whether something has to be paid. The write computes it again.
async fn price_of_put(
    cx: RequestContext<Memory>,
    Signed { signer: owner, payload: NewValue { value, .. } }: Signed<NewValue>,
    Path(key): Path<String>,
) -> Result<Price> {
    let key = MemoryKey::parse_new(&key)?;
    value.check_size()?;
    let (db, config, size) = (cx.db(), &cx.plugin().config, value.size());
    let head = store::heads::read(&db, owner).await?;
    if head.used_bytes.saturating_add(size) <= config.free_bytes {
        return Ok(Price::free());
    }
    let tags = store::sealed::name_tags(&cx, owner, &key).await?;
    let before = store::values::find(&db, owner, &tags).await?;
    let used = head.used_bytes - before.as_ref().map_or(0, |before| before.size) + size;
    let room = Room::needed(used, store::credits::live_bytes(&db, owner, cx.now_s()).await?, config);
    if room.blocks == 0 {
        return Ok(Price::free());
    }
    // Nobody is asked to pay for what would be refused.
    check_keys(before.is_none(), head.key_count, config)?;
    store::limits::check(&db, config, &cx.client_network(), size, cx.now_s()).await?;
    Ok(room.price(config))
}

async fn put_memory(
    cx: RequestContext<Memory>,
    Signed { signer: owner, payload: NewValue { value, .. } }: Signed<NewValue>,
    Path(key): Path<String>,
) -> Result<CreatedOrUpdated<StoredValue>> {
    let key = MemoryKey::parse_new(&key)?;
    value.check_size()?;
    let (config, client) = (cx.plugin().config.clone(), cx.client_network());
    store::limits::check(&cx.db(), &config, &client, value.size(), cx.now_s()).await?;
    let (draft, sealed) = Draft::put(&cx, owner, &key, value.as_str()).await?;
    let write = SealedWrite { key, draft, sealed, client };
    cx.write(async move |tx| write.store(tx, &config).await).await
}

fn check_keys(is_new: bool, keys: i64, config: &Config) -> std::result::Result<(), MemoryError> {
    if is_new && keys >= config.keys_max { Err(MemoryError::TooManyKeys(keys)) } else { Ok(()) }
}

/// A value that is sealed, and where it comes from.
struct SealedWrite {
    key: MemoryKey,
    draft: Draft,
    sealed: store::drafts::SealedValue,
    client: String,
}

impl SealedWrite {
    async fn store(&self, tx: &Tx, config: &Config) -> Result<CreatedOrUpdated<StoredValue>> {
        let Self { key, draft, sealed, client } = self;
        let (owner, size, now_s) = (draft.owner, draft.header.size, tx.now_s());
        let Before { head, paid_bytes: live, value: before } = store::values::before(tx, owner, &draft.tags).await?;
        check_keys(before.is_none(), head.key_count, config)?;
        let value_bytes = size - before.as_ref().map_or(0, |before| before.size);
        let room = Room::needed(head.used_bytes + value_bytes, live, config);
        let paid = if room.blocks > 0 { Some(self.pay(tx, room, config).await?) } else { None };
        tx.defer(store::values::store(draft, sealed, before.as_ref(), now_s))?;
        tx.defer(store::limits::count_upload(owner, client, size, now_s))?;
        let change = Change { value_bytes, keys: i64::from(before.is_none()) };
        let (record, head) = store::records::append(tx, draft, &head, change)?;
        let paid_bytes = live + paid.map_or(0, |paid| paid.bytes);
        let stored = StoredValue {
            address: owner,
            key: key.clone(),
            size,
            created_at: before.as_ref().map_or(now_s, |before| before.created_at),
            updated_at: now_s,
            quota: Quota::new(head.used_bytes, head.key_count, paid_bytes, config),
            paid,
            record,
        };
        Ok(CreatedOrUpdated { created: before.is_none(), value: stored })
    }

    /// Charges the payment and credits the room: both are committed with the value, or nothing is.
    async fn pay(&self, tx: &Tx, room: Room, config: &Config) -> Result<PaidRoom> {
        let payment = tx.charge(&room.price(config)).await?;
        let bytes = room.bytes(config);
        let expires_at = tx.now_s().saturating_add(config.credit_s());
        tx.defer(store::credits::insert(self.draft.owner, bytes, &payment, tx.now_s(), expires_at))?;
        Ok(model::PaidRoom { blocks: room.blocks, bytes })
    }
}
