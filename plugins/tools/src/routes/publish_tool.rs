//! `POST /api/tools`: a tool, or the next version of one of the same owner and name.

use crate::{Tools, error::ToolsError, model, store};
use plugin_api::{
    Event, HandlerError, RequestContext, Route, Signed, format, handles::UrlProblem, response::CreatedOrUpdated,
};

pub fn route() -> Route<Tools> {
    Route::post("/api/tools", publish_tool)
        .signed("tool.publish")
        .commons_limit()
        .summary("Publish a tool, or a new version of it")
}

async fn publish_tool(
    cx: RequestContext<Tools>,
    Signed { signer, payload }: Signed<model::NewTool>,
) -> Result<CreatedOrUpdated<model::ToolView>, HandlerError<ToolsError>> {
    let spec = payload.check()?;
    check_urls(&cx, &spec).await?;
    let (tool, updated) = cx
        .write(async move |tx| {
            let (tool, updated) = store::tools::publish(tx, signer, &spec).await?;
            let event = model::ToolPublished {
                tool_id: tool.state.id,
                name: &spec.name,
                kind: spec.kind,
                url: &spec.url,
                updated,
                description: &format::excerpt(&spec.description, model::DESCRIPTION_EXCERPT_CHARS),
            };
            event.by(signer).at(tx.now_s()).publish(tx)?;
            Ok((tool, updated))
        })
        .await?;
    Ok(CreatedOrUpdated { created: !updated, value: tool })
}

/// Checks that the tool's URLs are public, by their text alone.
async fn check_urls(cx: &RequestContext<Tools>, spec: &model::ToolSpec) -> Result<(), HandlerError<ToolsError>> {
    let endpoint = spec.compute.as_ref().map(|compute| ("endpoint", &compute.endpoint));
    for (member, url) in [Some(("url", &spec.url)), endpoint].into_iter().flatten() {
        if let Some(UrlProblem { code, message }) = cx.check_url(url).await? {
            return Err(match code.as_str() {
                "private_url" => ToolsError::PrivateUrl { member, message },
                _ => ToolsError::BadUrl { member, message },
            }
            .into());
        }
    }
    Ok(())
}
