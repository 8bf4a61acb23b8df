//! `#[x_kube(…)]`: CEL rules and merge strategies, as the values that kube itself would make of them.

use kube_core::{ListMerge, MapMerge, Message, Reason, Rule, StructMerge};
use syn::{Attribute, Expr, Lit, Meta, spanned::Spanned as _};

use super::{ensure_alone, name_of, parse_metas, set_once, syn_error, value_of};
use crate::names::{Named, Space};
use crate::text::format_tokens;
use crate::tree::{ItemKind, ModuleId, Path};
use crate::values::{Values, peel_parens};

#[derive(Default)]
pub struct XKubeAttributes {
    pub rules: Vec<Rule>,
    pub merge: Option<Merge>,
}

#[derive(Clone)]
pub enum Merge {
    List(ListMerge),
    Map(MapMerge),
    Struct(StructMerge),
}

pub fn parse_container(attrs: &[Attribute], values: &Values<'_>) -> syn::Result<Vec<Rule>> {
    let known = values.world.behaviour.kube;
    let mut rules = Vec::new();
    for meta in parse_metas(attrs, "x_kube")? {
        match name_of(&meta).as_str() {
            "validation" => add_rule(&mut rules, parse_rule(value_of(&meta)?, values)?, &meta)?,
            "cel" if known.cel => check_cel_flag(&meta)?,
            "crates" => drop(super::parse_list(&meta)?),
            other => {
                let message = format!("unknown x_kube attribute `{other}`");
                return syn_error(
                    meta.span(),
                    known.unsupported_message(&message, |derive| other == "cel" && derive.cel),
                );
            }
        }
    }
    Ok(rules)
}

pub fn parse_field(attrs: &[Attribute], values: &Values<'_>) -> syn::Result<XKubeAttributes> {
    let mut attributes = XKubeAttributes::default();
    for meta in parse_metas(attrs, "x_kube")? {
        match name_of(&meta).as_str() {
            "validation" => {
                add_rule(&mut attributes.rules, parse_rule(value_of(&meta)?, values)?, &meta)?
            }
            "merge_strategy" => {
                let expr = match value_of(&meta)? {
                    // darling reads a string as an expression.
                    Expr::Lit(syn::ExprLit { lit: Lit::Str(it), .. }) => it.parse()?,
                    expr => expr.clone(),
                };
                set_once(&mut attributes.merge, parse_merge(&expr, values)?, &meta)?;
            }
            other => return syn_error(meta.span(), format!("unknown x_kube attribute `{other}`")),
        }
    }
    Ok(attributes)
}

/// Limit of the rules at one type or field: kube adds each to those before it.
const MOST_RULES: usize = 1_000;

/// Adds what an attribute says to a list of rules, unless that is full.
pub fn add_rule<T>(list: &mut Vec<T>, rule: T, meta: &Meta) -> syn::Result<()> {
    if list.len() >= MOST_RULES {
        let message =
            format!("more than {MOST_RULES} rules are not read: join conditions with `&&`");
        return syn_error(meta.span(), message);
    }
    list.push(rule);
    Ok(())
}

/// A flag of darling's: alone, or with a boolean.
pub fn check_cel_flag(meta: &Meta) -> syn::Result<()> {
    match meta {
        Meta::NameValue(_) => super::kube::parse_flag(meta).map(drop),
        _ => ensure_alone(meta),
    }
}

const NOT_READ: &str = "is not a rule that can be read; write `Rule::new(\"…\").message(\"…\")`";

/// A rule: `"…"`, `("…", "message")`, `Rule::new("…").message("…")…`, `Rule { … }`, or a call of a function of the
/// project that consists of such an expression.
pub fn parse_rule(expr: &Expr, values: &Values<'_>) -> syn::Result<Rule> {
    rule_in(expr, &RuleScope { values, has_kube_names: true, calls: 0 })
}

/// The names that an expression of a rule can use, and the functions that are being evaluated.
struct RuleScope<'a> {
    values: &'a Values<'a>,
    /// The names of kube need no import: the derive imports them where it puts the expression.
    has_kube_names: bool,
    /// The number of functions that are being evaluated, each called by the one before.
    calls: usize,
}

/// Rules are not made by more functions than these, one calling the other.
const MOST_CALLS: usize = 8;

