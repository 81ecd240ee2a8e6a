//! What a plugin's migrations may do.
//!
//! The rule: they create, change and drop only objects whose names carry the plugin's name, and the views that its
//! manifest publishes. They cannot end the transaction that they run in.

use super::schema::MigrationSet;
use crate::{
    check::{
        TableReferences, Token, TokenKind, check_access, plain_name, refuse_group_rollback, refuse_too_many_operators,
        refuse_transaction_control, tokenize, with_statement,
    },
    dialect::Dialect,
    scope::owns_table,
};
use sqlparser::ast::{
    AlterTableOperation, ColumnDef, ColumnOption, CreateIndex, CreateTable, DropBehavior, ObjectName, ObjectType,
    Query, RenameTableNameKind, Statement, TableConstraint,
};
use std::collections::BTreeSet;

/// Checks the text of one migration. The error names what is wrong with each of its statements.
pub(crate) fn check_migration(schema: &MigrationSet<'_>, sql: &str, dialect: Dialect) -> Result<(), String> {
    let tokens = tokenize(sql, dialect)?;
    let statements = tokens.split(|token| token.is_symbol(b';')).filter(|tokens| !tokens.is_empty());
    let check = |statement| {
        check_tokens(schema, statement)?;
        if schema.is_host() { Ok(()) } else { MigrationCheck { schema, dialect }.check_statement(sql, statement) }
    };
    let problems: BTreeSet<String> = statements.filter_map(|statement| check(statement).err()).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.into_iter().collect::<Vec<_>>().join("; ")) }
}

fn check_tokens(schema: &MigrationSet<'_>, tokens: &[Token<'_>]) -> Result<(), String> {
    // The gateway's own triggers end with END.
    let ends_trigger = schema.is_host() && tokens[0].is_word("end");
    if !ends_trigger {
        refuse_transaction_control(tokens)?;
    }
    refuse_too_many_operators(tokens)?;
    refuse_group_rollback(tokens)?;
    if tokens.iter().any(|token| matches!(token.kind, TokenKind::Param(_))) {
        return Err("a migration has no placeholders".into());
    }
    // A constraint that fails at COMMIT would fail every transaction of the same commit on SQLite.
    if tokens.iter().any(|token| token.is_word("deferrable") || token.is_word("deferred")) {
        return Err("deferred constraints are not allowed".into());
    }
    Ok(())
}

struct MigrationCheck<'a> {
    schema: &'a MigrationSet<'a>,
    dialect: Dialect,
}

