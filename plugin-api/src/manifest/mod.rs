//! The plugin's manifest, and the other JSON documents that gateway and plugin exchange.
//!
//! The rule: these types only grow. New fields have a default and unknown fields are ignored, so that an older plugin's
//! document keeps its meaning in a newer gateway.

mod chain;
mod data_version;
mod environment;
mod event;
mod fetch;
mod file;
mod log;
mod presence;
mod queue;
mod route;
mod routes;
mod secret;
mod service;
mod sign;
mod stream;
mod target_member;
mod tx;

pub use chain::{
    BlockInfo, BlockTransactions, ChainCall, ChainEvent, ChainMethod, EthCall, EthCallResult, EventFilter, GasEstimate,
    IndexCall, IndexPosition, LogInfo, MAIN, RawCallError, RawChainCall, RawChainReply, ReceiptInfo, TransactionInfo,
};
pub use data_version::DataVersionResult;
pub use environment::{Brand, Environment};
pub use event::{ActivityRecord, ActivityRow, EventRef, TopicRow};
pub use fetch::{FetchCall, FetchHead, UrlCheckCall, UrlCheckResult, UrlProblem};
pub use file::{FileCall, FileOperation};
pub use log::{LogBatch, LogBatchCall, LogDoneCall};
pub use presence::{ContributorsCall, ContributorsResult, PluginPresence, PresenceCall, PresenceResult};
pub use queue::{PushedTask, QueueCall, QueueLimits, QueueSpec, QueueTask, RenewCall, TaskEnd, TaskLease, TaskOutcome};
pub use route::{
    ANY_METHOD, Answer, Auth, BriefingSpec, ErrorDetail, ErrorDetailIn, NeededSetting, Parameter, ParameterIn, Parent,
    PriceSpec, RateLimit, RouteSpec,
};
pub use routes::{RoutesCall, RoutesResult};
pub use secret::{SealedKeyForm, SecretCall, SecretOperation};
pub use service::{CallTypes, ServiceCall, ServiceSpec};
pub use sign::{SignCall, SignResult, Signable};
pub use stream::{LabelTest, RETRACTED_TYPES_LABEL, Subscription};
pub use target_member::TargetMember;
pub use tx::{
    Intent, IntentFailure, IntentStatus, JournalCall, NonceQueueStatus, SignedTransaction, TxCall, TxState,
    WalletTransaction,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The description of a plugin, which the gateway reads before the plugin runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    pub name: String,
    pub version: String,
    /// One sentence for people: what the plugin is for.
    pub summary: String,
    pub routes: Vec<RouteSpec>,
    /// JSON Schemas (2020-12) that routes refer to as `#/components/schemas/<name>`.
    pub schemas: Map<String, Value>,
    pub migrations: Vec<MigrationSpec>,
    /// Views that other plugins may read, for example `agents_v1`; created by this plugin's migrations.
    pub views: Vec<String>,
    /// Those among [`Self::views`] that only plugins with the grant for them may read.
    pub private_views: Vec<String>,
    pub jobs: Vec<JobSpec>,
    /// Queues whose tasks it handles; [`crate::abi::PluginObject::run_task`] takes the index in this list.
    pub queues: Vec<QueueSpec>,
    /// Contributions to extension points; [`crate::abi::PluginObject::contribute`] takes the index in this list.
    pub contributions: Vec<ContributionSpec>,
    /// Extension points of the plugin's own, to which others contribute.
    pub points: Vec<ServiceSpec>,
    /// Services that it provides; [`crate::abi::PluginObject::call_service`] takes the index in this list.
    pub provides: Vec<ServiceSpec>,
    /// Services of other plugins that it calls.
    pub uses: Vec<ServiceSpec>,
    /// Names of topics; [`crate::abi::PluginObject::render`] takes the index in this list.
    pub topics: Vec<String>,
    pub subscriptions: Vec<SubscriptionSpec>,
    /// The author raises it when the handlers of chain events derive other rows: the gateway then rebuilds the index.
    pub index_version: u32,
    /// JSON Schema of the plugin's configuration.
    pub config_schema: Value,
    pub requires: Vec<String>,
    /// Whether it is off until an operator enables it by name, like a tutorial.
    pub off_by_default: bool,
    /// Whether it uses transactions that cannot run again: [`crate::abi::Host::begin`] and [`crate::abi::Head::transaction`], which are
    /// refused otherwise. On PostgreSQL all transactions of such a plugin run one after the other, on all gateways. A manifest
    /// without the field is that of a plugin compiled before, which may use them.
    #[serde(default = "yes")]
    pub own_transactions: bool,
    pub grants: Grants,
    /// Event types that the plugin publishes, for documentation and filters.
    pub event_types: Vec<String>,
    /// Skills in the network's agent card.
    pub skills: Vec<SkillSpec>,
    /// Members of `limits` in the network's manifest: numbers by name, for example `forumBodyBytes`.
    pub limits: Map<String, Value>,
}

/// A skill in the network's agent card: what agents can do with the plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkillSpec {
    /// Unique in the gateway, for example `store-payload`.
    pub id: String,
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    /// Texts. One that begins with a method is a call of one of the plugin's routes.
    pub examples: Vec<String>,
}

