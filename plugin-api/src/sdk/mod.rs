//! What a plugin's author writes against. Start with the plugin `hello` and `plugin-api/README.md`.

mod address;
mod answer;
mod chain;
mod content;
mod context;
mod db;
mod definition;
mod discovery;
mod error;
mod event;
mod export;
mod extract;
mod fence;
mod fetch;
pub mod format;
mod handler;
mod hash;
mod id;
mod job;
mod kept;
mod mentions;
mod page;
pub mod point;
mod position;
mod request;
mod route;
mod row;
mod search;
mod sign;
mod stream;
mod tx;
mod viewer;
mod wei;

pub use address::{Address, BadAddress};
pub use answer::{Accepted, Created, IntoAnswer, Json, NoContent, Raw, Stored, Text, WithHeader};
pub use chain::{Chain, ContractCall, MAIN as MAIN_CHAIN, chain_int};
pub use content::{BadContent, Content, NewContent, PayloadFacts};
pub use context::{Authors, Context, Gateway, HostHandle, TaskHandle};
pub use db::{Bind, Db, Query, Sql, Tx, sql};
pub use definition::{Definition, Identity, Migration, NoConfig, Plugin, Refusal};
pub use error::{ApiError, Case, Failure, NoError, Problem};
pub use event::Event;
pub use export::{object_manifest, object_new};
pub use extract::{
    Body, Describe, Extract, FromParam, HeaderName, HeaderValue, Path, Payload, Query as QueryString, Signed, SignedBy,
};
pub use fetch::{Fetch, Fetched};
pub use handler::Handler;
pub use hash::Hash256;
pub use job::Job;
pub use kept::{Kept, KeptJson, keep};
pub use mentions::mentioned_payloads;
pub use page::{Limit, Page, lenient};
pub use position::Position;
pub use request::Request;
pub use route::{KIB, Route, Unguarded};
pub use row::decode as decode_rows;
pub use row::json_text;
pub use search::Search;
pub use sign::{SignAnswer, Signer};
pub use stream::{BodyChunks, Topic};
pub use tx::SendTx;
pub use viewer::Viewer;
pub use wei::{BadWei, Wei};

pub use crate::abi::{Cell, FfiBytes, HostError, HostErrorCode, Outcome, Rows, Value};
pub use crate::manifest::{
    BlockInfo, ChainEvent, Environment, Grants, IntentStatus, Lane, LogInfo, ReceiptInfo, TxState, UrlProblem,
};
pub use schemars::JsonSchema;

/// What the macros expand to; not for authors.
#[doc(hidden)]
pub mod __private {
    pub use super::id::read_id;
    pub use schemars;
    pub use serde;
    pub use serde_json::Value;
}
