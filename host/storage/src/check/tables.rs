//! Which tables a statement reads and writes, found in its parse tree.
//!
//! The rule: what this does not know, it refuses. A name counts as a table unless a `WITH` above it, visible there,
//! defines it; and the target of a write is always a table, whatever `WITH` says.

use super::functions;
use sqlparser::ast::{
    Delete, Expr, FromTable, Insert, ObjectName, ObjectNamePart, Query, SetExpr, SqliteOnConflict, Statement,
    TableFactor, TableObject, TableWithJoins, Visit, Visitor,
};
use std::{collections::BTreeSet, ops::ControlFlow};

#[derive(Debug, Default)]
pub struct Tables {
    pub reads: BTreeSet<String>,
    pub writes: BTreeSet<String>,
    /// Whether the clock or chance has a part in the result.
    pub varies: bool,
}

impl Tables {
    /// The tables of a `SELECT`, `INSERT`, `UPDATE` or `DELETE`.
    pub fn of(statement: &Statement) -> Result<Self, String> {
        Self::visit(statement)
    }

    /// The tables of any part of a parse tree.
    pub fn visit(node: &impl Visit) -> Result<Self, String> {
        let mut finder = Finder::default();
        match node.visit(&mut finder) {
            ControlFlow::Continue(()) => Ok(finder.tables),
            ControlFlow::Break(reason) => Err(reason),
        }
    }
}

/// The name of a table, view, index or function as the database will see it: unqualified and lower case.
pub fn plain_name(name: &ObjectName) -> Result<String, String> {
    let [ObjectNamePart::Identifier(part)] = name.0.as_slice() else {
        return Err(format!("{name}: names are not qualified with a schema here"));
    };
    plain_ident(part)
}

pub fn plain_ident(part: &sqlparser::ast::Ident) -> Result<String, String> {
    let is_plain =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let text = match part.quote_style {
        None => part.value.to_ascii_lowercase(),
        Some(_) => part.value.clone(),
    };
    if is_plain(&text) { Ok(text) } else { Err(format!("{part}: names of tables and functions are a-z, 0-9 and _")) }
}

/// The names that one `WITH` defines. Only the first `visible` of them can be used at this point.
struct Frame {
    names: Vec<(String, *const Query)>,
    recursive: bool,
    visible: usize,
}

#[derive(Default)]
struct Finder {
    tables: Tables,
    frames: Vec<Frame>,
    /// The next name visited is a table function that was already looked at.
    skip: bool,
}

type Step = ControlFlow<String>;

fn refuse(reason: impl Into<String>) -> Step {
    ControlFlow::Break(reason.into())
}

fn step(result: Result<(), String>) -> Step {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(reason) => ControlFlow::Break(reason),
    }
}

impl Finder {
    fn is_defined_above(&self, name: &str) -> bool {
        self.frames.iter().any(|frame| frame.names[..frame.visible].iter().any(|(defined, _)| defined == name))
    }

    fn target(&mut self, table: &TableWithJoins) -> Result<(), String> {
        match (&table.relation, table.joins.is_empty()) {
            (TableFactor::Table { name, args: None, .. }, true) => {
                self.tables.writes.insert(plain_name(name)?);
                Ok(())
            }
            _ => Err("a write names exactly one table".into()),
        }
    }

    fn insert(&mut self, insert: &Insert) -> Result<(), String> {
        if insert.or == Some(SqliteOnConflict::Rollback) || insert.overwrite {
            return Err("this form of INSERT is not allowed".into());
        }
        let TableObject::TableName(name) = &insert.table else {
            return Err("a write names exactly one table".into());
        };
        self.tables.writes.insert(plain_name(name)?);
        Ok(())
    }

    fn delete(&mut self, delete: &Delete) -> Result<(), String> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        match (from.as_slice(), delete.tables.is_empty()) {
            ([table], true) => self.target(table),
            _ => Err("a write names exactly one table".into()),
        }
    }

    /// The frame whose `WITH` holds this query, and the query's number in it.
    fn definition(&mut self, query: &Query) -> Option<(&mut Frame, usize)> {
        let frame = self.frames.last_mut()?;
        let index = frame.names.iter().position(|(_, defined)| std::ptr::eq(*defined, query))?;
        Some((frame, index))
    }

    fn open(&mut self, query: &Query) -> Result<(), String> {
        if let Some((frame, index)) = self.definition(query) {
            frame.visible = index + usize::from(frame.recursive);
        }
        let mut frame = Frame { names: Vec::new(), recursive: false, visible: 0 };
        if let Some(with) = &query.with {
            frame.recursive = with.recursive;
            for cte in &with.cte_tables {
                let name = plain_ident(&cte.alias.name)?;
                frame.names.push((name, std::ptr::from_ref(&*cte.query)));
            }
        }
        self.frames.push(frame);
        Ok(())
    }
}

fn check_query(query: &Query) -> Result<(), String> {
    let plain = query.for_clause.is_none()
        && query.settings.is_none()
        && query.format_clause.is_none()
        && query.pipe_operators.is_empty();
    if !plain {
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

impl Visitor for Finder {
    type Break = String;

    fn pre_visit_statement(&mut self, statement: &Statement) -> Step {
        step(match statement {
            Statement::Query(_) => Ok(()),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update { table, .. } => self.target(table),
            Statement::Delete(delete) => self.delete(delete),
            _ => Err("only SELECT, INSERT, UPDATE and DELETE are allowed".into()),
        })
    }

    fn pre_visit_query(&mut self, query: &Query) -> Step {
        step(check_query(query).and_then(|()| self.open(query)))
    }

    fn post_visit_query(&mut self, query: &Query) -> Step {
        self.frames.pop();
        if let Some((frame, index)) = self.definition(query) {
            frame.visible = index + 1;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Step {
        match factor {
            TableFactor::Table { name, args: Some(_), .. } => {
                // Anything else with arguments counts as a table: `forum_search($1)` is one on SQLite.
                self.skip = plain_name(name).is_ok_and(|name| functions::is_table_function(&name));
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

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> Step {
        if std::mem::take(&mut self.skip) {
            return ControlFlow::Continue(());
        }
        match plain_name(relation) {
            Ok(name) => {
                if !self.is_defined_above(&name) {
                    self.tables.reads.insert(name);
                }
                ControlFlow::Continue(())
            }
            Err(reason) => refuse(reason),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Step {
        let Expr::Function(function) = expr else {
            return ControlFlow::Continue(());
        };
        match plain_name(&function.name) {
            Ok(name) if functions::is_function(&name) => {
                self.tables.varies |= functions::varies(&name);
                ControlFlow::Continue(())
            }
            _ => refuse(format!("the function {} is not allowed", function.name)),
        }
    }
}
