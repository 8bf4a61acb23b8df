//! `#[derive(JsonSchema_repr)]`: an enum as the numbers of its variants.

use serde_json::Value;
use syn::spanned::Spanned as _;

use crate::attributes::syn_error;
use crate::text::Problem;
use crate::text::format_tokens;
use crate::values::{Int, Values};

/// The number of each variant, in the type that `#[repr(…)]` names.
pub fn variant_numbers(
    input: &syn::DeriveInput,
    values: &Values<'_>,
) -> Result<Vec<Value>, Problem> {
    let to_problem = |it: syn::Error| {
        let way_out =
            "give the enum `#[repr(…)]` with an integer type, and each variant an integer";
        values.world.problem_at(values.module, it.span(), it.to_string(), way_out)
    };
    numbers_(input, values).map_err(to_problem)
}

fn numbers_(input: &syn::DeriveInput, values: &Values<'_>) -> syn::Result<Vec<Value>> {
    let syn::Data::Enum(data) = &input.data else {
        return syn_error(input.ident.span(), "`JsonSchema_repr` is for enums");
    };
    let repr = input.attrs.iter().find(|attr| attr.path().is_ident("repr"));
    let ty: Option<syn::Type> = repr.and_then(|attr| attr.parse_args().ok());
    let ty = ty.map(|ty| format_tokens(&ty)).unwrap_or_default();
    let Some((_, high)) = Int::parse(&ty).map(Int::range) else {
        return syn_error(
            input.ident.span(),
            "`JsonSchema_repr` needs `#[repr(…)]` with an integer type",
        );
    };
    let mut numbers = Vec::new();
    let mut next = 0_i128;
    for variant in &data.variants {
        if !matches!(variant.fields, syn::Fields::Unit) {
            return syn_error(variant.span(), "`JsonSchema_repr` is for variants without fields");
        }
        let number = match &variant.discriminant {
            Some((_, expr)) => values.number_as(expr, &ty)?,
            None if high < next => {
                return syn_error(
                    variant.span(),
                    format!("has a number that does not fit in `{ty}`"),
                );
            }
            None => match (i64::try_from(next), u64::try_from(next)) {
                (Ok(it), _) => it.into(),
                (_, Ok(it)) => it.into(),
                _ => return syn_error(variant.span(), "has a number of more than 64 bits"),
            },
        };
        let found = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        next = found.unwrap_or_default() + 1;
        numbers.push(number);
    }
    Ok(numbers)
}
