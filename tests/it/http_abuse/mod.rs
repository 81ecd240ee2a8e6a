//! Clients that are slow, many, wrong or hostile. The rule: well-behaved clients are served as if the others were not
//! there.

mod abuse;
mod floods;
mod frames;
mod json;
mod measure;
mod neighbours;
mod others_served;
mod searches;
mod shared_address;
mod slow;
mod slow_clients;
mod torture;
