//! What a plugin's migrations may do. The rule: they make, change and drop only what carries the plugin's name, and the
//! views that its manifest publishes; they cannot leave the transaction they run in.

use super::{
    lex::{Piece, Token, tokens},
    parse, shape,
    tables::{Tables, plain_name},
};
use crate::Dialect;
use crate::migrate::Schema;
use crate::scope::owns;
use sqlparser::ast::{
    AlterTableOperation, ColumnDef, ColumnOption, CreateIndex, CreateTable, DropBehavior, ObjectName, ObjectType,
    Query, RenameTableNameKind, Statement, TableConstraint,
};

/// Checks the text of one migration.
pub fn check(schema: &Schema<'_>, sql: &str, dialect: Dialect) -> Result<(), String> {
    let pieces = tokens(sql, dialect)?;
    let statements = pieces.split(|piece| piece.is_symbol(b';'));
    for statement in statements.filter(|pieces| !pieces.is_empty()) {
        check_tokens(schema, statement)?;
        if !schema.is_host() {
            Owner { schema, dialect }.statement(sql, statement)?;
        }
    }
    Ok(())
}

fn check_tokens(schema: &Schema<'_>, pieces: &[Piece<'_>]) -> Result<(), String> {
    // The gateway's own triggers end with END.
    let ends_trigger = schema.is_host() && pieces[0].is_word("end");
    if !ends_trigger {
        shape::refuse_transaction_control(pieces)?;
    }
    shape::refuse_excess(pieces)?;
    shape::refuse_group_rollback(pieces)?;
    if pieces.iter().any(|piece| matches!(piece.token, Token::Param(_))) {
        return Err("a migration has no placeholders".into());
    }
    // A constraint that fails at COMMIT would fail every request of the same commit on SQLite.
    if pieces.iter().any(|piece| piece.is_word("deferrable") || piece.is_word("deferred")) {
        return Err("deferred constraints are not allowed".into());
    }
    Ok(())
}

struct Owner<'a> {
    schema: &'a Schema<'a>,
    dialect: Dialect,
}

