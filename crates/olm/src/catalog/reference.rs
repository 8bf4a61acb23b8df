//! The reference of a bundle's image, as a Go template of three fields.

/// What the fields of the template stand for.
pub struct Fields<'a> {
    pub package: &'a str,
    pub name: &'a str,
    pub version: &'a str,
}

/// Fills in `{{.Package}}`, `{{.Name}}` and `{{.Version}}`. Anything else in braces is refused.
pub fn reference(template: &str, fields: &Fields) -> Result<String, String> {
    let mut res = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((action, after)) = after.split_once("}}") else {
            return Err(format!("`{template}` has `{{{{` without `}}}}`"));
        };
        res.push_str(before);
        res.push_str(match action.trim_matches(' ') {
            ".Package" => fields.package,
            ".Name" => fields.name,
            ".Version" => fields.version,
            other => return Err(format!("`{{{{{other}}}}}` is not supported")),
        });
        rest = after;
    }
    res.push_str(rest);
    Ok(res)
}

#[test]
fn three_fields_are_filled_in() {
    let fields = Fields { package: "memcached", name: "memcached.v1.0.0", version: "1.0.0" };
    let fill = |it: &str| reference(it, &fields);
    assert_eq!(
        fill("quay.io/a/{{.Package}}:v{{ .Version }}").as_deref(),
        Ok("quay.io/a/memcached:v1.0.0")
    );
    assert_eq!(fill("a:{{.Name}}").as_deref(), Ok("a:memcached.v1.0.0"));
    assert!(fill("{{.Name | upper}}").is_err() && fill("{{.Name").is_err());
}
