//! Rewrites PostgreSQL's parse tree to what SQLite understands.
//!
//! The rule: what has no equal is refused with its name, never dropped.

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, OrderByKind, Query, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

#[derive(Default)]
pub(super) struct Rewriter {
    /// The statement locks rows.
    pub locks: bool,
}

impl Rewriter {
    pub(super) fn rewrite(&mut self, node: &mut impl VisitMut) -> Result<(), String> {
        match VisitMut::visit(node, self) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(reason) => Err(reason),
        }
    }
}

impl VisitorMut for Rewriter {
    type Break = String;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<String> {
        self.locks |= !query.locks.is_empty();
        query.locks.clear();
        if let Some(order) = &mut query.order_by
            && let OrderByKind::Expressions(expressions) = &mut order.kind
        {
            for expression in expressions {
                let is_ascending = expression.options.asc.unwrap_or(true);
                // NULL is the greatest value.
                expression.options.nulls_first.get_or_insert(!is_ascending);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<String> {
        let taken = std::mem::replace(expression, Expr::Identifier(Ident::new("")));
        match rewrite(taken) {
            Ok(rewritten) => {
                *expression = rewritten;
                ControlFlow::Continue(())
            }
            Err(reason) => ControlFlow::Break(reason),
        }
    }
}

fn rewrite(expression: Expr) -> Result<Expr, String> {
    Ok(match expression {
        Expr::Cast { kind: CastKind::Cast | CastKind::DoubleColon, expr, data_type, format: None } => {
            Expr::Cast { kind: CastKind::Cast, expr, data_type: known_type(data_type)?, format: None }
        }
        Expr::Collate { expr, collation } if collation.to_string() == "\"C\"" => *expr,
        Expr::BinaryOp { left, op: BinaryOperator::Divide, right } => call("sim_divide", [*left, *right]),
        Expr::BinaryOp { left, op: BinaryOperator::Modulo, right } => call("sim_remainder", [*left, *right]),
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => in_array(left, *right)?,
        Expr::Identifier(name) if is_row_place(&name) => Expr::Identifier(Ident::new("rowid")),
        Expr::CompoundIdentifier(mut names) => {
            if let Some(last) = names.last_mut().filter(|name| is_row_place(name)) {
                last.value = "rowid".to_owned();
            }
            Expr::CompoundIdentifier(names)
        }
        unknown @ (Expr::Cast { .. }
        | Expr::Collate { .. }
        | Expr::AnyOp { .. }
        | Expr::AllOp { .. }
        | Expr::Extract { .. }
        | Expr::AtTimeZone { .. }
        | Expr::Interval(_)
        | Expr::ILike { .. }
        | Expr::SimilarTo { .. }
        | Expr::Array(_)) => return Err(unknown.to_string()),
        other => other,
    })
}

fn is_row_place(name: &Ident) -> bool {
    name.value == "ctid" && name.quote_style.is_none()
}

fn known_type(data_type: DataType) -> Result<DataType, String> {
    match data_type {
        DataType::BigInt(_) | DataType::Integer(_) | DataType::Text | DataType::DoublePrecision | DataType::Boolean => {
            Ok(data_type)
        }
        other => Err(format!("a cast to {other}")),
    }
}

/// `= ANY (ARRAY(SELECT …))`
fn in_array(left: Box<Expr>, array: Expr) -> Result<Expr, String> {
    match array {
        Expr::Nested(inner) => in_array(left, *inner),
        Expr::Function(Function { name, args: FunctionArguments::Subquery(subquery), .. })
            if name.to_string().eq_ignore_ascii_case("array") =>
        {
            Ok(Expr::InSubquery { expr: left, subquery, negated: false })
        }
        other => Err(format!("= ANY ({other})")),
    }
}

fn call<const N: usize>(name: &str, arguments: [Expr; N]) -> Expr {
    let args = arguments.into_iter().map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}