/// A migration of a plugin's schema. Applied once, in order, all pending ones together; never changed afterwards.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MigrationSpec {
    pub version: u32,
    pub name: String,
    /// SQL for both databases, or for SQLite when `postgres` is given.
    /// `{{id}}` is the dialect's own auto-numbered 64-bit primary key, `{{blob}}` its type for bytes.
    /// `{{search_index TABLE (COLUMN, …)}}` makes an index that finds the rows which contain a text.
    /// `{{row_counts TABLE (COLUMN, …)}}` makes the table `TABLE_counts` with the columns and `row_count`, which the gateway
    /// keeps: the number of rows with each value of the columns (NOT NULL), or of all rows: `{{row_counts TABLE ()}}`. Values
    /// that no row has may be absent. It can only be read: on PostgreSQL it is a view.
    /// `{{queue TABLE}}` makes the tables of a durable queue: see [`crate::queue`].
    pub sql: String,
    #[serde(default)]
    pub postgres: Option<String>,
}

impl MigrationSpec {
    /// One whose SQL both databases understand.
    pub fn new(version: u32, name: &str, sql: &str) -> Self {
        Self { version, name: name.to_owned(), sql: sql.to_owned(), postgres: None }
    }

    /// One whose SQL PostgreSQL needs in another form.
    pub fn per_dialect(version: u32, name: &str, sqlite: &str, postgres: &str) -> Self {
        Self { postgres: Some(postgres.to_owned()), ..Self::new(version, name, sqlite) }
    }
}

/// A scheduled job. It runs on one gateway at a time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobSpec {
    pub name: String,
    pub schedule: Schedule,
    /// The gateway cancels a run after this long.
    pub timeout_ms: u64,
    /// How long a gateway that died keeps the others from the job, where that is less than the gateway's own time. A machine that stalls
    /// loses a short lease soon, so it is for jobs that may run twice for a moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
}

/// The `wake` capability: asks for a run of one of the plugin's jobs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WakeCall {
    pub job: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Milliseconds from the end of one run to the start of the next.
    EveryMs(u64),
    /// Five or six fields, UTC.
    Cron(String),
}

/// A contribution to an extension point, which the host or plugins collect by its name: see [`crate::point`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ContributionSpec {
    pub point: String,
    /// Whether the value depends on the input and stored data alone: see [`crate::Definition::contributes_cached`].
    #[serde(default)]
    pub cached: bool,
    /// For a point of a plugin's own; the types of the gateway's points are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub types: Option<CallTypes>,
}

/// Chain events from which the plugin derives rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SubscriptionSpec {
    /// A chain of the gateway's configuration. Another than `main` needs the chain in the grants.
    #[serde(default = "main_chain")]
    pub chain: String,
    /// Key of the contract in the configuration of the chain, for example `registry`.
    pub contract: String,
    /// Event signature, for example `Registered(uint256 indexed agentId, string agentURI, address indexed owner)`.
    pub event: String,
    /// The values that an indexed argument may have, by its name. Others are not filtered.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub indexed: BTreeMap<String, Vec<IndexedValue>>,
    /// Tables that only handlers of chain events write; the gateway undoes their changes on a reorganisation. A table belongs to one
    /// chain.
    #[serde(default)]
    pub derived_tables: Vec<String>,
}

/// A value of an indexed argument that a subscription looks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexedValue {
    /// An address, a number or a hash, as text or number.
    Value(Value),
    /// The address that the configuration of the chain has under this key. While it has none, nothing is found.
    Contract(String),
}

fn yes() -> bool {
    true
}

fn main_chain() -> String {
    MAIN.to_owned()
}

/// Capabilities that the plugin requests beyond its own tables.
///
/// ```
/// use plugin_api::Grants;
///
/// let outbound = Grants { egress: true, ..Grants::default() };
/// let payer = Grants { chains: vec!["main".to_owned()], signer_roles: vec!["payin".to_owned()], ..Grants::default() };
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Grants {
    /// Outbound HTTP.
    pub egress: bool,
    /// Names of chains that it reads.
    pub chains: Vec<String>,
    /// Reads every chain of the gateway's configuration, because the plugin's own configuration names those that it needs. It follows
    /// no events of them, and sends transactions only on those of `chains`.
    pub all_chains: bool,
    /// Keys with which it may sign, by role: `gateway`, `facilitator`, `relayer`, `growth`, `payin`, `oracle`, `log`, and
    /// `loadtest`, whose wallets sign by their index: [`crate::chain::Wallets`].
    pub signer_roles: Vec<String>,
    /// Secrets of its own, which the gateway keeps: [`crate::HostHandle::secret`].
    pub secrets: bool,
    /// Calls of any method of the servers of the chains that it reads: [`crate::chain::RawCall`].
    pub raw_calls: bool,
    /// Small files in the gateway's data folder: [`crate::HostHandle::file`].
    pub files: bool,
    /// Private views of other plugins and of the gateway, for example `messages_v1`. Other views need no grant.
    pub views: Vec<String>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Manifest;

    /// Its transactions may be of the kind that cannot run again.
    #[test]
    fn a_manifest_of_before_uses_its_own_transactions() {
        let older: Manifest = serde_json::from_str(r#"{"name": "notes", "version": "1.0.0"}"#).unwrap();
        assert!(older.own_transactions);
    }

    #[test]
    fn what_a_manifest_says_of_transactions_is_read_as_it_was_written() {
        for own_transactions in [false, true] {
            let text = serde_json::to_string(&Manifest { own_transactions, ..Manifest::default() }).unwrap();
            assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap().own_transactions, own_transactions);
        }
    }
}
