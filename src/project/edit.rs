//! Edits of PROJECT's text.

use anyhow::Context as _;

use super::{Inputs, LAYOUT, Project, Resource, Webhooks};
use diagnostics::Hint as _;
use go_data::yaml::{
    self, Data, Dialect, Map, Node, Value,
    edit::{Editor, Refusal},
};

impl Project {
    /// Adds a resource after the existing ones.
    pub fn with_resource(&self, resource: Resource) -> anyhow::Result<Self> {
        let resource = yaml::to_value(&resource);
        self.apply_edit(|document| match document.find_node("/0/resources") {
            Some(_) => document.push_item("/0", "resources", resource),
            None => document.set_field("/0", "resources", Value::Array(vec![resource]), "version"),
        })
    }

    /// Sets `controller: true` on an existing resource.
    pub fn with_controller(&self, at: usize) -> anyhow::Result<Self> {
        let resource = format!("/0/resources/{at}");
        self.apply_edit(|document| {
            document.set_field(&resource, "controller", Value::Bool(true), "kind")
        })
    }

    /// Sets the webhooks of an existing resource, which may be none.
    pub fn with_webhooks(&self, at: usize, webhooks: &Webhooks) -> anyhow::Result<Self> {
        let resource = format!("/0/resources/{at}");
        let old = self.resources[at].webhooks.as_ref().map(yaml::to_value);
        let new = (!webhooks.is_empty()).then(|| yaml::to_value(webhooks));
        self.with_change(&resource, "webhooks", old.as_ref(), new.as_ref())?
            .without_unused_certificates()
    }

    /// Sets what the project and its resources were created with.
    pub fn with_inputs(&self, inputs: &Inputs) -> anyhow::Result<Self> {
        let to_value =
            |inputs: &Inputs| (*inputs != Inputs::default()).then(|| yaml::to_value(inputs));
        let (old, new) = (to_value(&self.inputs), to_value(inputs));
        let plugins = self.yaml_editor()?.find_node("/0/plugins").cloned();
        let Some(plugins) = plugins.filter(|plugin| !matches!(plugin.data, Data::Scalar(_))) else {
            let new =
                new.map(|options| Value::Object(Map::from_iter([(LAYOUT.to_owned(), options)])));
            return self.apply_edit(|document| document.replace_field("/0", "plugins", new));
        };
        let is_alone = matches!(&plugins.data, Data::Map(all) if all.len() == 1);
        match (new, plugins.get(LAYOUT)) {
            (None, Some(own)) if is_own(own, old.as_ref()) && is_alone => {
                self.apply_edit(|document| document.replace_field("/0", "plugins", None))
            }
            (None, Some(own)) if !is_own(own, old.as_ref()) => {
                let map = format!("/0/plugins/{}", LAYOUT.replace('/', "~1"));
                self.with_changes(&map, old.as_ref(), None)
            }
            (new, _) => self.with_change("/0/plugins", LAYOUT, old.as_ref(), new.as_ref()),
        }
    }

    /// Changes the fields that differ, so that comments at the others stay.
    fn with_changes(
        &self,
        map: &str,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> anyhow::Result<Self> {
        let fields =
            |change: Option<&Value>| change.and_then(Value::as_object).cloned().unwrap_or_default();
        let (old, new) = (fields(old), fields(new));
        let mut project = self.clone();
        for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
            project = project.with_change(map, key, old.get(key), new.get(key))?;
        }
        Ok(project)
    }

