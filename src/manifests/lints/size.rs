//! CRDs that are too large for `kubectl apply`.

use std::collections::BTreeMap;

use crate::manifests::{Manifest, versions};
use crate::project::{Operator, Problem};
use go_data::yaml::Value;

/// The largest total size of an object's annotations in bytes (apimachinery's `TotalAnnotationSizeLimitB`):
/// `kubectl apply` stores the whole object in one.
const LIMIT: usize = 256 * 1024;

pub fn lints(operator: &Operator, crds: &[Manifest]) -> Vec<Problem> {
    let places: BTreeMap<_, _> = versions::kinds(operator)
        .into_iter()
        .map(|(key, versions)| (key, versions[0].place().clone()))
        .collect();
    let mut problems = Vec::new();
    for manifest in crds {
        for crd in &manifest.objects {
            let bytes = crd.to_string().len();
            if bytes <= LIMIT {
                continue;
            }
            let names = &crd["spec"]["names"]["kind"];
            let kind = names.as_str().unwrap_or_default();
            let group = crd["spec"]["group"].as_str().unwrap_or_default();
            let Some(place) = places.get(&(group, kind)) else { continue };
            let mut bare = crd.clone();
            let saved = shorten(&mut bare, 0);
            let message = format!(
                "the CRD of {kind} has {} KiB, and the limit of `kubectl apply` is 256; without descriptions it has {}",
                bytes.div_ceil(1024),
                (bytes - saved.min(bytes)).div_ceil(1024)
            );
            let hint = "shorten descriptions with `--max-description-length`, or apply it with `--server-side`";
            let problem = Problem::new(place.clone(), message).with_hint(hint);
            problems.push(problem.with_rule("crd-size"));
        }
    }
    problems
}

/// Shortens every description in a CRD's schemas to `longest` bytes, or removes them at 0. Returns the bytes saved.
///
/// Like controller-gen's `maxDescLen`, it cuts after the last sentence that fits, or else after the last word.
pub fn shorten(crd: &mut Value, longest: usize) -> usize {
    let before = crd.to_string().len();
    let versions = crd["spec"]["versions"].as_array_mut();
    for version in versions.into_iter().flatten() {
        if let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") {
            shorten_schema(schema, longest);
        }
    }
    before - crd.to_string().len()
}

fn shorten_schema(schema: &mut Value, longest: usize) {
    let Value::Object(map) = schema else { return };
    if let Some(Value::String(text)) = map.get_mut("description") {
        if longest == 0 {
            map.remove("description");
        } else {
            *text = cut_text(text, longest);
        }
    }
    for (key, value) in map.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "definitions", Value::Object(all)) => {
                all.values_mut().for_each(|value| shorten_schema(value, longest));
            }
            ("allOf" | "anyOf" | "oneOf" | "items", Value::Array(all)) => {
                all.iter_mut().for_each(|value| shorten_schema(value, longest));
            }
            ("items" | "additionalProperties" | "not", it) => shorten_schema(it, longest),
            _ => {}
        }
    }
}

fn cut_text(text: &str, longest: usize) -> String {
    // Sentence terminals of Unicode's most written scripts.
    const ENDS: &[char] =
        &['.', '!', '?', '\u{589}', '\u{61f}', '\u{964}', '\u{3002}', '\u{ff01}', '\u{ff1f}'];
    if text.len() <= longest {
        return text.to_owned();
    }
    let end = (0..=longest).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0);
    let fits = &text[..end];
    let sentence = fits.char_indices().rev().find(|(at, c)| *at > 0 && ENDS.contains(c));
    if let Some((at, end)) = sentence {
        return fits[..at + end.len_utf8()].to_owned();
    }
    let word = fits.char_indices().rev().find(|(at, pair)| *at > 0 && pair.is_whitespace());
    format!("{}...", word.map_or(fits, |(at, _)| &fits[..at]))
}

#[test]
fn descriptions_are_cut_behind_a_sentence() {
    assert_eq!(cut_text("One. Two. Three", 11), "One. Two.");
    assert_eq!(cut_text("No sentence ends here", 14), "No sentence...");
    assert_eq!(cut_text("Nowordends", 4), "Nowo...");
    assert_eq!(cut_text("Short.", 7), "Short.");
    assert_eq!(cut_text("äöü", 3), "ä...");
}
