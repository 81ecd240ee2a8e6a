//! Switches of plugins on the operator's page: the gateway presses what is offered, and no plugin presses anything.

use gateway::operators::PressError;
use plugin_api::host::object_module as module;
use plugin_api::{
    Definition, HandlerError, HostError, Json, PluginContext, RequestContext, Route,
    point::{CONTROLS, Control, ControlPress, ControlsInput},
};
use plugin_testing::{TestGateway, Value, json};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

plugins! {
    Lamp "lamp": Definition::new().contributes(CONTROLS, controls);
    Hand "hand": Definition::new().routes([Route::get("/api/hand/press", press).public()]);
}

/// Of the lamp's only button.
static PRESSED: AtomicUsize = AtomicUsize::new(0);

async fn controls(_: PluginContext<Lamp>, input: ControlsInput) -> Result<Vec<Control>, HostError> {
    PRESSED.fetch_add(usize::from(input.press.is_some()), SeqCst);
    let state = if PRESSED.load(SeqCst) % 2 == 1 { ("lit", "darken") } else { ("dark", "light") };
    Ok(vec![Control::new("bulb", state.0, &[state.1])])
}

async fn press(cx: RequestContext<Hand>) -> Result<Json<Value>, HandlerError> {
    let press = ControlPress { control: "bulb".to_owned(), action: "light".to_owned() };
    Ok(Json(json!(cx.collect(CONTROLS, &ControlsInput { press: Some(press) }).await?)))
}

#[tokio::test]
async fn only_what_is_offered_is_pressed_and_by_the_operator_alone() {
    let builder = TestGateway::builder().plugin(module::<Lamp>()).plugin(module::<Hand>());
    let test = builder.start().await;
    let gateway = test.gateway();
    let listed = gateway.controls.list().await;
    assert_eq!((listed.len(), listed[0].plugin.as_str(), listed[0].controls[0].state.as_str()), (1, "lamp", "dark"));
    for (plugin, control, action) in
        [("lamp", "bulb", "darken"), ("lamp", "shade", "light"), ("hand", "bulb", "light"), ("candle", "bulb", "light")]
    {
        assert_eq!(
            gateway.controls.press(plugin, control, action).await,
            Err(PressError::NotOffered),
            "{plugin} {control} {action}"
        );
    }
    let by_plugin = test.get("/api/hand/press").await;
    assert!(by_plugin.status >= 500, "{}", by_plugin.text());
    assert_eq!(PRESSED.load(SeqCst), 0);

    assert_eq!(gateway.controls.press("lamp", "bulb", "light").await.unwrap().state, "lit");
    assert_eq!(gateway.controls.press("lamp", "bulb", "light").await, Err(PressError::NotOffered), "it is lit");
    assert_eq!(PRESSED.load(SeqCst), 1);
    test.stop().await;
}