impl MigrationCheck<'_> {
    fn check_statement(&self, sql: &str, tokens: &[Token<'_>]) -> Result<(), String> {
        let begins = |words: &[&str]| {
            tokens.len() > words.len() && words.iter().zip(tokens).all(|(word, token)| token.is_word(word))
        };
        if begins(&["create", "virtual", "table"]) {
            return self.check_virtual_table(&tokens[3..]);
        }
        let tokens = if begins(&["create", "table"]) && self.dialect == Dialect::Sqlite {
            without_table_options(tokens)
        } else {
            tokens
        };
        let text = &sql[tokens[0].start..tokens[tokens.len() - 1].end];
        with_statement(text, self.dialect, |statement| self.check_parsed(statement))
            .map_err(|error| error.to_string())?
    }

    fn check_parsed(&self, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::Query(_) | Statement::Insert(_) | Statement::Update { .. } | Statement::Delete(_) => {
                self.check_tables(&TableReferences::of(statement)?)
            }
            Statement::CreateTable(table) => self.check_create_table(table),
            Statement::CreateIndex(index) => self.check_create_index(index),
            Statement::CreateView { name, query, materialized: false, temporary: false, to: None, .. } => {
                self.require_own_view(name)?;
                self.check_query(query)
            }
            Statement::AlterTable { name, operations, .. } => {
                self.require_own(name)?;
                operations.iter().try_for_each(|operation| self.check_alter(operation))
            }
            Statement::Drop { object_type, names, cascade: false, temporary: false, .. } => {
                names.iter().try_for_each(|name| self.check_drop(*object_type, name))
            }
            _ => Err("this statement is not allowed in a plugin's migration".into()),
        }
    }

    fn require_own(&self, name: &ObjectName) -> Result<(), String> {
        let plugin = self.schema.owner();
        let name = plain_name(name)?;
        if owns_table(plugin, &name) {
            return Ok(());
        }
        Err(format!("{name} is not {plugin}'s: its names begin with {plugin}_"))
    }

    fn require_own_view(&self, name: &ObjectName) -> Result<(), String> {
        let plain = plain_name(name)?;
        let is_published = self.schema.views.contains(&plain);
        let is_catalogue = plain.starts_with("sqlite_") || plain.starts_with("pg_");
        if is_published && !is_catalogue { Ok(()) } else { self.require_own(name) }
    }

    fn check_tables(&self, tables: &TableReferences) -> Result<(), String> {
        check_access(self.schema.owner(), self.schema.scope, tables)
    }

    fn check_query(&self, query: &Query) -> Result<(), String> {
        self.check_tables(&TableReferences::visit(query)?)
    }

    fn check_create_table(&self, table: &CreateTable) -> Result<(), String> {
        let is_plain = !table.temporary
            && table.like.is_none()
            && table.clone.is_none()
            && table.inherits.is_none()
            && table.location.is_none();
        if !is_plain {
            return Err("this form of CREATE TABLE is not allowed".into());
        }
        self.require_own(&table.name)?;
        self.check_tables(&TableReferences::visit(&table.columns)?)?;
        self.check_tables(&TableReferences::visit(&table.constraints)?)?;
        table.columns.iter().try_for_each(|column| self.check_column(column))?;
        table.constraints.iter().try_for_each(|constraint| self.check_constraint(constraint))?;
        table.query.as_ref().map_or(Ok(()), |query| self.check_query(query))
    }

    fn check_column(&self, column: &ColumnDef) -> Result<(), String> {
        column.options.iter().try_for_each(|option| match &option.option {
            ColumnOption::ForeignKey { foreign_table, .. } => self.require_own(foreign_table),
            _ => Ok(()),
        })
    }

    fn check_constraint(&self, constraint: &TableConstraint) -> Result<(), String> {
        match constraint {
            TableConstraint::ForeignKey { foreign_table, .. } => self.require_own(foreign_table),
            _ => Ok(()),
        }
    }

    fn check_create_index(&self, index: &CreateIndex) -> Result<(), String> {
        if index.concurrently {
            return Err("CREATE INDEX CONCURRENTLY does not work inside a transaction".into());
        }
        index.name.as_ref().map_or(Ok(()), |name| self.require_own(name))?;
        self.require_own(&index.table_name)?;
        self.check_tables(&TableReferences::visit(&index.columns)?)?;
        self.check_tables(&TableReferences::visit(&index.predicate)?)
    }

    fn check_alter(&self, operation: &AlterTableOperation) -> Result<(), String> {
        self.check_tables(&TableReferences::visit(operation)?)?;
        match operation {
            AlterTableOperation::AddColumn { column_def, .. } => self.check_column(column_def),
            AlterTableOperation::AddConstraint { constraint, .. } => self.check_constraint(constraint),
            AlterTableOperation::RenameTable {
                table_name: RenameTableNameKind::To(name) | RenameTableNameKind::As(name),
            } => self.require_own(name),
            AlterTableOperation::DropColumn { drop_behavior, .. }
            | AlterTableOperation::DropConstraint { drop_behavior, .. }
                if *drop_behavior != Some(DropBehavior::Cascade) =>
            {
                Ok(())
            }
            AlterTableOperation::RenameColumn { .. }
            | AlterTableOperation::RenameConstraint { .. }
            | AlterTableOperation::AlterColumn { .. } => Ok(()),
            _ => Err("this form of ALTER TABLE is not allowed".into()),
        }
    }

    fn check_drop(&self, kind: ObjectType, name: &ObjectName) -> Result<(), String> {
        match kind {
            ObjectType::Table | ObjectType::Index => self.require_own(name),
            ObjectType::View => self.require_own_view(name),
            _ => Err(format!("DROP {kind} is not allowed")),
        }
    }

    /// `[IF NOT EXISTS] name USING fts5(arguments)`: the parser cannot parse the module's arguments.
    fn check_virtual_table(&self, tokens: &[Token<'_>]) -> Result<(), String> {
        if self.dialect != Dialect::Sqlite {
            return Err("virtual tables exist on SQLite only".into());
        }
        let optional = ["if", "not", "exists"];
        let has_optional = optional.iter().zip(tokens).all(|(word, token)| token.is_word(word));
        let rest = if has_optional { tokens.get(3..).unwrap_or_default() } else { tokens };
        let [name, using, module, open, arguments @ .., _] = rest else {
            return Err("CREATE VIRTUAL TABLE name USING fts5(…)".into());
        };
        if !using.is_word("using") || !module.is_word("fts5") || !open.is_symbol(b'(') {
            return Err("fts5 is the only virtual table that is allowed".into());
        }
        self.require_own_token(name)?;
        arguments.windows(3).try_for_each(|option| self.check_fts_option(option))
    }

    /// `content=table` reads the rows of another table.
    fn check_fts_option(&self, option: &[Token<'_>]) -> Result<(), String> {
        // FTS5 accepts any prefix of an option's name: `c=table` works too.
        let names_table = match option[0].kind {
            TokenKind::Word(key) | TokenKind::Quoted(key) => {
                "content".starts_with(&key.to_ascii_lowercase()) && option[1].is_symbol(b'=')
            }
            _ => false,
        };
        match option[2].kind {
            _ if !names_table => Ok(()),
            TokenKind::Text("") => Ok(()),
            _ => self.require_own_token(&option[2]),
        }
    }

    fn require_own_token(&self, token: &Token<'_>) -> Result<(), String> {
        let (TokenKind::Word(name) | TokenKind::Quoted(name) | TokenKind::Text(name)) = token.kind else {
            return Err("a name is missing".into());
        };
        self.require_own(&ObjectName::from(vec![name.into()]))
    }
}

/// Removes `STRICT` and `WITHOUT ROWID` at the end, which the parser supports only in part.
fn without_table_options<'p, 'a>(tokens: &'p [Token<'a>]) -> &'p [Token<'a>] {
    let is_option = |token: &Token<'_>| {
        token.is_symbol(b',') || ["strict", "without", "rowid"].iter().any(|word| token.is_word(word))
    };
    let length = tokens.iter().rposition(|token| !is_option(token)).map_or(0, |last| last + 1);
    &tokens[..length.max(1)]
}