fn rule_in(expr: &Expr, scope: &RuleScope<'_>) -> syn::Result<Rule> {
    let refuse =
        |expr: &Expr| syn_error(expr.span(), format!("`{}` {NOT_READ}", format_tokens(expr)));
    let values = scope.values;
    let old_self = values.world.behaviour.kube.old_self;
    match peel_parens(expr) {
        Expr::Lit(_) | Expr::Path(_) | Expr::Macro(_) => Ok(Rule::new(values.eval_string(expr)?)),
        Expr::Tuple(it) => match (it.elems.first(), it.elems.last(), it.elems.len()) {
            (Some(rule), Some(message), 2) => {
                let (rule, message) = (values.eval_string(rule)?, values.eval_string(message)?);
                Ok(Rule::from((rule.as_str(), message.as_str())))
            }
            _ => refuse(expr),
        },
        Expr::Call(it) => match (peel_parens(&it.func), it.args.first(), it.args.len()) {
            (Expr::Path(func), Some(rule), 1) if is_item(&func.path, "Rule::new", scope) => {
                Ok(Rule::new(parse_string(rule, values)?))
            }
            (Expr::Path(func), None, _) if scope.calls < MOST_CALLS => {
                let Some((module, body)) = find_function(&func.path, values) else {
                    return refuse(expr);
                };
                let values = Values { module, ..*values };
                let there =
                    RuleScope { values: &values, has_kube_names: false, calls: scope.calls + 1 };
                // An error has its place in the attribute, since the function may be in another file.
                rule_in(body, &there).map_err(|error| {
                    syn::Error::new(
                        expr.span(),
                        format!("in `{}`: {error}", format_tokens(&func.path)),
                    )
                })
            }
            _ => refuse(expr),
        },
        Expr::MethodCall(it) => {
            let before = rule_in(&it.receiver, scope)?;
            let (Some(argument), 1) = (it.args.first(), it.args.len()) else {
                return refuse(expr);
            };
            match it.method.to_string().as_str() {
                "message" => Ok(before.message(parse_message(argument, scope)?)),
                "reason" => Ok(before.reason(parse_reason(argument, scope)?)),
                "field_path" => Ok(before.field_path(parse_string(argument, values)?)),
                "optional_old_self" if old_self => {
                    Ok(before.optional_old_self(parse_boolean(argument)?))
                }
                _ => refuse(expr),
            }
        }
        Expr::Struct(it) if is_item(&it.path, "Rule", scope) => {
            let mut parsed = Rule::default();
            let rest =
                it.rest.as_ref().is_none_or(|expr| format_tokens(expr).ends_with("default()"));
            if !rest {
                return refuse(expr);
            }
            for field in &it.fields {
                let some = || match peel_parens(&field.expr) {
                    Expr::Call(it) if format_tokens(&it.func) == "Some" => it.args.first(),
                    _ => None,
                };
                let none = format_tokens(&field.expr) == "None";
                match (format_tokens(&field.member).as_str(), some()) {
                    ("rule", _) => parsed.rule = parse_string(&field.expr, values)?,
                    (_, None) if none => {}
                    ("message", Some(it)) => parsed.message = Some(parse_message(it, scope)?),
                    ("reason", Some(it)) => parsed.reason = Some(parse_reason(it, scope)?),
                    ("field_path", Some(it)) => parsed.field_path = Some(parse_string(it, values)?),
                    ("optional_old_self", Some(it)) if old_self => {
                        parsed.optional_old_self = Some(parse_boolean(it)?)
                    }
                    _ => return refuse(expr),
                }
            }
            Ok(parsed)
        }
        expr => refuse(expr),
    }
}

/// The expression that a function without parameters consists of, and its module.
fn find_function<'a>(path: &syn::Path, values: &Values<'a>) -> Option<(ModuleId, &'a Expr)> {
    let found = values.world.resolve_path(values.module, &Path::from(path), Space::Values);
    let Ok(Named::Item(id)) = found else { return None };
    let item = &values.world.items[id];
    let ItemKind::Fn(function) = &item.kind else { return None };
    let is_plain = function.sig.inputs.is_empty()
        && function.sig.generics.params.is_empty()
        && function.sig.asyncness.is_none();
    let is_itself =
        function.attrs.iter().all(|attr| values.world.leaves_alone(item.module, attr, false));
    match values.world.statements_of(item.module, &function.block).ok()? {
        [syn::Stmt::Expr(body, None)] if is_plain && is_itself => Some((item.module, body)),
        _ => None,
    }
}

