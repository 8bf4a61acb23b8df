//! Prints the CRD of every kind in this crate, as kube's own `crd()` gives it: a JSON object by name.

mod composed;
mod conditions;
mod containers;
mod defaults;
mod differences;
mod docs;
mod enums;
mod foreign;
mod generics;
mod kubernetes;
mod later;
mod macros;
mod modules;
mod names;
mod resources;
mod rules;
mod scalars;
mod scopes;
mod validation;
mod versions;
mod written;

use std::collections::BTreeMap;

use kube::core::crd::merge_crds;
use kube::{CustomResourceExt, Resource};

fn main() {
    let mut all = BTreeMap::new();
    macro_rules! crds {
        ($($module:ident: $($kind:ident)*;)*) => {
            $($({
                let crd = $module::$kind::crd();
                let name = format!("{}_{}", crd.spec.group, $module::$kind::plural(&()));
                assert!(all.insert(name, crd).is_none(), "a name is there twice");
            })*)*
        };
    }
    crds! {
        composed: Flat FlatMap FlatEnum Newtypes Stands Aliases Denied Extended Kept Renamed;
        conditions: Conditional;
        containers: Lists Sets Maps Keys Boxes Arrays Tuples Anything Outcomes;
        defaults: Bare Functions Derived Whole Foreign;
        differences: Optional Variants Flattened FlattenedMaybe FlattenedUntagged FlattenedUnits Keyed Extended Nothing;
        docs: Described Documented Headed Titles Variants;
        enums: External Untagged UntaggedPlain InternalOne AdjacentOne EnumSpec Empty VariantTypes;
        generics: Generic GenericNames GenericDefaults GenericEnums Tree Forest Twice;
        foreign: Wrapped Wide Times Addressed Defaulted;
        kubernetes: Small Pods Workloads Policies;
        later: Told Within FlatRuled ByHand;
        macros: Beside;
        modules: Named Holder;
        names: Camel Kebab Shouting Pascal EnumNames Skips Overrides;
        resources: Everything ScaleJson ScaleLost Unschemed Proxy Mesh RootedRoot Sprawled Attributed Split;
        rules: Ruled Merged RootRuled RootCel Nested;
        scalars: Integers Floats Texts Times Nets NonZeros Wide Options RawWords;
        scopes: Scoped Ring Direct;
        written: ByHand Functions Manual Helped;
        validation: Ranges Lengths Patterns Inners Extensions Transforms OthersAttributes Attributed;
    }
    // From the lowest version to the highest.
    let versions = vec![
        versions::v1alpha1::Cache::crd(),
        versions::v1beta1::Cache::crd(),
        versions::v1::Cache::crd(),
    ];
    let merged = merge_crds(versions, "v1beta1").expect("they go together");
    all.insert("versions.example.com_caches".to_owned(), merged);
    println!("{}", serde_json::to_string_pretty(&all).expect("plain data"));
}
