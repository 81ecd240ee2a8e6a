//! One route as an operation.

use super::{body, components, parameters, responses};
use crate::{document_context::DocumentContext, signing};
use plugin_api::manifest::{Auth, RateLimit, RouteSpec};
use serde_json::{Map, Value, json};

pub(super) fn operation(context: &DocumentContext<'_>, route: &RouteSpec) -> Value {
    let mut operation = Map::new();
    operation.insert("operationId".into(), route.operation.clone().into());
    operation.insert("tags".into(), json!([route.tag]));
    operation.insert("summary".into(), summary(route).into());
    operation.insert("description".into(), description(context, route).into());
    if let Some(action) = route.auth.action() {
        operation.insert(format!("x-{}-action", context.environment.brand.marker), action.into());
    }
    if let Some(price) = &route.price {
        let extension = format!("x-{}-x402", context.environment.brand.marker);
        operation.insert(extension, json!({ "price": price.description }));
    }
    let parameters = parameters::parameters(route);
    if !parameters.is_empty() {
        operation.insert("parameters".into(), Value::Array(parameters));
    }
    if let Some(body) = body::request_body(context, route) {
        operation.insert("requestBody".into(), body);
    }
    operation.insert("responses".into(), responses::responses(route));
    operation.insert("security".into(), components::security(&route.auth));
    Value::Object(operation)
}

fn summary(route: &RouteSpec) -> &str {
    if route.summary.is_empty() { &route.operation } else { &route.summary }
}

/// The plugin's description, then who may call the route and how often.
fn description(context: &DocumentContext<'_>, route: &RouteSpec) -> String {
    let mut parts = Vec::new();
    if !route.description.is_empty() {
        parts.push(route.description.clone());
    }
    parts.push(auth_description(context, &route.auth));
    parts.extend(target_description(route));
    if let Some(bytes) = route.body_max_bytes {
        parts.push(format!("The body has at most {bytes} bytes."));
    }
    if let Some(price) = &route.price {
        let price = &price.description;
        parts.push(format!(
            "A request may have a price ({price}): without a payment it is answered with 402 and says which."
        ));
    }
    parts.extend(route.rate_limits.iter().map(rate_limit_description));
    parts.join("\n\n")
}

fn auth_description(context: &DocumentContext<'_>, auth: &Auth) -> String {
    let once = "Each signature counts once.";
    match auth {
        Auth::Public => "Anyone may call it.".into(),
        Auth::SignedBody { action } => format!("A wallet signs the body with the action `{action}`. {once}"),
        Auth::SignedHeaders { action, guarded } => {
            let headers = signing::header_names(&context.environment.brand).join("`, `");
            let once = if *guarded { once } else { "A signature may be used again while its `ts` is fresh." };
            format!(
                "A wallet signs with the action `{action}` and sends `{headers}`; the query or the JSON body may carry them as \
                 `address`, `ts` and `sig` instead. {once}"
            )
        }
        Auth::SignedQuery { action } => {
            format!(
                "A wallet signs the payload `{{}}` with the action `{action}` and sends `address`, `ts` and `sig` in the query."
            )
        }
        Auth::Own { scheme } => scheme.clone(),
    }
}

/// How a wallet binds its signature to the path.
fn target_description(route: &RouteSpec) -> Option<String> {
    let members: Vec<String> = route.target_members().iter().map(|member| format!("`{}`", member.name)).collect();
    let members = Some(members.join(" or ")).filter(|members| !members.is_empty())?;
    Some(format!("A payload that names its target as {members} counts for that target only."))
}

fn rate_limit_description(limit: &RateLimit) -> String {
    let RateLimit { calls, window_s, additional, .. } = limit;
    let suffix = if *additional { ", besides the limit for all routes" } else { "" };
    format!("At most {calls} calls in {window_s} s from one IP address{suffix}.")
}
