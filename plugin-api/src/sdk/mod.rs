//! The SDK for plugin authors. Start with the plugin `hello` and `plugin-api/README.md`.

mod address;
mod author;
mod chain;
mod content;
mod context;
pub mod contracts;
mod db;
mod definition;
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
mod insert_rows;
mod job;
mod list;
mod page;
mod payload_references;
pub mod point;
mod rendered_json;
mod request;
mod response;
mod route;
mod row;
mod search;
mod sign;
mod skill;
mod stream;
mod stream_position;
mod transaction;
mod tx;
mod viewer;
mod wei;

pub use address::{Address, AddressParseError};
pub use author::Author;
pub use chain::{Chain, ContractCall, MAIN as MAIN_CHAIN, chain_int};
pub use content::{Content, ContentError, NewContent, PayloadInfo};
pub use context::{Authors, HostHandle, PluginContext, RequestContext, TaskHandle};
pub use contracts::{AgentId, ContractEvent, JobId};
pub use db::{Bind, Db, Query, Sql, sql};
pub use definition::{ConfigError, Definition, Identity, Migration, NoConfig, Plugin};
pub use error::{ApiError, ErrorSpec, HandlerError, NoError, Problem};
pub use event::{Event, EventBuilder};
pub use export::{object_manifest, object_new};
pub use extract::{
    Body, FromParam, FromRequest, HeaderName, HeaderValue, JsonBody, Path, QueryString, RouteDescription, Signed,
    SignedBy,
};
pub use fetch::{Fetch, FetchResponse};
pub use handler::Handler;
pub use hash::Hash256;
pub use job::Job;
pub use list::{List, ListPage, Listed};
pub use page::{Limit, Page, lenient};
pub use payload_references::referenced_payloads;
pub use rendered_json::{RenderedJson, RenderedObject, render_json};
pub use request::Request;
pub use response::{Accepted, Created, CreatedOrUpdated, IntoResponse, Json, NoContent, RawResponse, Text, WithHeader};
pub use route::{KIB, Route, RouteWithoutAuth};
pub use row::decode as decode_rows;
pub use row::json_text;
pub use search::Search;
pub use sign::{SignResult, Signer};
pub use skill::Skill;
pub use stream::{StreamBody, Topic};
pub use stream_position::StreamPosition;
pub use transaction::{Transaction, Tx};
pub use tx::TransactionRequest;
pub use viewer::Viewer;
pub use wei::{Wei, WeiParseError};

pub use crate::abi::{Cell, FfiBytes, HostError, HostErrorCode, Rows, StatementResult, Value};
pub use crate::manifest::{
    BlockInfo, ChainEvent, Environment, Grants, IntentStatus, Lane, LogInfo, ReceiptInfo, TxState, UrlProblem,
};
pub use plugin_api_macros::{ApiError, ContractEvent, Event};
pub use schemars::JsonSchema;

/// Items that the macros use; not for authors.
#[doc(hidden)]
pub mod __private {
    pub use super::{
        error::{count_specs, join_specs},
        event::unique_key,
        id::read_id,
    };
    pub use schemars;
    pub use serde;
    pub use serde_json::Value;
}
