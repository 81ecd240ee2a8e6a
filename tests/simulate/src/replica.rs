//! One gateway: a thread with its own runtime, plugins linked in and entered through their ABI tables, and a folder of data.

use crate::{
    configuration::{ConfigTemplate, FIRST_PORT},
    machine::{self, Group},
};
use bytes::Bytes;
use gateway::Gateway;
use gateway_clock::Clock;
use gateway_config::Config;
use gateway_http::{
    ClientIp,
    body::{Body, RequestBody},
};
use gateway_plugins::LoadedPlugin;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;
use plugin_api::abi::PluginModule_Ref;
use std::{
    collections::BTreeSet,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
    thread,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Of the thread of a gateway, on which the simulated PostgreSQL runs, too.
const STACK_BYTES: usize = 16 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct Request {
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    pub ip: IpAddr,
}

impl Request {
    /// Without headers and body, from this machine, which has no limits.
    pub fn get(path: &str) -> Self {
        let ip = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Self { method: "GET", path: path.to_owned(), headers: Vec::new(), body: String::new(), ip }
    }

    /// JSON from this machine.
    pub fn post(path: &str, body: String) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { method: "POST", headers, body, ..Self::get(path) }
    }

    pub fn header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    pub fn sent_by(self, ip: IpAddr) -> Self {
        Self { ip, ..self }
    }
}

/// A part of a response.
#[derive(Debug)]
pub enum Part {
    /// It serves requests from now on.
    Started,
    Head(StatusCode, HeaderMap),
    Data(Bytes),
    End,
    /// It does not start.
    Failed(String),
}

struct Call {
    request: Request,
    parts: UnboundedSender<Part>,
}

pub struct Replica {
    group: Group,
    calls: UnboundedSender<Call>,
}

impl Replica {
    /// Starts it; the receiver tells when it serves.
    pub fn start(
        template: &ConfigTemplate,
        place: usize,
        data_dir: &Path,
    ) -> io::Result<(Self, UnboundedReceiver<Part>)> {
        let (calls, received) = unbounded_channel();
        let (started, start) = unbounded_channel();
        let (config, modules) = (template.config(data_dir), template.modules());
        let (group, thread) = machine::in_new_group(|| {
            thread::Builder::new()
                .name("gateway".to_owned())
                .stack_size(STACK_BYTES)
                .spawn(move || serve(config, &modules, place, received, &started))
        });
        thread?;
        Ok((Self { group, calls }, start))
    }

    /// Sends a request; the receiver gets the parts of the response.
    pub fn send(&self, request: Request) -> UnboundedReceiver<Part> {
        let (parts, response) = unbounded_channel();
        // A gateway that has ended answers nothing.
        let _ = self.calls.send(Call { request, parts });
        response
    }

    /// It stands still until it is resumed.
    pub fn pause(&self) {
        machine::pause(self.group);
    }

    pub fn resume(&self) {
        machine::resume(self.group);
    }

    /// It never runs again. What it holds in memory stays until the process ends.
    pub fn kill(self) {
        machine::kill(self.group);
        std::mem::forget(self.calls);
    }
}

fn serve(
    config: Config,
    modules: &[PluginModule_Ref],
    place: usize,
    mut calls: UnboundedReceiver<Call>,
    started: &UnboundedSender<Part>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = started.send(Part::Failed(error.to_string()));
            return;
        }
    };
    runtime.block_on(async move {
        let loaded = modules.iter().map(|module| {
            LoadedPlugin::linked(*module)
                .map_err(|error| gateway_plugins::PluginReport::of_error("linked", &error).into())
        });
        let port = FIRST_PORT.saturating_add(u16::try_from(place).unwrap_or(0));
        let bound = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let gateway = match Gateway::start(config, Clock::System, bound, loaded.collect()).await {
            Ok(gateway) => gateway,
            Err(error) => {
                let _ = started.send(Part::Failed(error.to_string()));
                return;
            }
        };
        let wanted: BTreeSet<String> = gateway.plugins.wanted().into_iter().collect();
        gateway.plugins.settled(&wanted).await;
        let missing: Vec<String> = gateway
            .plugins
            .reports()
            .iter()
            .filter(|report| report.is_failure())
            .map(|report| report.reason.clone())
            .collect();
        let part = if missing.is_empty() { Part::Started } else { Part::Failed(missing.join("; ")) };
        let _ = started.send(part);
        while let Some(call) = calls.recv().await {
            tokio::spawn(answer(gateway.clone(), call));
        }
        gateway.stop().await;
    });
}

async fn answer(gateway: Arc<Gateway>, Call { request, parts }: Call) {
    let mut built = http::Request::builder().method(request.method).uri(request.path);
    for (name, value) in request.headers {
        built = built.header(name, value);
    }
    let mut request_parts = match built.body(RequestBody::from(Bytes::from(request.body))) {
        Ok(built) => built,
        Err(error) => {
            let _ = parts.send(Part::Failed(error.to_string()));
            return;
        }
    };
    request_parts.extensions_mut().insert(ClientIp(request.ip));
    let response: http::Response<Body> = gateway.handle(request_parts).await;
    let (head, mut body) = response.into_parts();
    let mut is_wanted = parts.send(Part::Head(head.status, head.headers)).is_ok();
    while is_wanted {
        let Some(frame) = body.frame().await else { break };
        let data = frame.ok().and_then(|frame| frame.into_data().ok());
        is_wanted = data.is_none_or(|data| parts.send(Part::Data(data)).is_ok());
    }
    let _ = parts.send(Part::End);
}
