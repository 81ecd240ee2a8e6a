//! One answer to every request, out of memory: on bare hyper, and on axum. What HTTP alone costs.

use crate::server::{Server, Site};
use anyhow::Result;
use axum::{Router, http::header::CONTENT_TYPE};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{convert::Infallible, fs};

pub const HYPER: &str = "hyper-plain";
pub const AXUM: &str = "axum-plain";

const BODY: &str = "BENCH_BODY";
const JSON: &str = "application/json";

/// One of the two with this answer.
pub fn start(name: &str, body: &[u8]) -> Result<Server> {
    let site = Site::new()?;
    let file = site.folder.path().join("body");
    fs::write(&file, body)?;
    let mut command = crate::bench::peer(name)?;
    command.env(super::LISTEN, site.address.to_string()).env(BODY, file);
    Server::start(site, command, "/api/hello/world")
}

fn body() -> Result<Bytes> {
    Ok(fs::read(super::variable(BODY)?)?.into())
}

pub async fn serve_hyper() -> Result<()> {
    let (listener, body) = (super::listener().await?, body()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let body = body.clone();
        let answer = service_fn(move |_: Request<Incoming>| {
            let answer = Response::builder().header(CONTENT_TYPE, JSON).body(Full::new(body.clone()));
            async move { answer }
        });
        tokio::spawn(async move {
            // A client that goes away is no failure of this server.
            let _ = http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

pub async fn serve_axum() -> Result<()> {
    let body = body()?;
    let answer = move || async move { Ok::<_, Infallible>(([(CONTENT_TYPE, JSON)], body)) };
    let app = Router::new().route("/api/hello/{name}", axum::routing::get(answer));
    Ok(axum::serve(super::listener().await?, app).await?)
}