    fn with_change(
        &self,
        map: &str,
        key: &str,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> anyhow::Result<Self> {
        let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
        let path = || format!("{map}/{}", key.replace('/', "~1"));
        match (old, new) {
            _ if old == new => Ok(self.clone()),
            (Some(Value::Array(before)), Some(Value::Array(after))) => {
                self.with_items(map, key, before, after)
            }
            (Some(Value::Object(_)), Some(Value::Object(_))) if !old.is_some_and(is_empty) => {
                self.with_changes(&path(), old, new)
            }
            _ => self.apply_edit(|document| document.replace_field(map, key, new.cloned())),
        }
    }

    /// Appends new items, changes those of the same name, and removes those that are gone. A list in another order is
    /// written anew.
    fn with_items(
        &self,
        map: &str,
        key: &str,
        before: &[Value],
        after: &[Value],
    ) -> anyhow::Result<Self> {
        let is_in = |list: &[Value], value: &Value| {
            list.iter().any(|other| identity_of(other) == identity_of(value))
        };
        let stay = before.iter().filter(|value| is_in(after, value));
        let added = || after.iter().filter(|value| !is_in(before, value));
        if !stay.chain(added()).map(identity_of).eq(after.iter().map(identity_of)) {
            let list = Value::Array(after.to_vec());
            return self.apply_edit(|document| document.replace_field(map, key, Some(list)));
        }
        let mut project = self.clone();
        // The list goes with its last item.
        for added in added() {
            project = project.apply_edit(|document| document.push_item(map, key, added.clone()))?;
        }
        for gone in (0..before.len()).rev() {
            let is_same = |index: &&Value| identity_of(index) == identity_of(&before[gone]);
            let item = format!("{map}/{key}/{gone}");
            project = match after.iter().find(is_same) {
                Some(new) => project.with_changes(&item, Some(&before[gone]), Some(new))?,
                None => project.apply_edit(|document| document.remove_item(map, key, gone))?,
            };
        }
        Ok(project)
    }

    /// Sets the version of the tool that has updated the project.
    pub fn with_cli_version(&self, version: &str) -> anyhow::Result<Self> {
        self.apply_edit(|document| {
            document.set_field("/0", "cliVersion", Value::from(version), "domain")
        })
    }

    pub(super) fn yaml_editor(&self) -> anyhow::Result<Editor<'_>> {
        Editor::new(&self.text, Dialect::Strict).context("reading PROJECT")
    }

