//! Services and extension points of plugins' own: who provides, who uses, and what becomes of mistakes.

use gateway::lifecycle::OperatorAction;
use gateway_plugins::{
    PluginState,
    polls::{ThreadWatchdog, polls_max, threads_lost},
};
use plugin_api::host::object_module as module;
use plugin_api::{
    Definition, HandlerError, HostError, HostErrorCode, Json, JsonSchema, Path, Plugin, PluginContext, RequestContext,
    Route,
    abi::PluginModule_Ref,
    point::{Point, Service},
};
use plugin_testing::{TestGateway, TestResponse, Value, json};
use rstest::rstest;
use schemars::{Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};
use tokio::{
    runtime::{Builder, Handle},
    task::JoinSet,
};

const LIMIT: Duration = Duration::from_secs(20);

#[derive(Serialize, Deserialize, JsonSchema)]
struct Word {
    word: String,
}

/// What providers and users share.
const TRANSLATE: Service<Word, Option<String>> = Service::new("dictionary.translate");
const WORDS: Point<Word, u32> = Point::new("dictionary.words");

/// Declared to be a number, and handed over as a text.
#[derive(Serialize)]
struct MistypedNumber(&'static str);

impl JsonSchema for MistypedNumber {
    fn schema_name() -> Cow<'static, str> {
        u32::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        u32::json_schema(generator)
    }
}

plugins! {
    Dictionary "dictionary": Definition::new()
        .provides(TRANSLATE, translate)
        .extension_point(WORDS)
        .routes([Route::get("/api/dictionary/words/{word}", count_words).public()]);
    Rival "rival": Definition::new().provides(TRANSLATE, async |_, _| Ok(None));
    Reader "reader": Definition::new()
        .uses(TRANSLATE)
        .contributes(WORDS, count_word)
        .routes([Route::get("/api/reader/words/{word}", read_word).public().operation("read_word")]);
    Stranger "stranger": Definition::new()
        .routes([Route::get("/api/stranger/words/{word}", read_word).public().operation("read_word_anyway")]);
    Misreader "misreader": Definition::new().uses(Service::<Word, String>::new("dictionary.translate"));
    Miscounter "miscounter": Definition::new()
        .contributes(Point::new("dictionary.words"), async |_, _: Word| Ok("many".to_owned()));
    Liar "liar": Definition::new()
        .provides(Service::<Word, MistypedNumber>::new("liar.count"), async |_, _| Ok(MistypedNumber("a secret of the liar")))
        .contributes(Point::<Word, MistypedNumber>::new("dictionary.words"), async |_, _| Ok(MistypedNumber("a secret of the liar")));
    Believer "believer": Definition::new()
        .uses(COUNT)
        .routes([Route::get("/api/believer/words/{word}", believe).public()]);
    Mirror "mirror_word": Definition::new()
        .provides(REFLECT, async |cx: PluginContext<Mirror>, depth| cx.call(REFLECT, &(depth + 1)).await)
        .uses(REFLECT)
        .routes([Route::get("/api/mirror_word/depth", reflect).public()]);
}

const REFLECT: Service<u32, u32> = Service::new("mirror_word.reflect");
const COUNT: Service<Word, u32> = Service::new("liar.count");

async fn translate(cx: PluginContext<Dictionary>, Word { word }: Word) -> Result<Option<String>, HostError> {
    match word.as_str() {
        "apple" => Ok(Some("Apfel".to_owned())),
        "fault" => Err(HostError::new(HostErrorCode::Internal, "a secret of the dictionary")),
        "panic" => panic!("the dictionary panics"),
        "hold" => {
            hold_thread();
            Ok(None)
        }
        "long" => Ok(Some("x".repeat(5 << 20))),
        "never" => {
            cx.sleep(Duration::from_secs(86_400)).await;
            Ok(None)
        }
        _ => Ok(None),
    }
}

async fn count_word(_: PluginContext<Reader>, Word { word }: Word) -> Result<u32, HostError> {
    if word == "hold" {
        hold_thread();
    }
    Ok(u32::from(word == "apple"))
}

