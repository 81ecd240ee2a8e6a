//! The answer of a list: `items`, and the members beside them.

use crate::{
    abi,
    sdk::{
        HostError, IntoResponse, RouteDescription,
        rendered_json::{ListJson, RenderedObject},
        response,
    },
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::json;
use std::{borrow::Cow, marker::PhantomData};

/// A 200 response `{"items": […], "total": n}` with the JSON of `T`s.
///
/// ```
/// use plugin_api::{Address, HandlerError, JsonSchema, List, Listed, Page, RequestContext};
/// use serde::{Deserialize, Serialize};
///
/// /// A note: its row and its JSON.
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// #[serde(rename_all = "camelCase")]
/// struct NoteView {
///     id: i64,
///     author: Address,
///     created_at: i64,
/// }
///
/// const NOTES: List = List::new("notes_notes", "id, author, created_at").order_by("id DESC");
///
/// # struct Notes;
/// async fn list_notes(
///     cx: RequestContext<Notes>,
///     Page { limit, offset }: Page<25, 100>,
/// ) -> Result<Listed<NoteView>, HandlerError> {
///     let page = NOTES.page(limit, offset).fetch(&cx.db()).await?;
///     Ok(Listed::new(page.rows()?, page.total)?)
/// }
/// ```
///
/// In the documentation a list of `NoteView`s is a `NoteList`. A list with other members has all but `items` in a struct,
/// which also names and describes it: `Listed<NoteView, NoteList>`.
pub struct Listed<T, Rest = Total<T>> {
    list: ListJson,
    schema: PhantomData<fn() -> (T, Rest)>,
}

impl<T, Rest: Serialize> Listed<T, Rest> {
    /// Serialises the items; `rest` is the total, or the struct of the other members.
    pub fn new(items: Vec<T>, rest: impl Into<Rest>) -> Result<Self, HostError>
    where
        T: Serialize,
    {
        Ok(Self { list: ListJson::of("items", &items, &rest.into())?, schema: PhantomData })
    }

    /// Assembles each item from its rendered JSON and the members that are known only when it is read, as
    /// [`crate::RenderedJson`] does.
    pub fn rendered<O: RenderedObject, State: Serialize>(
        items: impl IntoIterator<Item = (O, State)>,
        rest: impl Into<Rest>,
    ) -> Result<Self, HostError> {
        Ok(Self { list: ListJson::of_rendered("items", items, &rest.into())?, schema: PhantomData })
    }
}

impl<T: JsonSchema, Rest: JsonSchema> IntoResponse for Listed<T, Rest> {
    fn into_response(self) -> abi::Response {
        response::full_json(200, self.list.json, self.list.has_authors)
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        response::describe_json::<Self>(describe, 200, "OK");
    }
}

impl<T: JsonSchema, Rest: JsonSchema> JsonSchema for Listed<T, Rest> {
    fn schema_name() -> Cow<'static, str> {
        Rest::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("plugin_api::Listed<{}, {}>", T::schema_id(), Rest::schema_id()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Members::<T, Rest>::json_schema(generator);
        if let Some(description) = schema.remove(ITEMS)
            && let Some(items) = schema.get_mut("properties").and_then(|members| members.get_mut(ITEMS))
        {
            items["description"] = description;
        }
        schema
    }
}

/// `#[schemars(extend("items" = "…"))]` on the struct of the other members describes `items`.
const ITEMS: &str = "items";

// No doc comments: they would be part of the schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the derived schema is all that is used of it")]
struct Members<T, Rest> {
    items: Vec<T>,
    #[schemars(flatten)]
    rest: Rest,
}

/// The member `total` of a list of `T`s.
#[derive(Serialize)]
#[serde(bound = "")]
pub struct Total<T> {
    total: i64,
    #[serde(skip)]
    of: PhantomData<fn() -> T>,
}

impl<T> From<i64> for Total<T> {
    fn from(total: i64) -> Self {
        Self { total, of: PhantomData }
    }
}

impl<T: JsonSchema> JsonSchema for Total<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}List", resource(&T::schema_name())).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let description = format!("How many {} match, on all pages.", plural(resource(&T::schema_name())));
        let total = json!({ "type": "integer", "format": "int64", "description": description });
        json_schema!({ "type": "object", "properties": { "total": total }, "required": ["total"] })
    }
}

