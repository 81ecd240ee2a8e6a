//! What counts as a fault of a plugin's operation, by the one rule for all calls of plugins.

use super::{LIMIT, gateway, report};
use gateway_plugins::CallError;
use plugin_api::{
    ConfigError, Definition, HandlerError, HostHandle, Migration, NoConfig, Plugin, RequestContext, Route,
    abi::{
        EventSource, Fault, FaultKind, FfiBytes, Frame, HostBox, PluginBox, PluginModule, PluginObject,
        PluginObject_TO, Request, Response, Rows, SubscribedEvent, TransactionBox,
    },
    abi_stable::{
        erased_types::TD_Opaque,
        prefix_type::PrefixTypeTrait as _,
        std_types::{RResult, RVec},
    },
    async_ffi::{FfiFuture, FutureExt as _},
    host::{Identity, object_manifest, object_new},
    queue::{NewTask, Queue, QueueSettings},
    response::NoContent,
};
use plugin_testing::{TestGateway, json};
use std::{
    future::{pending, ready},
    time::Duration,
};

fn fault() -> RResult<u8, Fault> {
    RResult::RErr(Fault { kind: FaultKind::Error, message: "no".into(), location: Default::default() })
}

#[tokio::test]
async fn what_a_plugin_does_wrong_counts_once_and_nothing_else_does() {
    let limit = Duration::from_millis(50);
    let gateway = gateway(json!({})).await;
    let active = gateway.gateway().active.list();
    let plugin = active.iter().find(|plugin| plugin.name() == "hostile").unwrap();
    let operation = plugin.operations.route(0).unwrap();
    let call = || plugin.admit_call(operation).unwrap();
    let faults = || plugin.handle.fault_count();

    assert!(matches!(call().run(limit, || ready(RResult::ROk(7)), || false).await, Ok(7)));
    assert!(matches!(call().run(limit, || ready(fault()), || true).await, Err(CallError::Excused)));
    assert_eq!(faults(), 0);
    assert!(matches!(call().run(limit, || ready(fault()), || false).await, Err(CallError::Fault(_))));
    assert_eq!(faults(), 1);
    let never = || pending::<RResult<u8, Fault>>();
    assert!(matches!(call().run(limit, never, || false).await, Err(CallError::TimedOut(_))));
    assert_eq!(faults(), 2);
    let problem = call().check::<u8>(Err("it is no number".to_owned()));
    assert!(matches!(problem, Err(CallError::Invalid(problem)) if problem == "it is no number"));
    assert_eq!(faults(), 3);
    let (_, told) = plugin.handle.last_fault().unwrap();
    assert_eq!(told, format!("error in {}: it is no number", operation.name()));

    plugin.handle.pause(operation.name(), "for the test");
    assert!(matches!(plugin.admit_call(operation), Err(CallError::Paused(_))));
    plugin.handle.resume_operations();
    let admitted = call();
    plugin.handle.gate.close();
    assert!(matches!(admitted.run(limit, || ready(RResult::ROk(7)), || false).await, Err(CallError::Fenced)));
    assert_eq!(faults(), 3);
    gateway.stop().await;
}

const MAILS: Queue<u8> = Queue::new("postbox_mails");

struct Postbox;

impl Identity for Postbox {
    const NAME: &'static str = "postbox";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Pushes tasks, whose ends nobody can read";
}

impl Plugin for Postbox {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .migrations([Migration::new(1, "create", "{{queue postbox_mails}}")])
            .on_queue(MAILS, |_| QueueSettings::default(), async |_, _| Ok(()))
            .routes([Route::post("/api/postbox", push_mail).public()])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn push_mail(cx: RequestContext<Postbox>) -> Result<NoContent, HandlerError> {
    cx.write(async |tx| Ok(MAILS.push(tx, &NewTask::new("ann", &7)).await?)).await?;
    Ok(NoContent)
}

/// The object of that plugin, but for the answers to tasks.
struct Garbled(PluginBox);

impl PluginObject for Garbled {
    fn call(&self, request: Request) -> FfiFuture<RResult<Response, Fault>> {
        self.0.call(request)
    }

    fn run_job(&self, job: u32) -> FfiFuture<RResult<(), Fault>> {
        self.0.run_job(job)
    }

    fn contribute(&self, contribution: u32, input: FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>> {
        self.0.contribute(contribution, input)
    }

    fn call_service(&self, service: u32, input: FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>> {
        self.0.call_service(service, input)
    }

    fn render(&self, topic: u32, rows: Rows) -> FfiFuture<RResult<RVec<Frame>, Fault>> {
        self.0.render(topic, rows)
    }

    fn chain_events(
        &self,
        sources: RVec<EventSource>,
        events: RVec<SubscribedEvent>,
        transaction: TransactionBox,
    ) -> FfiFuture<RResult<(), Fault>> {
        self.0.chain_events(sources, events, transaction)
    }

    fn stop(&self) -> FfiFuture<RResult<(), Fault>> {
        self.0.stop()
    }

    fn queue_limits(&self, queue: u32) -> FfiFuture<RResult<FfiBytes, Fault>> {
        self.0.queue_limits(queue)
    }

    fn run_task(&self, _: u32, _: FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>> {
        ready(RResult::ROk(FfiBytes::from_static(b"it is done"))).into_ffi()
    }
}

extern "C" fn construct(host: HostBox, config: FfiBytes) -> RResult<PluginBox, Fault> {
    object_new::<Postbox>(host, config).map(|object| PluginObject_TO::from_value(Garbled(object), TD_Opaque))
}

#[tokio::test]
async fn an_answer_of_a_queue_that_cannot_be_read_is_a_fault_of_the_queue() {
    let module = PluginModule { manifest: object_manifest::<Postbox>, construct }.leak_into_prefix();
    let gateway = TestGateway::builder().plugin(module).open().await;
    assert_eq!(gateway.send("POST", "/api/postbox", &[], "").await.status, 204);
    let is_counted = async || report(&gateway, "postbox").await.faults >= 1;
    TestGateway::eventually(LIMIT, "the fault is counted", is_counted).await;
    let fault = report(&gateway, "postbox").await.last_fault.unwrap();
    assert!(fault.starts_with("error in queue postbox_mails: the end of a task has another shape: "), "{fault}");
    assert_eq!(gateway.rows("SELECT attempt FROM postbox_mails").await.len(), 1, "the task waits for its next attempt");
    gateway.stop().await;
}
