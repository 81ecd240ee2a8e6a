//! HTTP from the wild: clients that are slow, many, wrong or hostile. Rule: who behaves is served as if they were not there.

mod abuse;
mod floods;
mod frames;
mod json;
mod measure;
mod neighbours;
mod others_served;
mod slow;
mod slow_clients;
mod torture;