/// The end of the test that holds threads: nothing is ever sent.
static HELD: Mutex<Option<Receiver<()>>> = Mutex::new(None);
static HOLDING: AtomicUsize = AtomicUsize::new(0);

fn hold_thread() {
    HOLDING.fetch_add(1, SeqCst);
    if let Some(end) = &*HELD.lock().unwrap() {
        let _ = end.recv();
    }
}

async fn count_words(cx: RequestContext<Dictionary>, Path(word): Path<String>) -> Result<Json<Value>, HandlerError> {
    Ok(Json(json!(cx.collect(WORDS, &Word { word }).await?)))
}

async fn read_word<P: Plugin>(cx: RequestContext<P>, Path(word): Path<String>) -> Result<Json<Value>, HandlerError> {
    Ok(Json(json!(cx.call(TRANSLATE, &Word { word }).await?)))
}

async fn believe(cx: RequestContext<Believer>, Path(word): Path<String>) -> Result<Json<u32>, HandlerError> {
    Ok(Json(cx.call(COUNT, &Word { word }).await?))
}

async fn reflect(cx: RequestContext<Mirror>) -> Result<Json<u32>, HandlerError> {
    Ok(Json(cx.call(REFLECT, &0).await?))
}

async fn translation(gateway: &TestGateway, word: &str) -> TestResponse {
    gateway.get(&format!("/api/reader/words/{word}")).await
}

async fn act(gateway: &TestGateway, action: OperatorAction, name: &str) {
    let outcome = gateway.gateway().plugins.operate(action, name, "the test").await.unwrap();
    assert!(outcome.is_reached, "{}", outcome.report.reason);
}

async fn state_and_reason(gateway: &TestGateway, name: &str) -> (PluginState, String) {
    let report = gateway.reports().await.into_iter().find(|report| report.name == name).unwrap();
    (report.state, report.reason)
}

async fn open(modules: &[PluginModule_Ref]) -> TestGateway {
    modules.iter().fold(TestGateway::builder(), |builder, module| builder.plugin(*module)).open().await
}

#[tokio::test]
async fn a_plugin_calls_what_another_provides() {
    for gateway in TestGateway::each_database(&[module::<Dictionary>(), module::<Reader>()]).await {
        assert_eq!(translation(&gateway, "apple").await.json(), json!("Apfel"));
        assert_eq!(translation(&gateway, "kiwi").await.json(), json!(null));
        let words = async |word: &str| gateway.get(&format!("/api/dictionary/words/{word}")).await.json();
        assert_eq!((words("apple").await, words("kiwi").await), (json!([["reader", 1]]), json!([["reader", 0]])));
        assert_eq!(state_and_reason(&gateway, "reader").await, (PluginState::Serving, String::new()));
        assert_eq!(gateway.faults().await, Vec::<String>::new());

        act(&gateway, OperatorAction::Disable, "dictionary").await;
        let off = translation(&gateway, "apple").await;
        assert_eq!((off.status, off.json()["code"].as_str()), (503, Some("disabled")), "{}", off.text());
        assert!(
            off.text().contains("no plugin that serves provides the service dictionary.translate"),
            "{}",
            off.text()
        );
        let (state, reason) = state_and_reason(&gateway, "reader").await;
        let missing = "used service dictionary.translate: no plugin that serves has it; \
                       contribution to dictionary.words: no plugin that serves has it";
        assert_eq!((state, reason.as_str()), (PluginState::Serving, missing));

        act(&gateway, OperatorAction::Enable, "dictionary").await;
        assert_eq!(translation(&gateway, "apple").await.json(), json!("Apfel"));
        gateway.stop().await;
    }
}

