//! Which tables a statement reads and writes, found in its parse tree.
//!
//! The rule: unknown forms of statements are refused. A name counts as a table unless an enclosing `WITH` defines it
//! and the definition is visible there. The target of a write is always a table, even if a `WITH` defines the same
//! name.

use super::functions;
use sqlparser::ast::{
    Delete, Expr, FromTable, Insert, ObjectName, ObjectNamePart, Query, SetExpr, SqliteOnConflict, Statement,
    TableFactor, TableObject, TableWithJoins, Visit, Visitor,
};
use std::{collections::BTreeSet, ops::ControlFlow};

#[derive(Debug, Default)]
pub(crate) struct TableReferences {
    pub reads: BTreeSet<String>,
    pub writes: BTreeSet<String>,
    /// Whether the result may depend on the clock or on a random number.
    pub is_volatile: bool,
}

impl TableReferences {
    /// The tables of a `SELECT`, `INSERT`, `UPDATE` or `DELETE`.
    pub(crate) fn of(statement: &Statement) -> Result<Self, String> {
        Self::visit(statement)
    }

    /// The tables of any part of a parse tree.
    pub(crate) fn visit(node: &impl Visit) -> Result<Self, String> {
        let mut collector = TableCollector::default();
        match node.visit(&mut collector) {
            ControlFlow::Continue(()) => Ok(collector.references),
            ControlFlow::Break(reason) => Err(reason),
        }
    }
}

/// The name of a table, view, index or function as the database reads it: unqualified and lower case.
pub(crate) fn plain_name(name: &ObjectName) -> Result<String, String> {
    let [ObjectNamePart::Identifier(part)] = name.0.as_slice() else {
        return Err(format!("{name}: names are not qualified with a schema here"));
    };
    plain_ident(part)
}

fn plain_ident(part: &sqlparser::ast::Ident) -> Result<String, String> {
    let is_plain =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let text = match part.quote_style {
        None => part.value.to_ascii_lowercase(),
        Some(_) => part.value.clone(),
    };
    if is_plain(&text) { Ok(text) } else { Err(format!("{part}: names of tables and functions are a-z, 0-9 and _")) }
}

/// The names that the `WITH` of one query defines. Only the first `visible_count` of them can be used at this point.
struct WithClause {
    names: Vec<(String, *const Query)>,
    is_recursive: bool,
    visible_count: usize,
}

#[derive(Default)]
struct TableCollector {
    references: TableReferences,
    with_clauses: Vec<WithClause>,
    /// The next relation that is visited is a table function, which was checked already.
    skips_next_relation: bool,
}

type Flow = ControlFlow<String>;

fn refuse(reason: impl Into<String>) -> Flow {
    ControlFlow::Break(reason.into())
}

fn flow(result: Result<(), String>) -> Flow {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(reason) => ControlFlow::Break(reason),
    }
}

impl TableCollector {
    fn is_cte(&self, name: &str) -> bool {
        self.with_clauses.iter().any(|with_clause| {
            with_clause.names[..with_clause.visible_count].iter().any(|(defined, _)| defined == name)
        })
    }

    fn add_target(&mut self, table: &TableWithJoins) -> Result<(), String> {
        match (&table.relation, table.joins.is_empty()) {
            (TableFactor::Table { name, args: None, .. }, true) => {
                self.references.writes.insert(plain_name(name)?);
                Ok(())
            }
            _ => Err("a write names exactly one table".into()),
        }
    }

    fn add_insert(&mut self, insert: &Insert) -> Result<(), String> {
        if insert.or == Some(SqliteOnConflict::Rollback) || insert.overwrite {
            return Err("this form of INSERT is not allowed".into());
        }
        let TableObject::TableName(name) = &insert.table else {
            return Err("a write names exactly one table".into());
        };
        self.references.writes.insert(plain_name(name)?);
        Ok(())
    }