fn parse_message(expr: &Expr, scope: &RuleScope<'_>) -> syn::Result<Message> {
    let values = scope.values;
    if let Expr::Call(it) = peel_parens(expr)
        && let (Expr::Path(func), Some(argument), 1) =
            (peel_parens(&it.func), it.args.first(), it.args.len())
    {
        if is_item(&func.path, "Message::Expression", scope) {
            return Ok(Message::Expression(parse_string(argument, values)?));
        }
        if is_item(&func.path, "Message::Message", scope) {
            return Ok(Message::Message(parse_string(argument, values)?));
        }
    }
    // `impl From<&str> for Message`; `.into()` of a string ends there too.
    Ok(Message::Message(parse_string(expr, values)?))
}

fn parse_reason(expr: &Expr, scope: &RuleScope<'_>) -> syn::Result<Reason> {
    if let Expr::Path(it) = peel_parens(expr) {
        for (name, reason) in [
            ("Reason::FieldValueInvalid", Reason::FieldValueInvalid),
            ("Reason::FieldValueForbidden", Reason::FieldValueForbidden),
            ("Reason::FieldValueRequired", Reason::FieldValueRequired),
            ("Reason::FieldValueDuplicate", Reason::FieldValueDuplicate),
        ] {
            if is_item(&it.path, name, scope) {
                return Ok(reason);
            }
        }
    }
    syn_error(expr.span(), format!("`{}` is not a `Reason`", format_tokens(expr)))
}

fn parse_boolean(expr: &Expr) -> syn::Result<bool> {
    match peel_parens(expr) {
        Expr::Lit(syn::ExprLit { lit: Lit::Bool(it), .. }) => Ok(it.value),
        _ => syn_error(
            expr.span(),
            format!("`{}` is computed, which is not supported here", format_tokens(expr)),
        ),
    }
}

/// A string literal, with or without a conversion to `String`.
fn parse_string(expr: &Expr, values: &Values<'_>) -> syn::Result<String> {
    match peel_parens(expr) {
        Expr::MethodCall(it)
            if it.args.is_empty()
                && ["into", "to_owned", "to_string"].iter().any(|name| it.method == name) =>
        {
            values.eval_string(&it.receiver)
        }
        Expr::Call(it) if format_tokens(&it.func) == "String::from" && it.args.len() == 1 => {
            values.eval_string(&it.args[0])
        }
        expr => values.eval_string(expr),
    }
}

fn parse_merge(expr: &Expr, values: &Values<'_>) -> syn::Result<Merge> {
    let scope = &RuleScope { values, has_kube_names: true, calls: 0 };
    let refuse =
        || syn_error(expr.span(), format!("`{}` is not a merge strategy", format_tokens(expr)));
    match peel_parens(expr) {
        Expr::Path(it) => {
            for (name, merge) in [
                ("ListMerge::Atomic", Merge::List(ListMerge::Atomic)),
                ("ListMerge::Set", Merge::List(ListMerge::Set)),
                ("MapMerge::Atomic", Merge::Map(MapMerge::Atomic)),
                ("MapMerge::Granular", Merge::Map(MapMerge::Granular)),
                ("StructMerge::Atomic", Merge::Struct(StructMerge::Atomic)),
                ("StructMerge::Granular", Merge::Struct(StructMerge::Granular)),
            ] {
                if is_item(&it.path, name, scope) {
                    return Ok(merge);
                }
            }
            refuse()
        }
        Expr::Call(it) => match (peel_parens(&it.func), it.args.first(), it.args.len()) {
            (Expr::Path(func), Some(keys), 1) if is_item(&func.path, "ListMerge::Map", scope) => {
                let parser = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
                let keys = match peel_parens(keys) {
                    Expr::Macro(it) if it.mac.path.is_ident("vec") => {
                        it.mac.parse_body_with(parser)?
                    }
                    _ => return refuse(),
                };
                let keys: syn::Result<_> =
                    keys.iter().map(|expr| parse_string(expr, values)).collect();
                Ok(Merge::List(ListMerge::Map(keys?)))
            }
            _ => refuse(),
        },
        _ => refuse(),
    }
}

/// Returns whether a path leads to this item of kube-core, e.g. `Rule::new`.
fn is_item(path: &syn::Path, name: &str, scope: &RuleScope<'_>) -> bool {
    if scope.has_kube_names && format_tokens(path) == name {
        return true;
    }
    let values = scope.values;
    let found = values.world.resolve_path(values.module, &Path::from(path), Space::Values);
    found == Ok(Named::Foreign(format!("kube_core::{name}")))
}
