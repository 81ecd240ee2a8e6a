//! The SDK for plugin authors. Its public names are in `lib.rs`.

mod address;
mod author;
mod chain;
mod client_network;
mod content;
mod context;
pub mod contracts;
mod db;
mod definition;
mod error;
mod error_details;
mod event;
mod export;
mod extract;
mod fence;
mod fetch;
mod fetch_error;
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
mod secret;
mod sign;
mod skill;
mod stream;
mod stream_position;
mod transaction;
mod tx;
mod viewer;
mod wei;

pub use address::Address;
pub use author::Author;
pub use chain::{Chain, ContractCall, MAIN, chain_int};
pub use client_network::client_network;
pub use content::{Content, ContentError, NewContent, PayloadInfo};
pub use context::{Authors, HostHandle, PluginContext, RequestContext, TaskHandle};
pub use contracts::{AgentId, ContractEvent, JobId};
pub use db::{Bind, Db, Query, Sql, sql};
pub use definition::{ConfigError, Definition, Identity, Migration, NoConfig, Plugin};
pub use error::{ApiError, ErrorSpec, HandlerError, Problem, count_specs, join_specs};
pub use error_details::ErrorDetails;
pub use event::{Event, EventBuilder, unique_key};
pub use export::{object_manifest, object_new};
pub use extract::{
    Body, BodyParts, FromParam, FromRequest, HeaderName, HeaderValue, JsonBody, Path, QueryString, RouteDescription,
    Signed, SignedBy,
};
pub use fetch::{Fetch, FetchResponse};
pub use fetch_error::FetchError;
pub use handler::Handler;
pub use hash::Hash256;
pub use id::read_id;
pub use job::Job;
pub use list::{List, ListPage, Listed, PageStart};
pub use page::{Limit, Page, lenient};
pub use rendered_json::{RenderedJson, render_json};
pub use request::Request;
pub use response::{Accepted, Created, CreatedOrUpdated, IntoResponse, Json, NoContent, RawResponse, Text, WithHeader};
pub use route::{Route, RouteWithoutAuth};
pub use row::decode as decode_rows;
pub use row::json_text;
pub use search::{Search, SearchIndex};
pub use sign::Signer;
pub use skill::Skill;
pub use stream::{StreamBody, Topic};
pub use stream_position::{LastEventId, StreamPosition};
pub use transaction::{Transaction, Tx};
pub use tx::TransactionRequest;
pub use viewer::Viewer;
pub use wei::Wei;

pub use plugin_api_macros::{ApiError, ContractEvent, Event};

pub use crate::abi::{HostError, HostErrorCode, StatementResult};
