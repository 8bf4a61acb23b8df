//! Constants in types: lengths of arrays, and arguments of `const` parameters. Literals and constants that are
//! one are read; what is computed is not.

use syn::spanned::Spanned as _;
use syn::{Expr, Lit, UnOp};

use super::{Scope, Type, Types};
use crate::names::{Named, Space};
use crate::text::{Problem, peel, plain, text};
use crate::tree::{Kind, Path};

/// How many constants may be named for one.
const MOST_NAMED: usize = 32;

const HINT: &str = "write the number itself, or a constant that is one";

impl Types {
    /// The argument of a `const` parameter, or the length of an array, as it is displayed.
    pub(super) fn constant(&self, scope: &Scope, expr: &Expr, ty: &str) -> Result<String, Problem> {
        self.constant_at(scope, expr, ty, 0)
    }

    fn constant_at(
        &self,
        scope: &Scope,
        expr: &Expr,
        ty: &str,
        depth: usize,
    ) -> Result<String, Problem> {
        let refuse = |what: &str| {
            let message = format!("`{}` {what}", text(expr));
            Err(self.problem(scope.module, expr.span(), message, HINT))
        };
        match peel(expr) {
            Expr::Block(it) if let [syn::Stmt::Expr(inner, None)] = &it.block.stmts[..] => {
                self.constant_at(scope, inner, ty, depth)
            }
            Expr::Lit(it) => match (ty, &it.lit) {
                ("bool", Lit::Bool(it)) => Ok(it.value.to_string()),
                ("char", Lit::Char(it)) => Ok(it.value().to_string()),
                (_, Lit::Int(it)) if it.suffix().is_empty() || it.suffix() == ty => {
                    let number = it.base10_parse::<i128>().ok().filter(|it| fits(*it, ty));
                    number.map_or_else(
                        || refuse(&format!("does not fit in `{ty}`")),
                        |it| Ok(it.to_string()),
                    )
                }
                _ => refuse(&format!("is not of type `{ty}`")),
            },
            Expr::Unary(syn::ExprUnary { op: UnOp::Neg(_), expr: inner, .. })
                if let Expr::Lit(syn::ExprLit { lit: Lit::Int(it), .. }) = peel(inner)
                    && (it.suffix().is_empty() || it.suffix() == ty) =>
            {
                let number = it.base10_parse::<i128>().ok().map(|it| -it);
                let number = number.filter(|it| fits(*it, ty));
                number.map_or_else(
                    || refuse(&format!("does not fit in `{ty}`")),
                    |it| Ok(it.to_string()),
                )
            }
            Expr::Path(it) if it.qself.is_none() => {
                if let Some(name) = it.path.get_ident()
                    && let Some(found) = scope.parameters.get(&plain(name))
                    && let Type::Constant(found) = &**found
                {
                    return Ok(found.clone());
                }
                let found = self.resolve(scope.module, &Path::from(&it.path), Space::Values);
                let Ok(Named::Item(id)) = found else {
                    return refuse("is not a constant that can be read");
                };
                let item = &self.items[id];
                let Kind::Const(constant) = &item.kind else {
                    return refuse("is not a constant that can be read");
                };
                if text(&constant.ty) != ty {
                    return refuse(&format!("is not of type `{ty}`"));
                }
                if MOST_NAMED < depth {
                    return refuse("names constants without end");
                }
                self.constant_at(&Scope::from(item.module), &constant.expr, ty, depth + 1)
            }
            _ => refuse("is computed, which is not supported in a type"),
        }
    }
}

fn fits(number: i128, ty: &str) -> bool {
    match ty {
        "i8" => i8::try_from(number).is_ok(),
        "i16" => i16::try_from(number).is_ok(),
        "i32" => i32::try_from(number).is_ok(),
        "i64" | "isize" => i64::try_from(number).is_ok(),
        "i128" => true,
        "u8" => u8::try_from(number).is_ok(),
        "u16" => u16::try_from(number).is_ok(),
        "u32" => u32::try_from(number).is_ok(),
        "u64" | "usize" => u64::try_from(number).is_ok(),
        "u128" => 0 <= number,
        _ => false,
    }
}
