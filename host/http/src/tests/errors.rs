//! Errors of this crate have the one error body.

use super::fixture::{Client, listener_settings, settings, start};
use crate::problem::problem_response;
use crate::{Listener, ListenerError};
use gateway_config::HttpConfig;
use http::StatusCode;
use http_body_util::BodyExt;

#[tokio::test]
async fn a_panic_is_a_500_without_its_text_and_the_connection_stays_open() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let response = client.get("/panic").await;
    assert_eq!((response.status, &*response.code()), (500, "internal"));
    assert!(!response.text().contains("secret"));
    assert!(response.header("x-request-id").is_some());
    assert_eq!(client.get("/hello").await.text(), "hello");
}

#[tokio::test]
async fn the_error_body_is_error_code_and_hint() {
    let response = problem_response(StatusCode::CONFLICT, "replay", "seen before", "sign again");
    assert_eq!(response.status(), 409);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, r#"{"error":"seen before","code":"replay","hint":"sign again"}"#);
    let response = problem_response(StatusCode::NOT_FOUND, "not_found", "no such thread", "");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, r#"{"error":"no such thread","code":"not_found"}"#);
}

#[tokio::test]
async fn an_address_in_use_names_the_key() {
    let server = start(&settings());
    let Err(error) = Listener::bind(&listener_settings(&HttpConfig { listen: server.addr, ..settings() })) else {
        panic!("bound twice")
    };
    assert!(matches!(error, ListenerError::AddressInUse { .. }));
    assert!(error.to_string().contains("http.listen"), "{error}");
    assert!(error.to_string().contains(&server.addr.to_string()), "{error}");
}

#[tokio::test]
async fn an_address_of_another_machine_names_the_key() {
    let listen = "192.0.2.1:0".parse().unwrap();
    let Err(error) = Listener::bind(&listener_settings(&HttpConfig { listen, ..settings() })) else {
        panic!("bound elsewhere")
    };
    assert!(error.to_string().contains("http.listen"), "{error}");
}
