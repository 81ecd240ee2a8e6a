//! URLs and endpoints that strangers choose: no part of the gateway connects to an address that is not public, in whatever form it
//! is written, and whatever its name resolves to by then.

use crate::all_plugins::script;
use parking_lot::Mutex;
use plugin_testing::{
    Builder, PRIVATE_URLS, ScriptedChain, ScriptedLog, ScriptedResolver, TestGateway, TestResponse, Value, Wallet, json,
};
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

const LIMIT: Duration = Duration::from_secs(60);
/// The only address of this machine that the operator allows.
const OPEN: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9));
/// Longer than addresses of names are used here.
const RESOLVE_INTERVAL: Duration = Duration::from_millis(1);

/// More forms than those that each plugin is tested with.
const MORE_URLS: [&str; 16] = [
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[::ffff:8.8.8.8]/",
    "http://[100::1]/",
    "http://[3fff::1]/",
    "http://[5f00::1]/",
    "http://127.0.1/",
    "http://0x7f.0.0.1/",
    "http://192.88.99.1/",
    "http://user:pass@127.0.0.1/",
    "http://ip6-localhost/",
    "http://xn--locahost-9mb.localhost/",
    "http://127.0.0.9.localdomain/",
    "http://metadata.internal/",
];

/// A server on all addresses of this machine: on which of them it was reached, and by what.
#[derive(Clone, Default)]
struct PrivateServer(Arc<Mutex<ReceivedRequests>>);

#[derive(Default)]
struct ReceivedRequests {
    addresses: BTreeSet<IpAddr>,
    requests: BTreeSet<String>,
}

impl PrivateServer {
    async fn listen() -> (Self, u16) {
        // With IPv6, if this machine has it; then for both.
        let listener = match TcpListener::bind("[::]:0").await {
            Ok(listener) => listener,
            Err(_) => TcpListener::bind("0.0.0.0:0").await.unwrap(),
        };
        let (server, port) = (Self::default(), listener.local_addr().unwrap().port());
        let serving = server.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                serving.0.lock().addresses.insert(socket.local_addr().unwrap().ip().to_canonical());
                tokio::spawn(serving.clone().serve(socket));
            }
        });
        (server, port)
    }

    /// One request of a connection.
    async fn serve(self, mut socket: TcpStream) -> std::io::Result<()> {
        let mut request = Vec::new();
        while !request.windows(4).any(|four| four == b"\r\n\r\n") {
            if socket.read_buf(&mut request).await? == 0 {
                return Ok(());
            }
        }
        let line = String::from_utf8_lossy(&request).lines().next().unwrap_or_default().to_owned();
        self.0.lock().requests.insert(line.trim_end_matches(" HTTP/1.1").to_owned());
        socket.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}").await?;
        // Until the other side has read it.
        while socket.read(&mut [0; 1024]).await? > 0 {}
        Ok(())
    }

    fn addresses(&self) -> Vec<IpAddr> {
        self.0.lock().addresses.iter().copied().collect()
    }

    fn has_all_requests(&self) -> bool {
        let reached = self.0.lock();
        REQUESTS.iter().all(|request| reached.requests.contains(*request))
    }

    fn forget_requests(&self) {
        self.0.lock().requests.clear();
    }
}

/// What calls URLs of strangers, with the request that it sends to an endpoint of its own.
const REQUESTS: [&str; 6] = [
    "POST /hook",
    "HEAD /tool",
    "GET /card/.well-known/service-agent.json",
    "POST /called/invoke",
    "POST /asked/invoke",
    "POST /written/inbox",
];

/// The agents at such endpoints: whose card is read, who is invoked, who is called by A2A, who gets a message.
const AGENTS: [&str; 4] = ["card", "called", "asked", "written"];

struct EgressFixture {
    gateway: TestGateway,
    _chain: ScriptedChain,
    server: PrivateServer,
    port: u16,
}

/// The owner of all agents and of the webhook.
fn owner() -> Wallet {
    Wallet::new(1)
}

fn sender() -> Wallet {
    Wallet::new(2)
}

fn agent(id: usize, endpoint: &str) -> Vec<ScriptedLog> {
    script::registered_by(id as u64, owner().address(), "agent", endpoint)
}

/// Gateways on each database that may reach one address of this machine; `endpoints` are those of the agents, by the port.
async fn fixtures(resolver: &ScriptedResolver, endpoints: impl Fn(u16) -> Vec<String>) -> Vec<EgressFixture> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let plugins = [
        agents::plugin_module(),
        payloads::plugin_module(),
        a2a::plugin_module(),
        messages::plugin_module(),
        tools::plugin_module(),
        artifacts::plugin_module(),
        webhooks::plugin_module(),
    ];
    let mut fixtures = Vec::new();
    for builder in builders {
        let (server, port) = PrivateServer::listen().await;
        let chain = ScriptedChain::start().await;
        let logs: Vec<_> = (1..).zip(endpoints(port)).flat_map(|(id, endpoint)| agent(id, &endpoint)).collect();
        for block in logs.chunks(12) {
            chain.mine(block.to_vec());
        }
        let builder = plugins.into_iter().fold(builder, Builder::plugin).configure(|config| {
            config.limits.write_interval_ms = 0;
            config.egress.allow_hosts = vec![format!("{OPEN}:{port}")];
            config.egress.resolve_interval_ms = u64::try_from(RESOLVE_INTERVAL.as_millis()).unwrap();
        });
        let builder = builder.resolver(resolver.clone()).chain(&chain, &["registry", "escrow"]);
        let gateway = builder.start().await;
        gateway.indexed(&chain).await;
        fixtures.push(EgressFixture { gateway, _chain: chain, server, port });
    }
    fixtures
}

