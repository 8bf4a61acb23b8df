//! The reference of a bundle's image, as a Go template of three fields.

/// The values of the fields of the template.
pub struct ReferenceFields<'a> {
    pub package: &'a str,
    pub name: &'a str,
    pub version: &'a str,
}

/// Fills in `{{.Package}}`, `{{.Name}}` and `{{.Version}}`. Anything else in braces is refused.
pub fn expand_reference(template: &str, fields: &ReferenceFields) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((action, after)) = after.split_once("}}") else {
            return Err(format!("`{template}` has `{{{{` without `}}}}`"));
        };
        expanded.push_str(before);
        expanded.push_str(match action.trim_matches(' ') {
            ".Package" => fields.package,
            ".Name" => fields.name,
            ".Version" => fields.version,
            other => return Err(format!("`{{{{{other}}}}}` is not supported")),
        });
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[test]
fn three_fields_are_filled_in() {
    let fields =
        ReferenceFields { package: "memcached", name: "memcached.v1.0.0", version: "1.0.0" };
    let fill = |it: &str| expand_reference(it, &fields);
    assert_eq!(
        fill("quay.io/a/{{.Package}}:v{{ .Version }}").as_deref(),
        Ok("quay.io/a/memcached:v1.0.0")
    );
    assert_eq!(fill("a:{{.Name}}").as_deref(), Ok("a:memcached.v1.0.0"));
    assert!(fill("{{.Name | upper}}").is_err() && fill("{{.Name").is_err());
}
