//! `GET /api/cv/{agent}/credential.json`: the document with a proof.

use super::{
    PER_MINUTE, SIGNER,
    issue::{find_agent, may_be_signed, publisher},
    issue_cache::{DocumentText, ProofBy, TextKey},
    published::{CredentialDocument, DocumentResponse, earlier, newest},
};
use crate::{
    Aicv,
    error::CvError,
    model::{Document, LIMIT_DEFAULT, LIMIT_MAX, SignedBy, TypedData, proof},
};
use plugin_api::{HandlerError, JsonSchema, Path, QueryString, RequestContext, Route, extract::Limit};
use serde::Deserialize;
use std::sync::Arc;

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
    Limit(limit): Limit<LIMIT_DEFAULT, LIMIT_MAX>,
    QueryString(query): QueryString<CredentialQuery>,
) -> Result<DocumentResponse, HandlerError<CvError>> {
    let proof = match query.signer.as_str() {
        "" | "gateway" => ProofBy::Gateway,
        "owner" => ProofBy::Owner,
        other => return Err(CvError::Signer(other.chars().take(40).collect()).into()),
    };
    let agent = find_agent(&cx, &segment).await?;
    let publisher = publisher(&cx).await?;
    if !query.document.is_empty() {
        let document = earlier(&cx, &agent, &query.document).await?.document;
        if !may_be_signed(&cx, &publisher, &document, proof == ProofBy::Owner).await? {
            return Err(CvError::NotSigned.into());
        }
        return Ok(DocumentResponse::new(&cx, &with_proof(&cx, document, proof).await?));
    }
    let (issued, document) = newest(&cx, &publisher, &agent, limit).await?;
    let key = TextKey { limit, proof, form: publisher.form };
    if let Some(text) = issued.text(key) {
        return Ok(DocumentResponse::new(&cx, &text));
    }
    let text = with_proof(&cx, document.document.clone(), proof).await?;
    Ok(DocumentResponse::new(&cx, &issued.keep(key, text)))
}

/// The proof stands behind the members that it is about.
async fn with_proof(
    cx: &RequestContext<Aicv>,
    document: Document,
    by: ProofBy,
) -> Result<DocumentText, HandlerError<CvError>> {
    let typed_data = TypedData::new(cx.environment(), &cx.plugin().config.domain_name, &document);
    let (signer, proof) = if by == ProofBy::Owner {
        (document.owner, proof(&typed_data, &SignedBy::Owner(document.owner)))
    } else {
        let signed = cx.signer(SIGNER).sign_typed_data(typed_data.for_signer()).await?;
        (signed.address, proof(&typed_data, &SignedBy::Gateway(signed.address, &signed.signature)))
    };
    let members = document.text.strip_suffix('}').unwrap_or_default();
    let text = Arc::new(format!("{members},\"proof\":{proof}}}"));
    Ok(DocumentText { document, text, signer: Some(signer) })
}