impl EgressFixture {
    async fn post(&self, path: &str, wallet: &Wallet, action: &str, payload: Value) -> TestResponse {
        self.gateway.post_signed(path, wallet, action, payload).await
    }

    async fn set_webhook(&self, url: &str) -> TestResponse {
        let payload = json!({ "url": url, "secret": "a secret of some length", "events": ["dm.received"] });
        self.post("/api/webhooks", &owner(), "webhook.set", payload).await
    }

    async fn publish_tool(&self, members: Value) -> TestResponse {
        let mut tool = json!({ "name": "tool", "kind": "http", "description": "d" });
        tool.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        self.post("/api/tools", &owner(), "tool.publish", tool).await
    }

    async fn publish_artifact(&self, url: &str) -> TestResponse {
        let payload = json!({ "name": "n", "kind": "code", "url": url });
        self.post("/api/artifacts", &owner(), "artifact.publish", payload).await
    }

    /// To the agent, of which its owner's webhook hears.
    async fn write_to(&self, agent: usize, body: &str) {
        let sent = self.post("/api/messages", &sender(), "message.send", json!({ "to": agent, "body": body })).await;
        assert_eq!(sent.status, 201, "{}", sent.text());
    }

    async fn invoke(&self, agent: usize) -> TestResponse {
        self.gateway.send("POST", &format!("/a/{agent}/invoke"), &[], "{}").await
    }

    async fn ask(&self, agent: usize) -> TestResponse {
        let message = json!({ "role": "user", "messageId": "m", "parts": [{ "kind": "text", "text": "Hello" }] });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": { "message": message } });
        let headers = [("content-type", "application/json")];
        self.gateway.send("POST", &format!("/a/{agent}/a2a"), &headers, request.to_string()).await
    }

    async fn wait(&self, seconds: u64) {
        self.gateway.clock().advance(Duration::from_secs(seconds)).await;
    }

    /// While the clock moves.
    async fn eventually(&self, what: &str, holds: impl AsyncFn() -> bool) {
        TestGateway::eventually(LIMIT, what, || async {
            self.wait(1).await;
            holds().await
        })
        .await;
    }

    async fn is_all_forwarded(&self) -> bool {
        self.gateway.rows("SELECT id FROM messages_queue").await.is_empty()
    }

    async fn close(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new());
        self.gateway.stop().await;
    }
}

fn refusal(response: &TestResponse) -> (u16, String) {
    (response.status, response.code())
}

/// The form with this port, if it has none.
fn with_port(url: &str, port: u16) -> String {
    let Some((host, "")) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')) else {
        return url.to_owned();
    };
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    if host.is_empty() || (has_port && !host.ends_with(']')) {
        url.to_owned()
    } else {
        format!("http://{host}:{port}/")
    }
}

/// All forms, with the port of the private server.
fn forms(port: u16) -> Vec<String> {
    PRIVATE_URLS.iter().chain(&MORE_URLS).map(|url| with_port(url, port)).collect()
}

fn open_agents(host: &str, port: u16) -> Vec<String> {
    AGENTS.iter().map(|path| format!("http://{host}:{port}/{path}")).collect()
}