#[tokio::test]
async fn what_fails_in_the_provider_is_its_fault_and_its_secret() {
    let gateway = open(&[module::<Dictionary>(), module::<Reader>()]).await;
    for word in ["fault", "panic"] {
        let failed = translation(&gateway, word).await;
        assert_eq!((failed.status, failed.json()["code"].as_str()), (503, Some("unavailable")), "{}", failed.text());
        assert!(!failed.text().contains("secret"), "{}", failed.text());
    }
    let faults = gateway.faults().await;
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(
        faults[0].starts_with("dictionary: panic in service dictionary.translate: the dictionary panics"),
        "{faults:?}"
    );
    assert_eq!(translation(&gateway, "apple").await.json(), json!("Apfel"));
    gateway.stop().await;
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_the_providers_fault() {
    let gateway = open(&[module::<Dictionary>(), module::<Reader>()]).await;
    let large = translation(&gateway, "long").await;
    assert_eq!((large.status, large.json()["code"].as_str()), (503, Some("unavailable")), "{}", large.text());
    // With the quotes of the JSON.
    let fault = "dictionary: error in service dictionary.translate: \
                 the answer of a service has 5242882 bytes, at most 4194304";
    let faults = gateway.faults().await;
    assert!(faults.len() == 1 && faults[0].starts_with(fault), "{faults:?}");
    assert_eq!(translation(&gateway, "apple").await.json(), json!("Apfel"));
    gateway.stop().await;
}

#[tokio::test]
async fn a_provider_that_never_answers_fails_the_call_alone() {
    let gateway = open(&[module::<Dictionary>(), module::<Reader>()]).await;
    let late = translation(&gateway, "never").await;
    assert_eq!((late.status, late.json()["code"].as_str()), (503, Some("timeout")), "{}", late.text());
    let faults = gateway.faults().await;
    assert_eq!(faults, ["dictionary: timeout in service dictionary.translate after 10s"]);
    gateway.stop().await;
}

#[tokio::test]
async fn an_undeclared_use_is_refused() {
    let gateway = open(&[module::<Dictionary>(), module::<Stranger>()]).await;
    assert_eq!(gateway.get("/api/stranger/words/apple").await.status, 500);
    let faults = gateway.faults().await;
    assert!(faults[0].contains("does not declare that it uses the service dictionary.translate"), "{faults:?}");
    gateway.stop().await;
}

#[tokio::test]
async fn mistakes_are_reported_at_the_start() {
    let modules =
        [module::<Dictionary>(), module::<Rival>(), module::<Reader>(), module::<Misreader>(), module::<Miscounter>()];
    let gateway = open(&modules).await;
    for (name, expected) in [
        ("rival", "the service dictionary.translate is already one of dictionary"),
        (
            "misreader",
            "its used service dictionary.translate has other types than dictionary says: \
             output.type is \"string\", not [\"string\",\"null\"]",
        ),
        ("miscounter", "its contribution to dictionary.words has other types than dictionary says: output."),
    ] {
        let (state, reason) = state_and_reason(&gateway, name).await;
        assert_eq!(state, PluginState::Failed, "{name}: {reason}");
        assert!(reason.starts_with(expected), "{name}: {reason}");
    }
    assert_eq!(translation(&gateway, "apple").await.json(), json!("Apfel"), "the others serve");
    gateway.stop().await;
}

/// The types of both were compared when they started.
#[tokio::test]
async fn what_is_not_of_its_declared_type_is_the_fault_of_who_hands_it_over() {
    let modules = [module::<Dictionary>(), module::<Reader>(), module::<Liar>(), module::<Believer>()];
    for gateway in TestGateway::each_database(&modules).await {
        let words = gateway.get("/api/dictionary/words/apple").await;
        assert_eq!(words.json(), json!([["reader", 1]]), "the good part stays: {}", words.text());
        let shape = "another shape: value is not of type \"integer\"";
        let faults = gateway.faults().await;
        let contribution = format!("liar: error in point dictionary.words: a contribution has {shape}");
        assert!(faults.len() == 1 && faults[0].starts_with(&contribution), "{faults:?}");

        let answer = gateway.get("/api/believer/words/apple").await;
        assert_eq!((answer.status, answer.code()), (503, "unavailable".to_owned()), "{}", answer.text());
        assert!(!answer.text().contains("secret"), "{}", answer.text());
        let faults = gateway.faults().await;
        let service = format!("liar: error in service liar.count: an answer has {shape}");
        assert!(faults.len() == 1 && faults[0].starts_with(&service), "{faults:?}");
        let counted = gateway.reports().await.into_iter().map(|report| (report.name, report.faults));
        let expected = [("believer", 0), ("dictionary", 0), ("liar", 2), ("reader", 0)];
        assert_eq!(counted.collect::<Vec<_>>(), expected.map(|(name, faults)| (name.to_owned(), faults)));
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_circle_of_services_ends() {
    let gateway = open(&[module::<Mirror>()]).await;
    let response = gateway.get("/api/mirror_word/depth").await;
    assert_eq!(response.status, 503, "{}", response.text());
    let faults = gateway.faults().await;
    assert!(faults[0].starts_with("mirror_word: error in service mirror_word.reflect"), "{faults:?}");
    gateway.stop().await;
}

/// As the gateway's own watchdog: finds threads that are not given back, and keeps timers looked at. Ends when the result is dropped.
fn watch(runtime: Handle) -> Sender<()> {
    const INTERVAL: Duration = Duration::from_millis(20);
    let (alive, end) = channel();
    let mut threads = ThreadWatchdog::new(INTERVAL);
    thread::spawn(move || {
        while end.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            threads.look();
            drop(runtime.spawn(async {}));
        }
    });
    alive
}

/// As many calls as may run at a time, and three more. The thread is lost to who holds it: the user serves, and says why.
#[rstest]
#[case::a_service(
    "dictionary",
    "reader",
    (503, "the service dictionary.translate is off, because code of its plugin did not give a thread back")
)]
#[case::a_contribution("reader", "dictionary", (200, "[]"))]
fn who_calls_a_plugin_that_holds_its_threads_goes_on(
    #[case] holder: &str,
    #[case] user: &str,
    #[case] told: (u16, &str),
) {
    let runtime = Builder::new_multi_thread().worker_threads(polls_max() + 2).enable_all().build().unwrap();
    runtime.block_on(async {
        let _watchdog = watch(runtime.handle().clone());
        let (end, held) = channel();
        *HELD.lock().unwrap() = Some(held);
        let gateway = Arc::new(open(&[module::<Dictionary>(), module::<Reader>()]).await);
        let path = |word: &str| format!("/api/{user}/words/{word}");
        let mut calls = JoinSet::new();
        for _ in 0..polls_max() + 3 {
            let (gateway, path) = (gateway.clone(), path("hold"));
            calls.spawn(async move { gateway.get(&path).await });
        }
        TestGateway::eventually(LIMIT, "all threads are held", async || HOLDING.load(SeqCst) == polls_max()).await;
        let assert_told = |answer: &TestResponse| {
            assert!(answer.status == told.0 && answer.text().contains(told.1), "{}", answer.text());
            assert!(!answer.text().contains("operator"), "{}", answer.text());
        };
        for _ in 0..3 {
            assert_told(&calls.join_next().await.unwrap().unwrap());
        }
        assert_told(&gateway.get(&path("apple")).await);
        let is_fenced = async || state_and_reason(&gateway, holder).await.0 == PluginState::Fenced;
        TestGateway::eventually(LIMIT, "the holder is fenced", is_fenced).await;
        assert_eq!(state_and_reason(&gateway, user).await.0, PluginState::Serving);
        let faults = gateway.faults().await;
        assert!(faults.len() == 1 && faults[0].starts_with(&format!("{holder}: ")), "{faults:?}");
        let are_lost = async || (threads_lost(holder), threads_lost(user)) == (polls_max(), 0);
        TestGateway::eventually(LIMIT, "the threads are the holder's", are_lost).await;

        drop(end);
        while let Some(returned) = calls.join_next().await {
            assert_eq!(returned.unwrap().status, 200, "it did return");
        }
        assert_told(&gateway.get(&path("apple")).await);
        Arc::into_inner(gateway).unwrap().stop().await;
    });
}
