//! Paging, and query members that are never an error.

use super::{FromRequest, PageStart, Problem, Request, RouteDescription};
use crate::manifest::{Parameter, ParameterIn};
use serde::{Deserialize, Deserializer, de::DeserializeOwned, de::IntoDeserializer};
use serde_json::json;
use std::borrow::Cow;

/// `limit`, and `offset` or `cursor` of a list. A text that is not a number is the default, a limit that is too large is the maximum.
/// An offset above 10,000 and what is no cursor are 400: the cost of a page must not grow with its place.
///
/// ```
/// use plugin_api::{HandlerError, Json, Page, RequestContext};
///
/// # struct Notes;
/// /// 25 items by default, at most 100.
/// async fn list(_: RequestContext<Notes>, Page { limit, offset }: Page<25, 100>) -> Result<Json<u32>, HandlerError> {
///     Ok(Json(offset.offset()? + limit))
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Page<const DEFAULT: u32, const MAX: u32> {
    pub limit: u32,
    pub offset: PageStart,
}

/// Rows that a request may skip; behind them a cursor leads.
const OFFSET_MAX: u32 = 10_000;
const CURSOR: &str = "cursor";

impl<const DEFAULT: u32, const MAX: u32> Page<DEFAULT, MAX> {
    fn parse(query: &str) -> Result<Self, Problem> {
        let limit = number(query, "limit", DEFAULT, (1, MAX));
        if let Some(cursor) = member(query, CURSOR).filter(|cursor| !cursor.is_empty()) {
            return Ok(Self { limit, offset: PageStart::after(&cursor)? });
        }
        let offset = number(query, "offset", 0, (0, u32::MAX));
        if offset > OFFSET_MAX {
            let problem = Problem::new(400, "bad_request", format!("offset: it is at most {OFFSET_MAX}"));
            return Err(problem.hint("follow the link `next` (header Link) of each page, whose cursor leads on"));
        }
        Ok(Self { limit, offset: offset.into() })
    }
}

/// The last member with this name, clamped to its range; the default when it is not a number.
fn number(query: &str, name: &str, default: u32, (min, max): (u32, u32)) -> u32 {
    let clamp = |number: i64| u32::try_from(number.clamp(min.into(), max.into())).unwrap_or(max);
    member(query, name).and_then(|value| truncated_integer(&value)).map_or(default, clamp)
}

/// The last member with this name.
fn member<'q>(query: &'q str, name: &str) -> Option<Cow<'q, str>> {
    form_urlencoded::parse(query.as_bytes()).filter(|(member, _)| member == name).last().map(|(_, value)| value)
}

/// The header `Link` of a page that another one follows: the same query with the cursor in place of offset and cursor.
pub(super) fn link_to_next(query: &str, cursor: &str) -> String {
    let members = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "offset" && name != CURSOR);
    let query =
        form_urlencoded::Serializer::new(String::new()).extend_pairs(members).append_pair(CURSOR, cursor).finish();
    format!("<?{query}>; rel=\"next\"")
}

/// A finite number other than zero, parsed like JavaScript's `Number` and truncated to an integer.
#[allow(clippy::cast_possible_truncation, reason = "`as` saturates at the ends of i64, which callers clamp anyway")]
fn truncated_integer(text: &str) -> Option<i64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && number != 0.0).then_some(number as i64)
}

impl<const DEFAULT: u32, const MAX: u32> FromRequest for Page<DEFAULT, MAX> {
    fn from_request(request: &mut Request) -> Result<Self, Problem> {
        Self::parse(request.query())
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe_limit(describe, DEFAULT, MAX);
        let schema = json!({ "type": "integer", "minimum": 0, "maximum": OFFSET_MAX, "default": 0 });
        describe_number(describe, "offset", "Items to skip", schema);
        let cursor =
            "Where the page begins, in place of `offset`: from the link `next` (header `Link`) of the page before";
        describe_number(describe, CURSOR, cursor, json!({ "type": "string" }));
    }
}

