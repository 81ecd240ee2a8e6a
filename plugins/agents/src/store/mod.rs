//! All SQL: writes of chain events (`derived/`), reads of routes, and the cards.

pub mod agents;
pub mod authors;
pub mod cards;
pub mod derived;
pub mod jobs;
pub mod labelled;
pub mod leaderboard;
pub mod oracle;
pub mod probes;
pub mod record;
pub mod settings;
pub mod validations;
pub mod work;