impl Owner<'_> {
    fn statement(&self, sql: &str, pieces: &[Piece<'_>]) -> Result<(), String> {
        let begins = |words: &[&str]| {
            pieces.len() > words.len() && words.iter().zip(pieces).all(|(word, piece)| piece.is_word(word))
        };
        if begins(&["create", "virtual", "table"]) {
            return self.virtual_table(&pieces[3..]);
        }
        let pieces = if begins(&["create", "table"]) && self.dialect == Dialect::Sqlite {
            without_table_options(pieces)
        } else {
            pieces
        };
        let text = &sql[pieces[0].start..pieces[pieces.len() - 1].end];
        parse::with_statement(text, self.dialect, |statement| self.parsed(statement))
            .map_err(|error| error.to_string())?
    }

    fn parsed(&self, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::Query(_) | Statement::Insert(_) | Statement::Update { .. } | Statement::Delete(_) => {
                self.tables(&Tables::of(statement)?)
            }
            Statement::CreateTable(table) => self.create_table(table),
            Statement::CreateIndex(index) => self.create_index(index),
            Statement::CreateView { name, query, materialized: false, temporary: false, to: None, .. } => {
                self.view(name)?;
                self.query(query)
            }
            Statement::AlterTable { name, operations, .. } => {
                self.own(name)?;
                operations.iter().try_for_each(|operation| self.alter(operation))
            }
            Statement::Drop { object_type, names, cascade: false, temporary: false, .. } => {
                names.iter().try_for_each(|name| self.drop(*object_type, name))
            }
            _ => Err("this statement is not allowed in a plugin's migration".into()),
        }
    }

    fn own(&self, name: &ObjectName) -> Result<(), String> {
        let plugin = self.schema.owner();
        let name = plain_name(name)?;
        if owns(plugin, &name) {
            return Ok(());
        }
        Err(format!("{name} is not {plugin}'s: its names begin with {plugin}_"))
    }

    fn view(&self, name: &ObjectName) -> Result<(), String> {
        let plain = plain_name(name)?;
        let published = self.schema.views.contains(&plain);
        let catalogue = plain.starts_with("sqlite_") || plain.starts_with("pg_");
        if published && !catalogue { Ok(()) } else { self.own(name) }
    }

    fn tables(&self, tables: &Tables) -> Result<(), String> {
        super::check_tables(self.schema.owner(), self.schema.scope, tables)
    }

    fn query(&self, query: &Query) -> Result<(), String> {
        self.tables(&Tables::visit(query)?)
    }

    fn create_table(&self, table: &CreateTable) -> Result<(), String> {
        let plain = !table.temporary
            && table.like.is_none()
            && table.clone.is_none()
            && table.inherits.is_none()
            && table.location.is_none();
        if !plain {
            return Err("this form of CREATE TABLE is not allowed".into());
        }
        self.own(&table.name)?;
        self.tables(&Tables::visit(&table.columns)?)?;
        self.tables(&Tables::visit(&table.constraints)?)?;
        table.columns.iter().try_for_each(|column| self.column(column))?;
        table.constraints.iter().try_for_each(|constraint| self.constraint(constraint))?;
        table.query.as_ref().map_or(Ok(()), |query| self.query(query))
    }

    fn column(&self, column: &ColumnDef) -> Result<(), String> {
        column.options.iter().try_for_each(|option| match &option.option {
            ColumnOption::ForeignKey { foreign_table, .. } => self.own(foreign_table),
            _ => Ok(()),
        })
    }

    fn constraint(&self, constraint: &TableConstraint) -> Result<(), String> {
        match constraint {
            TableConstraint::ForeignKey { foreign_table, .. } => self.own(foreign_table),
            _ => Ok(()),
        }
    }

    fn create_index(&self, index: &CreateIndex) -> Result<(), String> {
        if index.concurrently {
            return Err("CREATE INDEX CONCURRENTLY does not work inside a transaction".into());
        }
        index.name.as_ref().map_or(Ok(()), |name| self.own(name))?;
        self.own(&index.table_name)?;
        self.tables(&Tables::visit(&index.columns)?)?;
        self.tables(&Tables::visit(&index.predicate)?)
    }

    fn alter(&self, operation: &AlterTableOperation) -> Result<(), String> {
        self.tables(&Tables::visit(operation)?)?;
        match operation {
            AlterTableOperation::AddColumn { column_def, .. } => self.column(column_def),
            AlterTableOperation::AddConstraint { constraint, .. } => self.constraint(constraint),
            AlterTableOperation::RenameTable {
                table_name: RenameTableNameKind::To(name) | RenameTableNameKind::As(name),
            } => self.own(name),
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

    fn drop(&self, kind: ObjectType, name: &ObjectName) -> Result<(), String> {
        match kind {
            ObjectType::Table | ObjectType::Index => self.own(name),
            ObjectType::View => self.view(name),
            _ => Err(format!("DROP {kind} is not allowed")),
        }
    }

    /// `[IF NOT EXISTS] name USING fts5(arguments)`: the parser does not know the module's arguments.
    fn virtual_table(&self, pieces: &[Piece<'_>]) -> Result<(), String> {
        if self.dialect != Dialect::Sqlite {
            return Err("virtual tables exist on SQLite only".into());
        }
        let optional = ["if", "not", "exists"];
        let has_optional = optional.iter().zip(pieces).all(|(word, piece)| piece.is_word(word));
        let rest = if has_optional { pieces.get(3..).unwrap_or_default() } else { pieces };
        let [name, using, module, open, arguments @ .., _] = rest else {
            return Err("CREATE VIRTUAL TABLE name USING fts5(…)".into());
        };
        if !using.is_word("using") || !module.is_word("fts5") || !open.is_symbol(b'(') {
            return Err("fts5 is the only virtual table that is allowed".into());
        }
        self.own_token(name)?;
        arguments.windows(3).try_for_each(|option| self.fts_option(option))
    }

    /// `content=table` reads the rows of another table.
    fn fts_option(&self, option: &[Piece<'_>]) -> Result<(), String> {
        // FTS5 takes any beginning of an option's name: `c=table` works too.
        let names_table = match option[0].token {
            Token::Word(key) | Token::Quoted(key) => {
                "content".starts_with(&key.to_ascii_lowercase()) && option[1].is_symbol(b'=')
            }
            _ => false,
        };
        match option[2].token {
            _ if !names_table => Ok(()),
            Token::Text("") => Ok(()),
            _ => self.own_token(&option[2]),
        }
    }

    fn own_token(&self, piece: &Piece<'_>) -> Result<(), String> {
        let (Token::Word(name) | Token::Quoted(name) | Token::Text(name)) = piece.token else {
            return Err("a name is missing".into());
        };
        self.own(&ObjectName::from(vec![name.into()]))
    }
}

/// `STRICT` and `WITHOUT ROWID` at the end, which the parser knows only in part.
fn without_table_options<'p, 'a>(pieces: &'p [Piece<'a>]) -> &'p [Piece<'a>] {
    let is_option = |piece: &Piece<'_>| {
        piece.is_symbol(b',') || ["strict", "without", "rowid"].iter().any(|word| piece.is_word(word))
    };
    let kept = pieces.iter().rposition(|piece| !is_option(piece)).map_or(0, |last| last + 1);
    &pieces[..kept.max(1)]
}
