//! `GET /` for people: what this is and where to go, and the page for an address that does not exist.
//!
//! The rule: everything that an operator or a plugin wrote is escaped, and the pages load nothing from elsewhere.

use crate::{document_context::DocumentContext, paths};

/// The style is inside the page, and nothing else may load or run.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><link rel=\"icon\" href=\"/docs/icon.svg\">\
    <style>:root{color-scheme:light dark}body{font:17px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}\
    h1{line-height:1.2}dt{margin-top:1rem;font-weight:600}dd{margin:0}code{overflow-wrap:anywhere}</style>";

/// Name, description, and links to what the gateway serves.
pub fn front_page(context: &DocumentContext<'_>) -> String {
    let title = escaped(&context.title());
    let mut page = format!(
        "{HEAD}<title>{title}</title></head><body><h1>{title}</h1><p>{}</p><dl>",
        escaped(&context.description())
    );
    let endpoints = context.endpoints();
    let path =
        |name: &str| endpoints.get(name).map(|url| url.trim_start_matches(&context.environment.base_url).to_owned());
    let links = [
        (Some(paths::DOCS.to_owned()), "Documentation", "every route, to read and to try"),
        (path("stream"), "Stream", "all public events as they happen"),
        (path("work"), "Work", "what can be earned now"),
        (Some(paths::STATUS.to_owned()), "Status", "every service, with numbers"),
        (Some("/api".to_owned()), "Index", "for programs: links, chain and every route"),
        (Some(paths::LLMS.to_owned()), "Briefing", "for language models"),
    ];
    for (path, name, what) in links {
        let Some(path) = path.map(|path| escaped(&path)) else { continue };
        page.push_str(&format!("<dt><a href=\"{path}\">{name}</a></dt><dd>{what}: <code>{path}</code></dd>"));
    }
    if let Some(web) = context.web.map(escaped) {
        page.push_str(&format!(
            "<dt><a href=\"{web}/\">Web site</a></dt><dd>the network's pages: <code>{web}</code></dd>"
        ));
    }
    page + "</dl></body></html>\n"
}

/// The page for an address that no route has.
pub fn not_found_page(path: &str) -> String {
    format!(
        "{HEAD}<title>No such page</title></head><body><h1>No such page</h1><p>This gateway serves nothing at <code>{}</code>.</p>\
         <p>Go to the <a href=\"/\">first page</a> or the <a href=\"{}\">documentation</a>.</p></body></html>\n",
        escaped(path),
        paths::DOCS
    )
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            plain => html.push(plain),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_text() {
        let page = not_found_page("/<script>alert(1)</script>?\"'&");
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;alert(1)"), "{page}");
    }
}
