//! What a plugin has in the database: read from the database's own catalogue, because the plugin itself may be gone.
//!
//! The rule: nothing of another owner is named here. A view whose owner cannot be known counts as another plugin's.

use crate::{
    check::{TableReferences, with_statement},
    database::Database,
    dialect::Dialect,
    error::StorageError,
    scope::{ViewNames, owns_table},
};
use futures_util::future::BoxFuture;
use plugin_api::sql;
use sqlparser::ast::Statement;
use std::collections::{BTreeMap, BTreeSet};

/// Each list is sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginObjects {
    /// Also those with row counts: on PostgreSQL the changes that are summed.
    pub tables: Vec<String>,
    /// Tables on SQLite, indexes on PostgreSQL.
    pub search_indexes: Vec<String>,
    /// On PostgreSQL also those that sum row counts.
    pub views: Vec<String>,
    pub triggers: Vec<String>,
    /// What its triggers call, on PostgreSQL.
    pub functions: Vec<String>,
    /// Views of other plugins that read a table or view of it.
    pub dependent_views: Vec<String>,
}

/// Kinds of objects as both catalogues are read here.
const TABLE: &str = "table";
const SEARCH_TABLE: &str = "virtual";
const INDEX: &str = "index";

/// Name and kind. Tables that belong to a search index are left out.
const SQLITE_OBJECTS: &str = "SELECT s.name, CASE WHEN t.type = 'virtual' THEN 'virtual' ELSE s.type END \
     FROM sqlite_schema AS s LEFT JOIN pragma_table_list AS t ON t.schema = 'main' AND t.name = s.name \
     WHERE t.type IS NULL OR t.type <> 'shadow'";
const POSTGRES_OBJECTS: &str = "SELECT CAST(relname AS TEXT), \
     CASE WHEN relkind = 'i' THEN 'index' WHEN relkind = 'v' THEN 'view' ELSE 'table' END \
     FROM pg_class WHERE pg_table_is_visible(oid) AND relkind IN ('r', 'p', 'i', 'v')";

/// Name and table.
const SQLITE_TRIGGERS: &str = "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'";
const POSTGRES_TRIGGERS: &str = "SELECT CAST(t.tgname AS TEXT), CAST(c.relname AS TEXT) FROM pg_trigger AS t \
     JOIN pg_class AS c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND pg_table_is_visible(c.oid)";

const POSTGRES_FUNCTIONS: &str = "SELECT CAST(proname AS TEXT) FROM pg_proc \
     WHERE pg_function_is_visible(oid) AND pronargs = 0 AND prorettype = CAST('trigger' AS regtype)";

/// Name and text.
const SQLITE_VIEWS: &str = "SELECT name, sql FROM sqlite_schema WHERE type = 'view'";
/// Name, and what it reads.
const POSTGRES_VIEWS: &str = "SELECT CAST(view_name AS TEXT), CAST(table_name AS TEXT) \
     FROM information_schema.view_table_usage WHERE view_schema = current_schema()";

impl PluginObjects {
    /// What the plugin has in this database. `published` are the views of the other plugins that are there.
    pub fn of<'a>(
        database: &'a Database,
        plugin: &'a str,
        published: &'a ViewNames,
    ) -> BoxFuture<'a, Result<Self, StorageError>> {
        Box::pin(Self::read(database, plugin, published))
    }

    async fn read(database: &Database, plugin: &str, published: &ViewNames) -> Result<Self, StorageError> {
        let dialect = database.dialect();
        let pick = |sqlite: &'static str, postgres: &'static str| match dialect {
            Dialect::Sqlite => sql(sqlite),
            Dialect::Postgres => sql(postgres),
        };
        let objects: Vec<(String, String)> = database.fetch_all(pick(SQLITE_OBJECTS, POSTGRES_OBJECTS)).await?;
        let triggers: Vec<(String, String)> = database.fetch_all(pick(SQLITE_TRIGGERS, POSTGRES_TRIGGERS)).await?;
        let functions: Vec<String> = match dialect {
            Dialect::Sqlite => Vec::new(),
            Dialect::Postgres => database.fetch_all(sql(POSTGRES_FUNCTIONS)).await?,
        };
        let applied = database.migration_status(None).await?;
        let others = applied.into_iter().map(|migration| migration.plugin).filter(|owner| owner != plugin).collect();
        let owned = |names: Vec<String>| sorted(names.into_iter().filter(|name| owns_table(plugin, name)));
        let of_kind =
            |kind: &str| owned(objects.iter().filter(|object| object.1 == kind).map(|o| o.0.clone()).collect());
        let is_search = |name: &String| name.ends_with("_search");
        let tables = of_kind(TABLE);
        let owners = ViewOwners { plugin, tables: &tables, others, published };
        let (views, dependent_views) = owners.split(&view_reads(database, dialect).await?);
        Ok(Self {
            search_indexes: match dialect {
                Dialect::Sqlite => of_kind(SEARCH_TABLE),
                Dialect::Postgres => of_kind(INDEX).into_iter().filter(is_search).collect(),
            },
            views,
            triggers: sorted(triggers.into_iter().filter(|(_, table)| owns_table(plugin, table)).map(|(name, _)| name)),
            functions: owned(functions),
            dependent_views,
            tables,
        })
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.views.is_empty() && self.search_indexes.is_empty() && self.functions.is_empty()
    }

    /// The statements that drop everything of it, for one transaction. Triggers and indexes go with their tables.
    pub fn drop_statements(&self, dialect: Dialect) -> Vec<String> {
        let each = |kind: &str, names: &[String], arguments: &str| -> Vec<String> {
            names.iter().map(|name| format!("DROP {kind} \"{name}\"{arguments}")).collect()
        };
        match dialect {
            // Tables that refer to each other are all gone at the end.
            Dialect::Sqlite => std::iter::once("PRAGMA defer_foreign_keys = ON".to_owned())
                .chain(each("VIEW", &self.views, ""))
                .chain(each("TABLE", &self.search_indexes, ""))
                .chain(each("TABLE", &self.tables, ""))
                .collect(),
            // One statement for all of a kind, because they refer to each other.
            Dialect::Postgres => {
                let kinds = [("VIEW", &self.views), ("TABLE", &self.tables)].into_iter();
                let all = kinds.filter(|(_, names)| !names.is_empty()).map(|(kind, names)| {
                    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
                    format!("DROP {kind} {}", quoted.join(", "))
                });
                all.chain(each("FUNCTION", &self.functions, "()")).collect()
            }
        }
    }
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

