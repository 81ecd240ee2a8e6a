//! trial
#![forbid(unsafe_code)]
use plugin_api::*;
pub struct Hello;
impl Plugin for Hello {
    type Config = NoConfig;
    fn define() -> Definition<Self> {
        Definition::new().routes([Route::get("/hello/{name}", greet).public()])
    }
    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, Refusal> {
        Ok(Hello)
    }
}
async fn greet(_: Context<Hello>, Path(name): Path<String>) -> Result<Json<String>, Failure> {
    Ok(Json(name))
}
export_plugin!(Hello);
