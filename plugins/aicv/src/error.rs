//! Errors of the routes: texts, statuses and codes.

use plugin_api::ApiError;

#[derive(Clone, Debug, PartialEq, Eq, ApiError)]
pub enum CvError {
    #[api(
        404,
        "not_found",
        "no agent is called {0:?}",
        hint = "GET /api/agents lists the agents: their ids stand in paths as well as their names in lower case, with hyphens"
    )]
    UnknownAgent(String),
    #[api(
        404,
        "not_found",
        "the agent has no such document",
        hint = "`document` is the documentHash of one that was issued; without it the current one is answered"
    )]
    UnknownDocument,
    #[api(
        404,
        "not_found",
        "this document gets no proof any more: its issuer, its registries or its block are not those of today",
        hint = "leave `document` out for the current one; /api/cv/{{agent}}?document= answers this one without a proof"
    )]
    NotSigned,
    #[api(
        400,
        "bad_request",
        "signer: {0:?} is neither gateway nor owner",
        hint = "leave it out for the gateway's proof"
    )]
    Signer(String),
    #[api(400, "bad_request", "metric: {0:?} is none of jobs, earned and rating", hint = "leave it out for jobs")]
    Metric(String),
    #[api(400, "bad_request", "document: 0x and 64 lower-case hex digits are needed", hint = "it is a documentHash")]
    Hash,
    #[api(
        503,
        "indexing",
        "the indexes of the chain are not at one block",
        hint = "repeat the request in some seconds",
        header("retry-after" = seconds)
    )]
    Indexing { seconds: u32 },
    #[api(
        503,
        "unavailable",
        "the agent's state cannot be read from the chain",
        hint = "repeat the request in some seconds",
        header("retry-after" = seconds)
    )]
    Unreadable { seconds: u32 },
    #[api(
        503,
        "disabled",
        "the plugin {0} is off, without which nothing is known of agents",
        hint = "the operator of this gateway has switched it off"
    )]
    Off(&'static str),
    #[api(
        503,
        "disabled",
        "no registry of agents is configured",
        hint = "this gateway follows no chain; the operator sets chains.main"
    )]
    NoRegistry,
    #[api(
        503,
        "unavailable",
        "the plugin {plugin} does not answer",
        hint = "repeat the request in some seconds",
        header("retry-after" = seconds)
    )]
    Silent { plugin: &'static str, seconds: u32 },
}