/// The agent at the place of `AGENTS`, when so many others have the ids before.
fn id_of(name: &str, others: usize) -> usize {
    1 + others + AGENTS.iter().position(|agent| *agent == name).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_form_of_a_private_address_gets_a_connection_from_any_part() {
    let host = OPEN.to_string();
    let endpoints = |port| [forms(port), open_agents(&host, port)].concat();
    for fixture in fixtures(&ScriptedResolver::default(), endpoints).await {
        let port = fixture.port;
        let forms = forms(port);
        let private = (400, "private_url".to_owned());
        for (id, url) in (1..).zip(&forms) {
            assert_eq!(refusal(&fixture.set_webhook(url).await), private, "webhook {url}");
            assert_eq!(refusal(&fixture.publish_tool(json!({ "url": url })).await), private, "tool {url}");
            let compute = json!({
                "kind": "compute", "gpu": "NVIDIA H100", "vramGb": 80, "pricePerSecond": "1000", "region": "EU-West",
                "endpoint": url,
            });
            assert_eq!(refusal(&fixture.publish_tool(compute).await), private, "compute {url}");
            let artifact = refusal(&fixture.publish_artifact(&url.replacen("http:", "https:", 1)).await);
            assert_eq!(artifact, private, "artifact {url}");
            assert_eq!(refusal(&fixture.invoke(id).await), (502, "bad_endpoint".to_owned()), "agent {url}");
            assert_eq!(fixture.ask(id).await.status, 502, "agent {url}");
            fixture.write_to(id, url).await;
        }
        // The same by an address that is allowed.
        let others = forms.len();
        assert_eq!(fixture.set_webhook(&format!("http://{OPEN}:{port}/hook")).await.status, 201);
        assert_eq!(fixture.publish_tool(json!({ "url": format!("http://{OPEN}:{port}/tool") })).await.status, 201);
        assert_eq!(fixture.invoke(id_of("called", others)).await.status, 200);
        assert_eq!(fixture.ask(id_of("asked", others)).await.status, 200);
        fixture.write_to(id_of("written", others), "hello").await;
        fixture.eventually("every copy is sent or given up", async || fixture.is_all_forwarded().await).await;
        let cards = async || fixture.gateway.rows("SELECT agent_id FROM agents_cards WHERE checked_at > 0").await;
        let all = others + AGENTS.len();
        fixture.eventually("the card of every agent is asked for", async || cards().await.len() == all).await;
        fixture.eventually("what may be called is called", async || fixture.server.has_all_requests()).await;
        assert_eq!(fixture.server.addresses(), [OPEN]);
        fixture.close().await;
    }
}

/// What the names of the second test are, one for each that calls them.
const NAMES: [&str; 6] = ["hook.test", "tool.test", "card.test", "called.test", "asked.test", "written.test"];

/// What a name may have become since it was checked: alone, or beside the address that it had.
fn private_addresses() -> Vec<Vec<IpAddr>> {
    let loopback: IpAddr = Ipv4Addr::new(127, 0, 0, 10).into();
    let mut all = vec![vec![loopback], vec![OPEN, loopback], vec![loopback, OPEN]];
    let more = ["::ffff:127.0.0.10", "::1", "10.0.0.1", "169.254.169.254", "fd00:ec2::254", "64:ff9b::7f00:a"];
    all.extend(more.map(|address| vec![address.parse().unwrap()]));
    all
}

impl EgressFixture {
    /// Lets every part call, and waits until each has looked up its name; responses of both calls that somebody waits for.
    async fn call_all(&self, resolver: &ScriptedResolver, addresses: &[IpAddr]) -> [TestResponse; 2] {
        for name in NAMES {
            resolver.set(name, addresses);
        }
        // What was checked before is too old then.
        tokio::time::sleep(2 * RESOLVE_INTERVAL).await;
        let lookups = || NAMES.map(|name| resolver.lookups(name));
        let before = lookups();
        let called = self.invoke(id_of("called", 0)).await;
        let asked = self.ask(id_of("asked", 0)).await;
        let now = lookups();
        assert_eq!(now[3..5], before[3..5].iter().map(|lookup| lookup + 1).collect::<Vec<_>>(), "once, no second time");
        self.write_to(id_of("written", 0), &format!("{addresses:?} {before:?}")).await;
        self.eventually("the copy is sent or given up", async || self.is_all_forwarded().await).await;
        // Every tool and every card is asked for again by then.
        let since = self.gateway.now_s();
        self.wait(601).await;
        let looked_up = async || lookups().iter().zip(before).all(|(now, before)| *now > before);
        self.eventually("every name is looked up", looked_up).await;
        // Cards of agents that were called, too: none looks a name up while the next lookups are counted.
        let unasked = format!("SELECT agent_id FROM agents_cards WHERE checked_at <= {since}");
        self.eventually("every card is asked for", async || self.gateway.rows(&unasked).await.is_empty()).await;
        [called, asked]
    }
}

/// Each name had an allowed address when its URL was stored, and when it was called first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_is_checked_whenever_it_is_called() {
    let resolver = ScriptedResolver::default();
    let endpoints = |port| AGENTS.iter().map(|path| format!("http://{path}.test:{port}/{path}")).collect();
    for fixture in fixtures(&resolver, endpoints).await {
        let port = fixture.port;
        assert_eq!(fixture.set_webhook(&format!("http://hook.test:{port}/hook")).await.status, 201);
        assert_eq!(fixture.publish_tool(json!({ "url": format!("http://tool.test:{port}/tool") })).await.status, 201);
        for addresses in private_addresses() {
            let statuses = fixture.call_all(&resolver, &[OPEN]).await.map(|response| response.status);
            assert_eq!(statuses, [200, 200]);
            fixture.eventually("an allowed address is called", async || fixture.server.has_all_requests()).await;
            let [called, asked] = fixture.call_all(&resolver, &addresses).await;
            assert_eq!((refusal(&called), asked.status), ((502, "bad_endpoint".to_owned()), 502), "{addresses:?}");
            assert_eq!(fixture.server.addresses(), [OPEN], "{addresses:?}");
            // What was on its way before may still have arrived there; next time each has to call again.
            fixture.server.forget_requests();
        }
        fixture.close().await;
    }
}