type ViewReads = BTreeMap<String, BTreeSet<String>>;

/// By view, the tables and views that it reads.
async fn view_reads(database: &Database, dialect: Dialect) -> Result<ViewReads, StorageError> {
    let mut reads = ViewReads::new();
    match dialect {
        Dialect::Postgres => {
            let pairs: Vec<(String, String)> = database.fetch_all(sql(POSTGRES_VIEWS)).await?;
            for (view, table) in pairs {
                reads.entry(view).or_default().insert(table);
            }
        }
        Dialect::Sqlite => {
            let texts: Vec<(String, String)> = database.fetch_all(sql(SQLITE_VIEWS)).await?;
            for (view, text) in texts {
                let found = tables_of_view(&text)
                    .map_err(|reason| StorageError::Internal(format!("the view {view} cannot be read: {reason}")))?;
                reads.insert(view, found);
            }
        }
    }
    Ok(reads)
}

fn tables_of_view(text: &str) -> Result<BTreeSet<String>, String> {
    let found = with_statement(text, Dialect::Sqlite, |statement| match statement {
        Statement::CreateView { query, .. } => TableReferences::visit(query).map(|references| references.reads),
        _ => Err("it is no view".to_owned()),
    });
    found.map_err(|error| error.to_string())?
}

/// Which plugins may have made a view.
struct ViewOwners<'a> {
    plugin: &'a str,
    /// Of the plugin.
    tables: &'a [String],
    /// Those who have migrated the database.
    others: BTreeSet<String>,
    /// Views of the other plugins that are there.
    published: &'a ViewNames,
}

impl ViewOwners<'_> {
    /// The plugin's own views, and views of others that read something of it.
    fn split(&self, reads: &ViewReads) -> (Vec<String>, Vec<String>) {
        let own: BTreeSet<&String> = reads.keys().filter(|view| self.is_own(view, &reads[*view])).collect();
        let is_of_plugin = |name: &String| owns_table(self.plugin, name) || own.contains(name);
        let depends = |view: &&String| !own.contains(*view) && reads[*view].iter().any(is_of_plugin);
        let dependent = reads.keys().filter(depends).cloned().collect();
        (own.iter().map(|view| (*view).clone()).collect(), dependent)
    }

    /// Nobody but the plugin can read its tables, so a view of a free name that does is its own. One that reads nothing but
    /// published views may be anybody's.
    fn is_own(&self, view: &str, reads: &BTreeSet<String>) -> bool {
        if owns_table(self.plugin, view) {
            return true;
        }
        let is_of_another = self.others.iter().any(|other| owns_table(other, view)) || self.published.contains(view);
        !is_of_another && reads.iter().any(|name| self.tables.contains(name))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_view_belongs_to_who_can_have_made_it() {
        let published = ViewNames::from(["ranking_v1".to_owned()]);
        let others = BTreeSet::from(["host".to_owned(), "market".to_owned()]);
        let tables = ["agents_jobs", "agents_registry"].map(str::to_owned);
        let owners = ViewOwners { plugin: "agents", tables: &tables, others, published: &published };
        let views = [
            ("agents_v1", "CREATE VIEW agents_v1 AS SELECT id FROM agents_registry"),
            (
                "jobs_v1",
                "CREATE VIEW jobs_v1 AS SELECT j.id FROM agents_jobs j JOIN agents_registry r ON r.id = j.agent",
            ),
            ("market_v1", "CREATE VIEW market_v1 AS SELECT id FROM agents_v1"),
            ("ranking_v1", "CREATE VIEW ranking_v1 AS WITH a AS (SELECT id FROM jobs_v1) SELECT id FROM a"),
            ("whose_v1", "CREATE VIEW whose_v1 AS SELECT id FROM agents_v1"),
            ("forum_v1", "CREATE VIEW forum_v1 AS SELECT id FROM forum_threads"),
        ];
        let reads = views.iter().map(|(view, text)| ((*view).to_owned(), tables_of_view(text).unwrap())).collect();
        let (own, dependent) = owners.split(&reads);
        assert_eq!(own, ["agents_v1", "jobs_v1"]);
        assert_eq!(dependent, ["market_v1", "ranking_v1", "whose_v1"]);
    }
}
