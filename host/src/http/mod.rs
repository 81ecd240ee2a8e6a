//! HTTP: from the socket to a plugin's handler. Rule: every answer, errors of every layer included, has one body type and
//! one error shape.

pub mod body;
pub mod edge;
pub mod problem;
