//! What a plugin gets from the gateway beyond the database, seen from outside: secrets, errors with headers, jobs that are woken,
//! fetches, responses that are passed on while they arrive, routes for any method, transactions.

mod errors;
mod fetches;
mod job_leases;
mod job_wakes;
mod raw_calls;
mod relays;
mod routes;
mod secret_keys;
mod secrets;
mod transactions;
mod uploads;

use plugin_testing::{TestGateway, TestResponse, Value};

async fn post(gateway: &TestGateway, path: &str, body: Value) -> TestResponse {
    gateway.send("POST", path, &[("content-type", "application/json")], body.to_string()).await
}
