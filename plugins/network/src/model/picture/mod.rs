//! A picture of the graph.

mod graph;
mod label;
mod layout;
mod svg;

pub use graph::Graph;
pub use svg::render;