    pub(super) fn apply_edit(
        &self,
        edit: impl FnOnce(Editor<'_>) -> Result<String, Refusal>,
    ) -> anyhow::Result<Self> {
        let text = edit(self.yaml_editor()?).map_err(|_| {
            anyhow::format_err!(
                "operator-rs cannot edit PROJECT because of the way it is formatted"
            )
        });
        Self::from_text(&text.hint(
            "write `resources` as a block list: one `- ` for each entry, and a line for each field",
        )?)
    }
}

/// Returns the part that identifies an item of a list: of a resource, all but its options.
fn identity_of(item: &Value) -> Value {
    let mut value = item.clone();
    if let Some(map) = value.as_object_mut() {
        map.remove("options");
    }
    value
}

/// Returns whether the settings have no field that is not this tool's.
fn is_own(settings: &Node, known: Option<&Value>) -> bool {
    let known = known.and_then(Value::as_object);
    match &settings.data {
        Data::Map(fields) => {
            fields.iter().all(|field| known.is_some_and(|known| known.contains_key(&field.key)))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diagnostics::{Diagnostics, find_error};

    fn resource(kind: &str) -> Resource {
        yaml::parse_typed(
            &format!("{{domain: a.io, group: g, kind: {kind}, version: v1}}"),
            Dialect::Strict,
        )
        .expect("a resource")
    }

    fn check(before: &str, after: &str) {
        let head = "domain: a.io\nlayout: rust.operator-rs.io/v1\nprojectName: p\n";
        let project = Project::from_text(&format!("{head}{before}")).expect("a project");
        let project = project.with_resource(resource("B")).expect("it can be added to");
        assert_eq!(project.text().strip_prefix(head), Some(after));
    }

    #[test]
    fn a_resource_is_added_and_the_rest_stays() {
        let b = "- domain: a.io\n  group: g\n  kind: B\n  version: v1\n";
        check("version: \"3\"\n", &format!("resources:\n{b}version: \"3\"\n"));
        check("resources: []\nversion: \"3\"\n", &format!("resources:\n{b}version: \"3\"\n"));
        let a = "resources:\n# mine\n- kind: A # here\n  mine: ours\n  version: v1\n";
        check(
            &format!("{a}\n# three\nversion: \"3\"\nx: z\n"),
            &format!("{a}{b}\n# three\nversion: \"3\"\nx: z\n"),
        );
        let deep: String = b.lines().map(|line| format!("    {line}\n")).collect();
        let a = "resources:\n    - kind: A\n      version: v1\n";
        check(&format!("{a}version: \"3\"\n"), &format!("{a}{deep}version: \"3\"\n"));
    }

    #[test]
    fn a_resource_is_removed_and_the_rest_stays() {
        let head = "domain: a.io\nlayout: rust.operator-rs.io/v1\nprojectName: p\n";
        let check = |before: &str, at: usize, after: &str| {
            let project = Project::from_text(&format!("{head}{before}")).expect("a project");
            let project = project.without_resource(at).expect("it can be removed");
            assert_eq!(project.text().strip_prefix(head), Some(after));
        };
        let (a, b) = ("- kind: A # one\n  mine: x\n  version: v1\n", "- kind: B\n  version: v1\n");
        let version = "version: \"3\"\n";
        check(&format!("resources:\n{a}{version}"), 0, version);
        check(
            &format!("resources:\n{a}# b\n{b}{version}"),
            0,
            &format!("resources:\n# b\n{b}{version}"),
        );
        check(
            &format!("resources:\n{a}{b}\n# end\n{version}"),
            1,
            &format!("resources:\n{a}\n# end\n{version}"),
        );
        // Comments stay when the last resource goes.
        check(
            &format!("resources: # all\n# mine\n{a}# end\n{version}"),
            0,
            &format!("# all\n# mine\n# end\n{version}"),
        );
    }

    #[test]
    fn webhooks_are_set_and_removed() {
        let head = "domain: a.io\nlayout: rust.operator-rs.io/v1\nprojectName: p\n";
        let (a, b) = ("- kind: A # one\n  version: v1\n", "- kind: B\n  version: v1\n");
        let version = "# end\nversion: \"3\"\n";
        let text = |webhooks: &str| format!("{head}resources:\n{a}{webhooks}# b\n{b}{version}");
        let project = Project::from_text(&text("")).expect("a project");
        let mut webhooks = Webhooks { defaulting: true, ..Webhooks::default() };
        let first = project.with_webhooks(0, &webhooks).expect("it can be edited");
        assert_eq!(first.text(), text("  webhooks:\n    defaulting: true\n"));
        webhooks.conversion = true;
        webhooks.spoke = vec!["v2".parse().expect("a version")];
        let second = first.with_webhooks(0, &webhooks).expect("it can be edited");
        let both =
            "  webhooks:\n    conversion: true\n    defaulting: true\n    spoke:\n    - v2\n";
        assert_eq!(second.text(), text(both));
        let none = second.with_webhooks(0, &Webhooks::default()).expect("it can be edited");
        assert_eq!(none.text(), project.text());
        // Comments stay, also when a field beside them changes.
        let commented = second
            .text()
            .replace("defaulting: true", "defaulting: true # why")
            .replace("- v2", "- v2 # two");
        let project_with = Project::from_text(&commented).expect("a project");
        webhooks.validation = true;
        webhooks.spoke.push("v3".parse().expect("a version"));
        let third = project_with.with_webhooks(0, &webhooks).expect("it can be edited");
        let spokes = "- v2 # two\n    - v3\n    validation: true\n";
        assert_eq!(third.text(), commented.replace("- v2 # two\n", spokes));
        webhooks.validation = false;
        webhooks.spoke.pop();
        assert_eq!(third.with_webhooks(0, &webhooks).expect("it can be edited").text(), commented);
        let last = project.with_webhooks(1, &webhooks).expect("it can be edited");
        assert_eq!(last.text(), text("").replace("# end", &format!("{both}# end")));
    }

    #[test]
    fn an_entry_without_names_is_refused() {
        let text = "domain: a.io\nlayout: rust.operator-rs.io/v1\nprojectName: p\nresources:\n- [~, false, a.io, g, A, ~, ~, v1]\nversion: \"3\"\n";
        let error = Project::from_text(text).and_then(|project| project.with_controller(0));
        assert!(error.is_err());
    }

    #[test]
    fn a_comment_behind_the_version_of_the_tool_stays() {
        let head = "domain: a.io\nlayout: rust.operator-rs.io/v1\nprojectName: p\nversion: \"3\"\n";
        for (before, after) in [
            ("cliVersion: 0.0.1 # since 2026\n", "cliVersion: 0.1.0 # since 2026\n"),
            ("cliVersion: \"0.0.1\"   # a # b\n", "cliVersion: 0.1.0   # a # b\n"),
            ("cliVersion: 0.0.1\t# tab\n", "cliVersion: 0.1.0\t# tab\n"),
            ("cliVersion: 0.0.1\n", "cliVersion: 0.1.0\n"),
            ("cliVersion:\n", "cliVersion: 0.1.0\n"),
        ] {
            let project = Project::from_text(&format!("{before}{head}")).expect("a project");
            let edited = project.with_cli_version("0.1.0").expect("it can be edited");
            assert_eq!(edited.text(), format!("{after}{head}"));
        }
        // A value on a separate line is not edited.
        let project = Project::from_text(&format!("cliVersion:\n  0.0.1\n{head}"));
        assert!(project.and_then(|project| project.with_cli_version("0.1.0")).is_err());
    }

    #[test]
    fn a_path_that_is_no_module_is_refused_at_its_place() {
        let check = |path: &str| {
            let text = format!(
                "domain: a.io\nlayout: rust.operator-rs.io/v1\nprojectName: p-q\nresources:\n- api: {{crdVersion: v1}}\n  kind: A\n  path: {path:?}\n  version: v1\nversion: \"3\"\n"
            );
            Project::from_text(&text).map_err(|error| {
                let found: Option<&Diagnostics> = find_error(&error);
                let hints = found.map(|diagnostics| diagnostics.list[0].hints.join("; "));
                (error.to_string(), hints.unwrap_or_default())
            })
        };
        for path in ["p_q_api::cache::v1", "api::größe"] {
            assert!(check(path).is_ok(), "{path}");
        }
        for path in [
            "api::a(); evil",
            "",
            "api",
            "api::",
            "api::fn",
            "api::1a",
            "example.com/a/v1",
            "api::a.b",
        ] {
            let message = format!("PROJECT:7:9: `{path}` is not the path of a Rust module");
            let hint = "name the module that has the type, e.g. `p_q_api::cache::v1alpha1`, or remove `path`";
            assert_eq!(check(path).err(), Some((message, hint.to_owned())));
        }
    }

    #[test]
    fn line_ends_are_kept() {
        let crlf = |text: &str| text.replace('\n', "\r\n");
        let head =
            "cliVersion: 0.0.1\ndomain: a.io\nlayout: rust.operator-rs.io/v1\nprojectName: p\n";
        let resources = "resources:\n- domain: x\n  kind: A\n  version: v1\n";
        let project = Project::from_text(&crlf(&format!("{head}{resources}version: \"3\"")));
        let project = project.expect("a project");
        let b = "- domain: a.io\n  group: g\n  kind: B\n  version: v1\n";
        let added = project.with_resource(resource("B")).expect("it can be added to");
        assert_eq!(added.text(), crlf(&format!("{head}{resources}{b}version: \"3\"")));
        let added = project.with_controller(0).expect("it can be edited");
        let text = |text: &str| crlf(&format!("{head}{text}version: \"3\""));
        let controller = resources.replace("  kind", "  controller: true\n  kind");
        assert_eq!(added.text(), text(&controller));
        let current = project.with_cli_version("0.1.0").expect("it can be edited");
        assert_eq!(current.text(), text(resources).replace("0.0.1", "0.1.0"));
        let last = Project::from_text(&format!("{head}version: \"3\"\nx: 1")).expect("a project");
        let added = last.with_resource(resource("B")).expect("it can be added to");
        assert_eq!(added.text(), format!("{head}resources:\n{b}version: \"3\"\nx: 1"));
    }

    #[test]
    fn a_list_in_flow_style_is_refused_with_the_way_out() {
        let text = "domain: a.io\nlayout: rust.operator-rs.io/v1\nprojectName: p\nresources: [{kind: A, version: v1}]\nversion: \"3\"\n";
        let error = Project::from_text(text)
            .and_then(|project| project.with_resource(resource("B")))
            .expect_err("it is refused");
        assert_eq!(
            error.to_string(),
            "operator-rs cannot edit PROJECT because of the way it is formatted"
        );
    }

    #[test]
    fn a_controller_is_added_to_the_right_resource() {
        let head = "domain: a.io\nlayout: rust.operator-rs.io/v1\nprojectName: p\nresources:\n";
        for (before, after) in [
            (
                "- kind: A\n  version: v1\n- domain: x\n  kind: B\n  version: v1\n",
                "- kind: A\n  version: v1\n- domain: x\n  controller: true\n  kind: B\n  version: v1\n",
            ),
            (
                "- kind: A\n  version: v1\n- controller: false\n  kind: B\n  version: v1\n",
                "- kind: A\n  version: v1\n- controller: true\n  kind: B\n  version: v1\n",
            ),
            (
                "- kind: A\n  version: v1\n- kind: B\n  controller: false # by hand\n  version: v1\n",
                "- kind: A\n  version: v1\n- kind: B\n  controller: true # by hand\n  version: v1\n",
            ),
        ] {
            let project =
                Project::from_text(&format!("{head}{before}version: \"3\"\n")).expect("a project");
            let project = project.with_controller(1).expect("it can be edited");
            assert_eq!(project.text(), format!("{head}{after}version: \"3\"\n"));
            assert!(project.resources[1].controller);
        }
    }
}
