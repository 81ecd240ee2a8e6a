//! HTTP from the wild: clients that are slow, many, wrong or hostile. Rule: who behaves is served as if they were not there.

mod abuse;
mod floods;
mod frames;
mod held;
mod json;
mod measure;
mod neighbours;
mod slow;
mod torture;
mod unharmed;
