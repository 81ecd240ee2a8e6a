//! `PUT /api/kb/{slug}`: a new page, or a new revision of one.

use crate::{
    Kb,
    error::KbError,
    model::{Editors, NewRevision, Owner, PageRest, PageView, PageWritten, Slug, SlugText, Writer},
    store::pages::{self, RevisionWrite, WrittenPage},
};
use plugin_api::{CreatedOrUpdated, HandlerError, Path, RequestContext, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Kb> {
    Route::put("/api/kb/{slug}", write_page)
        .signed("kb.write")
        .rate_limit(RateLimit::commons_writes())
        .summary("Write a page, or a new revision of it")
        .example("PUT /api/kb/{slug} {title, body, summary} signed as kb.write")
}

async fn write_page(
    cx: RequestContext<Kb>,
    Path(SlugText(slug)): Path<SlugText>,
    Signed { signer, payload }: Signed<NewRevision>,
) -> Result<CreatedOrUpdated<PageView>, HandlerError<KbError>> {
    let slug = Slug::parse(&slug).map_err(KbError::from)?;
    let draft = payload.check()?;
    // A page's creator never changes, so a read before the transaction stays valid in it, unless the page is created in the
    // meantime. An open transaction blocks other writers.
    let creator = pages::creator(&cx.db(), &slug).await?;
    let authors = cx.authors([signer].into_iter().chain(creator)).await?;
    let owner = creator.map(|address| Owner { address, owns_agent: authors.owns_agent(address) });
    let writer = Writer { address: signer, owns_active_agent: authors.owns_active_agent(signer) };
    if !cx.plugin().policy.allows(&slug, owner, writer) {
        return Err(KbError::Protected { slug }.into());
    }
    let (tx, now_s) = (cx.transaction(), cx.now_s());
    let write = RevisionWrite { slug: &slug, creator, author: signer, draft: &draft, now_s };
    let Some(WrittenPage { text, created_by }) = pages::write(&tx, cx.plugin().index, &write).await? else {
        return Err(KbError::Conflict { slug }.into());
    };
    PageWritten::of(&text).by(signer, now_s)?.publish(&tx)?;
    let editors = Editors { created_by: authors.get(created_by), updated_by: authors.get(signer) };
    let rest = PageRest { editors, body: draft.body.into() };
    Ok(CreatedOrUpdated { created: text.rev == 1, value: PageView { text, rest } })
}
