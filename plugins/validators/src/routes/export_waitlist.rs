//! `GET /api/validators/waitlist/export`: every entry with its contact, for operators.

use super::{
    csv,
    totals::{self, Totals},
};
use crate::{Validators, error::WaitlistError, model::Entry, store};
use plugin_api::{
    Address, HandlerError, Json, JsonSchema, QueryString, RequestContext, Route,
    extract::SignedBy,
    response::{IntoResponse, RawResponse, Response, WithHeader},
};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Validators> {
    Route::get("/api/validators/waitlist/export", export_waitlist)
        .signed_headers_once("validators.export")
        .needs_setting("operators", &WaitlistError::NoOperators)
        .per_minute(30)
        .cache_control("no-store")
        .response::<Export>(200, "application/json", "Every entry")
        .response::<String>(200, "text/csv", "Every entry, with format=csv")
        .summary("Export the waitlist, for its operators")
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ExportQuery {
    /// `json` (default) or `csv`.
    format: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Export {
    #[serde(flatten)]
    totals: Totals,
    exported_by: Address,
    /// Unix seconds.
    exported_at: i64,
    /// The oldest first.
    items: Vec<Entry>,
}

enum ExportResponse {
    Json(Export),
    Csv(String),
}

impl IntoResponse for ExportResponse {
    fn into_response(self) -> Response {
        match self {
            Self::Json(export) => Json(export).into_response(),
            Self::Csv(text) => {
                let response = RawResponse {
                    status: 200,
                    content_type: "text/csv; charset=utf-8".into(),
                    body: text.into_bytes().into(),
                };
                let value = "attachment; filename=\"validator-waitlist.csv\"".into();
                WithHeader { response, name: "content-disposition".into(), value }.into_response()
            }
        }
    }
}

async fn export_waitlist(
    cx: RequestContext<Validators>,
    SignedBy(signer): SignedBy,
    QueryString(query): QueryString<ExportQuery>,
) -> Result<ExportResponse, HandlerError<WaitlistError>> {
    if !cx.plugin().operators.contains(&signer) {
        return Err(WaitlistError::NotOperator.into());
    }
    let is_csv = match query.format.as_str() {
        "" | "json" => false,
        "csv" => true,
        _ => return Err(WaitlistError::Format.into()),
    };
    let items = store::all_entries(&cx.db()).await?;
    if is_csv {
        let head = csv::line(&COLUMNS.map(str::to_owned));
        return Ok(ExportResponse::Csv(items.iter().map(line).fold(head, |text, line| text + &line)));
    }
    let totals = totals::read(&cx).await?;
    Ok(ExportResponse::Json(Export { totals, exported_by: signer, exported_at: cx.now_s(), items }))
}

const COLUMNS: [&str; 9] =
    ["address", "platform", "seats", "contact", "contactKind", "consent", "createdAt", "verified", "signedAt"];

fn line(entry: &Entry) -> String {
    csv::line(&[
        entry.address.to_string(),
        entry.platform.name().to_owned(),
        entry.seats.to_string(),
        entry.contact.clone().unwrap_or_default(),
        entry.contact_kind.map_or_else(String::new, |kind| kind.name().to_owned()),
        entry.consent.to_string(),
        entry.created_at.to_string(),
        entry.verified.to_string(),
        entry.signed_at.map_or_else(String::new, |at| at.to_string()),
    ])
}