/// `limit` of a list that has no `offset`; as lenient as [`Page`].
///
/// ```
/// use plugin_api::{HandlerError, Json, RequestContext, extract::Limit};
///
/// # struct Notes;
/// /// 50 items by default, at most 200.
/// async fn list_feed(_: RequestContext<Notes>, Limit(limit): Limit<50, 200>) -> Result<Json<u32>, HandlerError> {
///     Ok(Json(limit))
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit<const DEFAULT: u32, const MAX: u32>(pub u32);

impl<const DEFAULT: u32, const MAX: u32> FromRequest for Limit<DEFAULT, MAX> {
    fn from_request(request: &mut Request) -> Result<Self, Problem> {
        Ok(Self(number(request.query(), "limit", DEFAULT, (1, MAX))))
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe_limit(describe, DEFAULT, MAX);
    }
}

fn describe_limit(describe: &mut RouteDescription<'_>, default: u32, max: u32) {
    let schema = json!({ "type": "integer", "minimum": 1, "maximum": max, "default": default });
    describe_number(describe, "limit", "Items in the answer", schema);
}

fn describe_number(describe: &mut RouteDescription<'_>, name: &str, description: &str, schema: serde_json::Value) {
    describe.spec.parameters.push(Parameter {
        name: name.into(),
        place: ParameterIn::Query,
        required: false,
        description: description.into(),
        schema,
    });
}

/// `#[serde(default, deserialize_with = "lenient")]`: a value that does not parse becomes the default.
///
/// ```
/// use plugin_api::lenient;
///
/// #[derive(serde::Deserialize)]
/// struct Filter {
///     #[serde(default, deserialize_with = "lenient")]
///     year: i64,
/// }
///
/// let filter = |query| serde_urlencoded::from_str::<Filter>(query).map(|filter| filter.year);
/// assert_eq!(filter("year=2024"), Ok(2024));
/// assert_eq!(filter("year=soon"), Ok(0));
/// ```
pub fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    let reader: serde::de::value::StringDeserializer<serde::de::value::Error> = text.clone().into_deserializer();
    if let Ok(value) = T::deserialize(reader) {
        return Ok(value);
    }
    let number = truncated_integer(&text).ok_or(());
    let number =
        number.map(|number| T::deserialize(IntoDeserializer::<serde::de::value::Error>::into_deserializer(number)));
    Ok(number.ok().and_then(Result::ok).unwrap_or_default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_the_default() {
        let page = |query: &str| {
            let page = Page::<25, 100>::parse(query).unwrap();
            (page.limit, page.offset.offset().unwrap())
        };
        assert_eq!(page(""), (25, 0));
        assert_eq!(page("limit=10&offset=5"), (10, 5));
        assert_eq!(page("limit=0&offset=-3"), (25, 0));
        assert_eq!(page("limit=-1"), (1, 0));
        assert_eq!(page("limit=abc&offset=NaN"), (25, 0));
        assert_eq!(page("limit=1e9&offset=10000"), (100, 10_000));
        assert_eq!(page("cursor="), (25, 0));
        assert_eq!(page("limit=2.9"), (2, 0));
        assert_eq!(page("limit=%31%30"), (10, 0));
        assert_eq!(page("limit=99999999999999999999"), (100, 0));
    }

    #[test]
    fn behind_ten_thousand_rows_only_a_cursor_leads() {
        for query in ["offset=10001", "offset=1e300", "cursor=x", "offset=1&cursor=00"] {
            assert_eq!(Page::<25, 100>::parse(query).unwrap_err().status, 400, "{query}");
        }
    }

    #[test]
    fn the_link_has_the_same_query_and_the_cursor() {
        let link = link_to_next("q=a%26b+c&offset=50&limit=2&cursor=00", "ab");
        assert_eq!(link, "<?q=a%26b+c&limit=2&cursor=ab>; rel=\"next\"");
        assert_eq!(link_to_next("", "ab"), "<?cursor=ab>; rel=\"next\"");
    }
}