    fn add_delete(&mut self, delete: &Delete) -> Result<(), String> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        match (from.as_slice(), delete.tables.is_empty()) {
            ([table], true) => self.add_target(table),
            _ => Err("a write names exactly one table".into()),
        }
    }

    /// The `WITH` that contains this query, and the query's index in it.
    fn definition(&mut self, query: &Query) -> Option<(&mut WithClause, usize)> {
        let with_clause = self.with_clauses.last_mut()?;
        let index = with_clause.names.iter().position(|(_, defined)| std::ptr::eq(*defined, query))?;
        Some((with_clause, index))
    }

    fn enter_query(&mut self, query: &Query) -> Result<(), String> {
        if let Some((with_clause, index)) = self.definition(query) {
            with_clause.visible_count = index + usize::from(with_clause.is_recursive);
        }
        let mut with_clause = WithClause { names: Vec::new(), is_recursive: false, visible_count: 0 };
        if let Some(with) = &query.with {
            with_clause.is_recursive = with.recursive;
            for cte in &with.cte_tables {
                let name = plain_ident(&cte.alias.name)?;
                with_clause.names.push((name, std::ptr::from_ref(&*cte.query)));
            }
        }
        self.with_clauses.push(with_clause);
        Ok(())
    }
}

fn check_query(query: &Query) -> Result<(), String> {
    let is_plain = query.for_clause.is_none()
        && query.settings.is_none()
        && query.format_clause.is_none()
        && query.pipe_operators.is_empty();
    if !is_plain {
        return Err("this form of query is not allowed".into());
    }
    check_body(&query.body)
}

fn check_body(body: &SetExpr) -> Result<(), String> {
    match body {
        SetExpr::Select(select) if select.into.is_some() => Err("SELECT INTO is not allowed".into()),
        SetExpr::Table(_) | SetExpr::Merge(_) => Err("TABLE and MERGE are not allowed".into()),
        SetExpr::SetOperation { left, right, .. } => {
            check_body(left)?;
            check_body(right)
        }
        _ => Ok(()),
    }
}

impl Visitor for TableCollector {
    type Break = String;

    fn pre_visit_statement(&mut self, statement: &Statement) -> Flow {
        flow(match statement {
            Statement::Query(_) => Ok(()),
            Statement::Insert(insert) => self.add_insert(insert),
            Statement::Update { table, .. } => self.add_target(table),
            Statement::Delete(delete) => self.add_delete(delete),
            _ => Err("only SELECT, INSERT, UPDATE and DELETE are allowed".into()),
        })
    }

    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        flow(check_query(query).and_then(|()| self.enter_query(query)))
    }

    fn post_visit_query(&mut self, query: &Query) -> Flow {
        self.with_clauses.pop();
        if let Some((with_clause, index)) = self.definition(query) {
            with_clause.visible_count = index + 1;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Flow {
        match factor {
            TableFactor::Table { name, args: Some(_), .. } => {
                // Any other name with arguments counts as a table: `forum_search($1)` is one on SQLite.
                self.skips_next_relation = plain_name(name).is_ok_and(|name| functions::is_table_function(&name));
                ControlFlow::Continue(())
            }
            TableFactor::Function { name, .. } => match plain_name(name) {
                Ok(name) if functions::is_table_function(&name) => ControlFlow::Continue(()),
                _ => refuse(format!("the table function {name} is not allowed")),
            },
            TableFactor::Table { .. }
            | TableFactor::Derived { .. }
            | TableFactor::UNNEST { .. }
            | TableFactor::NestedJoin { .. } => ControlFlow::Continue(()),
            _ => refuse("this form of table is not allowed"),
        }
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> Flow {
        if std::mem::take(&mut self.skips_next_relation) {
            return ControlFlow::Continue(());
        }
        match plain_name(relation) {
            Ok(name) => {
                if !self.is_cte(&name) {
                    self.references.reads.insert(name);
                }
                ControlFlow::Continue(())
            }
            Err(reason) => refuse(reason),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Flow {
        let Expr::Function(function) = expr else {
            return ControlFlow::Continue(());
        };
        match plain_name(&function.name) {
            Ok(name) if functions::is_function(&name) => {
                self.references.is_volatile |= functions::is_volatile(&name);
                ControlFlow::Continue(())
            }
            _ => refuse(format!("the function {} is not allowed", function.name)),
        }
    }
}