/// `ThreadView` → `Thread`.
fn resource(view: &str) -> &str {
    view.strip_suffix("View").unwrap_or(view)
}

/// `PaymentStream` → `payment streams`.
fn plural(resource: &str) -> String {
    let mut words = String::new();
    for letter in resource.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    let stem = words.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    stem.map_or_else(|| format!("{words}s"), |stem| format!("{stem}ies"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::Value;

    #[derive(Serialize, JsonSchema)]
    struct ThreadView {
        id: i64,
    }

    /// Threads and the time.
    #[derive(Serialize, JsonSchema)]
    #[schemars(extend("items" = "The newest first."))]
    struct ThreadFeed {
        /// Unix seconds.
        now: i64,
    }

    fn text<T, Rest>(list: Result<Listed<T, Rest>, HostError>) -> String {
        String::from_utf8(list.unwrap().list.json).unwrap()
    }

    #[test]
    fn items_are_serialised_or_rendered() {
        let threads = || vec![ThreadView { id: 1 }, ThreadView { id: 2 }];
        let list: Result<Listed<ThreadView>, _> = Listed::new(threads(), 7);
        assert_eq!(text(list), r#"{"items":[{"id":1},{"id":2}],"total":7}"#);
        let list: Result<Listed<ThreadView>, _> = Listed::rendered([(r#"{"title":"a"}"#, ThreadView { id: 1 })], 7);
        assert_eq!(text(list), r#"{"items":[{"title":"a","id":1}],"total":7}"#);
        let list: Result<Listed<ThreadView, ThreadFeed>, _> = Listed::new(threads(), ThreadFeed { now: 9 });
        assert_eq!(text(list), r#"{"items":[{"id":1},{"id":2}],"now":9}"#);
        let list: Result<Listed<ThreadView>, _> = Listed::new(Vec::new(), 0);
        assert_eq!(text(list), r#"{"items":[],"total":0}"#);
    }

    fn schemas<T: JsonSchema>() -> Value {
        let mut generator = SchemaGenerator::default();
        generator.subschema_for::<T>();
        Value::Object(generator.take_definitions(true))
    }

    #[test]
    fn a_list_is_documented_by_its_items() {
        let list = &schemas::<Listed<ThreadView>>()["ThreadList"];
        let total =
            json!({ "type": "integer", "format": "int64", "description": "How many threads match, on all pages." });
        let items = json!({ "type": "array", "items": { "$ref": "#/$defs/ThreadView" } });
        let properties = json!({ "items": items, "total": total });
        assert_eq!(*list, json!({ "type": "object", "properties": properties, "required": ["items", "total"] }));
    }

    #[test]
    fn other_members_name_and_describe_the_list() {
        let schemas = schemas::<Listed<ThreadView, ThreadFeed>>();
        let list = &schemas["ThreadFeed"];
        assert_eq!(list["description"], "Threads and the time.");
        assert_eq!(list["properties"]["items"]["description"], "The newest first.");
        assert_eq!(list["properties"]["now"]["description"], "Unix seconds.");
        assert_eq!(list["required"], json!(["items", "now"]));
        assert_eq!(list.get(ITEMS), None);
        assert_eq!(schemas.as_object().unwrap().len(), 2, "{schemas}");
    }

    #[test]
    fn names_of_many() {
        for (view, many) in [("ThreadView", "threads"), ("BountyView", "bounties"), ("EssayView", "essays")] {
            assert_eq!(plural(resource(view)), many);
        }
        assert_eq!(plural(resource("PaymentStream")), "payment streams");
    }
}
