//! Whether a client names the target of what it signs: a forwarder between client and gateway keeps what the client sends.
//!
//! The rule: a signed payload names each parameter of its path. The gateway also takes payloads that name none, so its answers
//! show nothing; but such a signature, once seen, can be sent to every other target of its action.

use crate::all_plugins::modules;
use gateway_tests::process::GatewayProcess;
use plugin_api::manifest::{Manifest, RouteSpec};
use plugin_testing::{Value, json};
use std::{
    collections::BTreeSet,
    io,
    net::Ipv4Addr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

const PART_BYTES: usize = 8 * 1024;

/// What came on each connection.
type ReceivedBytes = Arc<Mutex<Vec<Vec<u8>>>>;

/// A way to the gateway on which requests are kept.
pub struct SentRequests {
    /// For the client, in place of the gateway's.
    pub base_url: String,
    sent: ReceivedBytes,
    task: JoinHandle<()>,
}

struct SentRequest {
    method: String,
    path: String,
    /// `null` when the body is no JSON.
    payload: Value,
}

fn lock(sent: &ReceivedBytes) -> MutexGuard<'_, Vec<Vec<u8>>> {
    sent.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SentRequests {
    pub async fn to(gateway: &GatewayProcess) -> Self {
        Self::forwarded_to(gateway.address()).await
    }

    /// A way to any server.
    pub async fn forwarded_to(address: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let sent = ReceivedBytes::default();
        let task = tokio::spawn(accept(listener, address.to_owned(), sent.clone()));
        Self { base_url, sent, task }
    }

    /// The values that requests had in this header.
    pub fn header_values(&self, name: &str) -> Vec<String> {
        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        let all: Vec<String> = lock(&self.sent).iter().map(text).collect();
        let lines = all.iter().flat_map(|text| text.lines()).filter_map(|line| line.split_once(": "));
        lines.filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned()).collect()
    }

    /// The operations whose path has a target and that were called, sorted. Fails when a payload does not name its target.
    pub fn with_named_targets(&self) -> Vec<String> {
        let manifests: Vec<Manifest> = modules().into_iter().map(plugin_testing::manifest).collect();
        let routes: Vec<&RouteSpec> = manifests.iter().flat_map(|manifest| &manifest.routes).collect();
        let mut operations = Vec::new();
        for request in lock(&self.sent).iter().flat_map(|bytes| requests(bytes)) {
            let Some(route) = request.signed_route(&routes) else { continue };
            let unnamed = unnamed(route, &request.payload);
            assert!(unnamed.is_empty(), "{} signs no {unnamed:?}: {}", route.operation, request.payload);
            operations.push(route.operation.clone());
        }
        operations.sort();
        operations
    }
}

impl Drop for SentRequests {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, gateway: String, sent: ReceivedBytes) {
    while let Ok((client, _)) = listener.accept().await {
        // It fails when one side goes away, which the other one is told by the end of its connection.
        tokio::spawn(forward(client, gateway.clone(), sent.clone()));
    }
}

async fn forward(client: TcpStream, gateway: String, sent: ReceivedBytes) -> io::Result<()> {
    let (mut from_gateway, mut to_gateway) = TcpStream::connect(gateway).await?.into_split();
    let (mut from_client, mut to_client) = client.into_split();
    tokio::spawn(async move { copy(&mut from_gateway, &mut to_client).await });
    let connection = {
        let mut sent = lock(&sent);
        sent.push(Vec::new());
        sent.len() - 1
    };
    let mut part = vec![0; PART_BYTES];
    loop {
        let count = from_client.read(&mut part).await?;
        if count == 0 {
            return to_gateway.shutdown().await;
        }
        // Before it is forwarded: who has seen the answer finds the request here.
        lock(&sent)[connection].extend_from_slice(&part[..count]);
        to_gateway.write_all(&part[..count]).await?;
    }
}

/// The requests on a connection, by their heads and lengths: these clients send no body of unknown length.
fn requests(mut bytes: &[u8]) -> Vec<SentRequest> {
    let mut requests = Vec::new();
    while let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
        let (head, rest) = (String::from_utf8_lossy(&bytes[..end]), &bytes[end + 4..]);
        let field = |name: &str| {
            let mut fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
            fields.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
        };
        assert_eq!(field("transfer-encoding"), None, "{head}");
        let length: usize = field("content-length").map_or(0, |length| length.parse().unwrap());
        let mut line = head.lines().next().unwrap_or_default().split(' ');
        let (method, target) = (line.next().unwrap_or_default(), line.next().unwrap_or_default());
        requests.push(SentRequest {
            method: method.to_owned(),
            path: target.split('?').next().unwrap_or_default().to_owned(),
            payload: serde_json::from_slice(&rest[..length]).unwrap_or_default(),
        });
        bytes = &rest[length..];
    }
    requests
}

impl SentRequest {
    /// The route that takes it, if its payload can name a target. Of two the one with fewer parameters, as in the router.
    fn signed_route<'r>(&self, routes: &[&'r RouteSpec]) -> Option<&'r RouteSpec> {
        let is_meant = |route: &&&RouteSpec| {
            let (declared, given) = (route.path.split('/'), self.path.split('/'));
            let is_alike = declared.clone().zip(given.clone()).all(|(one, other)| one.starts_with('{') || one == other);
            route.method == self.method && declared.count() == given.count() && is_alike
        };
        let route = routes.iter().filter(is_meant).min_by_key(|route| route.path.matches('{').count())?;
        (!route.target_members().is_empty()).then_some(*route)
    }
}

/// The parameters of the path, by position, that no member of the payload names.
fn unnamed(route: &RouteSpec, payload: &Value) -> BTreeSet<usize> {
    let members = route.target_members();
    let is_named = |position: usize| {
        members.iter().any(|member| member.position == position && payload.get(&member.name).is_some())
    };
    members.iter().map(|member| member.position).filter(|position| !is_named(*position)).collect()
}

#[test]
fn a_payload_that_names_no_target_is_found() {
    let forum = plugin_testing::manifest(forum::plugin_module());
    let body = json!({ "threadId": 3, "body": "Yes", "sig": "0x" }).to_string();
    let length = body.len();
    let bytes = format!(
        "GET /api/forum/threads?limit=1 HTTP/1.1\r\nhost: a\r\n\r\n\
         POST /api/forum/threads/3/posts HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let sent = requests(bytes.as_bytes());
    let [read, write] = &sent[..] else { panic!("these are two requests") };
    let routes: Vec<&RouteSpec> = forum.routes.iter().collect();
    assert!(read.path == "/api/forum/threads" && read.signed_route(&routes).is_none());
    let route = write.signed_route(&routes).unwrap();
    assert_eq!(route.operation, "create_post");
    assert_eq!(unnamed(route, &write.payload), BTreeSet::new());
    assert_eq!(unnamed(route, &json!({ "body": "Yes" })), BTreeSet::from([0]));
}
