//! `GET /api/agents/{id}/audit.jsonl`: what is known of an agent, line by line, with a signed root.

use crate::{
    Audit,
    error::AuditError,
    model::{Common, Draft, Export, ExportQuery, ExportRequest, ExportSources, Footer, LINES_MAX, ROLE},
    store::{agents, logs},
};
use plugin_api::{
    Address, AgentId, HandlerError, HostError, JsonSchema, Path, QueryString, RequestContext, Route,
    extract::Limit,
    point,
    response::{RawResponse, WithHeader},
};
use std::collections::BTreeSet;

const CONTENT_TYPE: &str = "application/x-ndjson; charset=utf-8";
/// How long an export takes at most, usually.
const RETRY_AFTER_S: u32 = 2;
const PLUGIN: &str = "audit";

pub fn route() -> Route<Audit> {
    Route::get("/api/agents/{id}/audit.jsonl", get_agent_audit)
        .public()
        .per_minute(20)
        .summary("What is known of an agent, line by line, signed")
        .description(
            "One JSON object a line: logs of the chain (`chain`), public writes of the owner (`commons`), deliveries to the owner's webhooks \
             (`webhook`) and payments (`x402`), in the order of `ts`, `block`, `logIndex`, `kind` and id. The last line is the footer: \
             `merkleRoot` over all lines before it, signed by the gateway's key. An export has at most 1,000 lines, 250 with `sign=lines`; \
             when it is `truncated`, its `next` has the parameters of the one that follows. `missing` names plugins that are on and did not \
             answer: lines of theirs may be missing, and a later export has them. URLs are shown without path and query. \
             The headers `X-Service-Signer`, `X-Service-Merkle-Root` and `X-Service-Signed` (`root` or `lines+root`) say the same as the \
             footer. `gateway verify audit FILE` checks an export.",
        )
        .response::<JsonLines>(200, "application/x-ndjson", "The lines and the footer")
        .endpoint("audit")
        .briefing("Audit export", "/{id}/audit.jsonl: an agent's record line by line, with a root that the gateway signs; from, to, sign=lines")
        .example("GET /api/agents/{id}/audit.jsonl?sign=lines")
}

/// JSON objects, one a line; each line ends with a line feed
#[derive(JsonSchema)]
#[schemars(inline, transparent)]
#[expect(dead_code, reason = "describes the body")]
struct JsonLines(String);

type Response = WithHeader<WithHeader<WithHeader<RawResponse>>>;

async fn get_agent_audit(
    cx: RequestContext<Audit>,
    Path(agent): Path<AgentId>,
    QueryString(query): QueryString<ExportQuery>,
    Limit(limit): Limit<LINES_MAX, LINES_MAX>,
) -> Result<Response, HandlerError<AuditError>> {
    let request = query.check(limit)?;
    let running = cx.plugin().running.begin(cx.client_network());
    let _running = running.ok_or(AuditError::Running { retry_after_s: RETRY_AFTER_S })?;
    let owner = agents::owner(&cx.db(), agent).await?.ok_or(AuditError::UnknownAgent(agent))?;
    let signer = cx.signer(ROLE).address().await?;
    let (sources, draft) = draft(&cx, &request, Common { agent_id: agent, signer }, owner).await?;
    let footer = Footer { agent_id: agent, owner, signer, generated_at: cx.now_s(), sources };
    let body = signed(&cx, &request, &draft, &footer).await?;
    Ok(response(&cx, &request, &footer, &draft, body))
}

/// Collects the lines.
async fn draft(
    cx: &RequestContext<Audit>,
    request: &ExportRequest,
    common: Common,
    owner: Address,
) -> Result<(ExportSources, Draft), HostError> {
    let db = cx.db();
    let input = logs::with_times(&db, request.input(common.agent_id, owner)).await?;
    let own = logs::lines(&db, &input).await?;
    // Before they are asked: one that fails meanwhile is missing.
    let mut missing = cx.contributors(point::AUDIT).await?;
    let (mut answered, contributed): (BTreeSet<String>, Vec<_>) =
        cx.collect(point::AUDIT, &input).await?.into_iter().unzip();
    missing.retain(|plugin| !answered.contains(plugin));
    answered.insert(PLUGIN.to_owned());
    let sources = ExportSources { answered, missing };
    let request = request.clone();
    let draft = cx.blocking(move || Draft::new(&request, common, own, contributed)).await??;
    Ok((sources, draft))
}

async fn signed(
    cx: &RequestContext<Audit>,
    request: &ExportRequest,
    draft: &Draft,
    footer: &Footer,
) -> Result<Vec<u8>, HostError> {
    let (key, mut export) = (cx.signer(ROLE), Export::default());
    for line in &draft.lines {
        let signature = if request.signs_lines { Some(key.sign_text(line).await?.signature) } else { None };
        export.push(line, signature.as_deref());
    }
    let last = footer.text(request, draft)?;
    let signature = key.sign_text(&last).await?.signature;
    export.push(&last, Some(&signature));
    Ok(export.into_bytes())
}

fn response(
    cx: &RequestContext<Audit>,
    request: &ExportRequest,
    footer: &Footer,
    draft: &Draft,
    body: Vec<u8>,
) -> Response {
    let prefix = &cx.environment().brand.header_prefix;
    let name = |end: &str| format!("{prefix}-{end}").into();
    let response = RawResponse { status: 200, content_type: CONTENT_TYPE.into(), body: body.into() };
    let response = WithHeader { response, name: name("Signer"), value: footer.signer.to_string().into() };
    let response = WithHeader { response, name: name("Merkle-Root"), value: draft.root.to_string().into() };
    let signed = if request.signs_lines { "lines+root" } else { "root" };
    WithHeader { response, name: name("Signed"), value: signed.into() }
}
