//! `PUT /api/kb/{slug}`: a new page, or a new revision of one.

use crate::{Kb, error::KbError, model, store};
use plugin_api::{HandlerError, Path, RequestContext, Route, Signed, response::CreatedOrUpdated};

pub fn route() -> Route<Kb> {
    Route::put("/api/kb/{slug}", write_page)
        .signed("kb.write")
        .commons_limit()
        .summary("Write a page, or a new revision of it")
        .example("PUT /api/kb/{slug} {title, body, summary} signed as kb.write")
}

async fn write_page(
    cx: RequestContext<Kb>,
    Path(model::SlugText(slug)): Path<model::SlugText>,
    Signed { signer, payload }: Signed<model::NewRevision>,
) -> Result<CreatedOrUpdated<model::PageView>, HandlerError<KbError>> {
    let slug = model::Slug::parse(&slug).ok_or(KbError::Slug)?;
    let draft = payload.check()?;
    // A page's creator never changes, so a read before the write stays valid in it, unless the page is created in the meantime.
    let creator = store::pages::creator(&cx.db(), &slug).await?;
    // Agents matter for another wallet's page only.
    let other = creator.filter(|creator| *creator != signer);
    let authors = cx.authors(other.into_iter().flat_map(|creator| [creator, signer])).await?;
    let adopts = other.is_some_and(|creator| !authors.owns_agent(creator)) && authors.owns_active_agent(signer);
    if !cx.plugin().policy.allows(&slug, signer, creator, adopts) {
        return Err(KbError::Protected { slug }.into());
    }
    let write = store::revisions::RevisionWrite::new(cx.plugin().index, slug, creator, signer, draft);
    let (text, body) = cx
        .write(async move |tx| {
            let text = write.store(tx).await?.ok_or_else(|| KbError::Conflict { slug: write.slug.clone() })?;
            Ok((text, write.draft.body.clone()))
        })
        .await?;
    let rest =
        model::PageRest { created_by: creator.unwrap_or(signer).into(), updated_by: signer.into(), body: body.into() };
    Ok(CreatedOrUpdated { created: text.rev == 1, value: model::PageView { text, rest } })
}
