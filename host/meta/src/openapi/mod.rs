//! `/api/openapi.json`: OpenAPI 3.1.0 from the routes' own data. The rule: the document lists, for every route, each response
//! of router, envelope and limits, so that a client generated from it handles all of them.

mod body;
mod components;
mod document;
mod operation;
mod parameters;
mod references;
mod responses;
mod unused_components;

pub use document::document;
