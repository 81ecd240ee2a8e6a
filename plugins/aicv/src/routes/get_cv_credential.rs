//! `GET /api/cv/{agent}/credential.json`: the document with a proof.

use super::{
    PER_MINUTE, SIGNER,
    issue::{find_agent, may_be_signed, publisher},
    published::{CredentialDocument, DocumentResponse, asked_for},
};
use crate::{
    Aicv,
    error::CvError,
    model::{SignedBy, TypedData, proof},
};
use plugin_api::{HandlerError, JsonSchema, Path, QueryString, RequestContext, Route, extract::Limit};
use serde::Deserialize;

pub fn route() -> Route<Aicv> {
    Route::get("/api/cv/{agent}/credential.json", get_cv_credential)
        .public()
        .per_minute(PER_MINUTE)
        .cache_control("public, max-age=30")
        .summary("The record of an agent with a proof: a verifiable credential")
        .description(
            "With `signer=gateway` the proof is the gateway's signature (EIP-712) over the struct AgentCV; with `signer=owner` it is what the \
             agent's owner has to sign.",
        )
        .endpoint("cvCredential")
        .example("GET /api/cv/{agent}/credential.json?signer=owner")
        .response::<CredentialDocument>(200, "application/json", "The credential")
}

#[derive(Deserialize, JsonSchema)]
struct CredentialQuery {
    /// The hash of an earlier document: it is signed while issuer, registries and block are still those that it names.
    #[serde(default)]
    document: String,
    /// Who signs.
    #[serde(default = "by_gateway")]
    #[schemars(extend("enum" = ["gateway", "owner"]))]
    signer: String,
}

fn by_gateway() -> String {
    "gateway".to_owned()
}

async fn get_cv_credential(
    cx: RequestContext<Aicv>,
    Path(segment): Path<String>,
    Limit(limit): Limit<200, 1000>,
    QueryString(query): QueryString<CredentialQuery>,
) -> Result<DocumentResponse, HandlerError<CvError>> {
    let by_owner = match query.signer.as_str() {
        "" | "gateway" => false,
        "owner" => true,
        other => return Err(CvError::Signer(other.chars().take(40).collect()).into()),
    };
    let agent = find_agent(&cx, &segment).await?;
    let publisher = publisher(&cx).await?;
    let document = asked_for(&cx, &publisher, &agent, limit, &query.document).await?;
    if !query.document.is_empty() && !may_be_signed(&cx, &publisher, &document, by_owner).await? {
        return Err(CvError::NotSigned.into());
    }
    let typed_data = TypedData::new(cx.environment(), &cx.plugin().config.domain_name, &document);
    let (signer, proof) = if by_owner {
        (document.owner, proof(&typed_data, &SignedBy::Owner(document.owner)))
    } else {
        let signed = cx.signer(SIGNER).sign_typed_data(typed_data.for_signer()).await?;
        (signed.address, proof(&typed_data, &SignedBy::Gateway(signed.address, &signed.signature)))
    };
    let name = format!("{}-Signer", cx.environment().brand.header_prefix);
    Ok(DocumentResponse::new(&cx, document).with("proof", proof).header(name, signer.to_string()))
}
