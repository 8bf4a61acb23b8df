//! The list of tests in `tests/scorecard/config.yaml`.

use std::collections::BTreeMap;

use super::{
    super::{
        annotations::{TEST_CONFIG, TEST_MEDIA_TYPE},
        object as of,
        validate::{Files, Findings, format},
    },
    BuiltIn,
};
use go_data::{
    kubernetes,
    yaml::{self, Dialect, Value, json},
};
use model::ProjectPath;

#[derive(Debug)]
pub struct Configuration {
    /// In the order in which they run.
    pub tests: Vec<Test>,
}

#[derive(Clone, Debug)]
pub struct Test {
    pub image: String,
    pub unique_id: String,
    pub entrypoint: Vec<String>,
    pub labels: BTreeMap<String, String>,
    /// The path at which the pod mounts a volume for its output; empty for none.
    pub mount_path: String,
}

impl Test {
    /// Returns the test of operator-sdk that this is; none for a test in another image.
    pub fn built_in(&self) -> Option<BuiltIn> {
        let name = self.image.rsplit('/').next().unwrap_or_default();
        let repository = name.split([':', '@']).next().unwrap_or_default();
        let [program, test] = &self.entrypoint[..] else { return None };
        let is = repository == "scorecard-test" && program == "scorecard-test";
        BuiltIn::ALL.into_iter().find(|built_in| is && built_in.name() == test)
    }
}

impl Configuration {
    /// Parses a configuration like Go, which ignores kind and apiVersion.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let mut file = yaml::from_text(text, Dialect::Kubernetes)?;
        if file.is_null() {
            return Ok(Self { tests: Vec::new() });
        }
        let Some(map) = file.as_object_mut() else { anyhow::bail!("it is not a map") };
        map.retain(|key, _| {
            !key.eq_ignore_ascii_case("apiVersion") && !key.eq_ignore_ascii_case("kind")
        });
        map.insert("apiVersion".to_owned(), json!("scorecard.operatorframework.io/v1alpha3"));
        map.insert("kind".to_owned(), json!("Configuration"));
        let decoded = kubernetes::decode(&file);
        let faults: Vec<String> = decoded.faults.iter().map(ToString::to_string).collect();
        anyhow::ensure!(faults.is_empty(), "{}", faults.join("; "));
        let path = "/storage/spec/mountPath/path";
        let default = of::text(&decoded.value, path);
        let stages = of::list(&decoded.value, "/stages").iter();
        let test = |test: &Value| Test {
            image: of::text(test, "/image").to_owned(),
            unique_id: of::text(test, "/uniqueID").to_owned(),
            entrypoint: of::texts(test, "/entrypoint").map(str::to_owned).collect(),
            labels: labels_of(test),
            mount_path: match of::text(test, path) {
                "" => default.to_owned(),
                own => own.to_owned(),
            },
        };
        Ok(Self { tests: stages.flat_map(|stage| of::list(stage, "/tests")).map(test).collect() })
    }

    /// Returns the configuration of a scaffolded project of operator-sdk.
    pub fn scaffolded() -> Self {
        let test = |built_in: BuiltIn| Test {
            image: "quay.io/operator-framework/scorecard-test:v1.42.3".to_owned(),
            unique_id: String::new(),
            entrypoint: vec!["scorecard-test".to_owned(), built_in.name().to_owned()],
            labels: BTreeMap::from([
                (
                    "suite".to_owned(),
                    built_in.name().split('-').next().unwrap_or_default().to_owned(),
                ),
                ("test".to_owned(), format!("{}-test", built_in.name())),
            ]),
            mount_path: String::new(),
        };
        Self { tests: BuiltIn::ALL.map(test).to_vec() }
    }
}

/// Returns the path of the configuration, from the annotations.
pub fn config_path(files: &Files) -> String {
    let found_annotations = format::find_annotations(files, &mut Findings::default());
    let annotations = found_annotations.map(|found| found.1).unwrap_or_default();
    let is_scorecard =
        annotations.get(TEST_MEDIA_TYPE).is_some_and(|media_type| media_type == "scorecard+v1");
    let folder = annotations.get(TEST_CONFIG).filter(|_| is_scorecard);
    let path = format!("{}/config.yaml", folder.map_or("tests/scorecard", String::as_str));
    // `..` is resolved from inside the bundle, as Go does.
    let clean = ProjectPath::fixed("bundle").join(&format!("../{path}"));
    clean.map_or(path, |path| path.to_string())
}

fn labels_of(test: &Value) -> BTreeMap<String, String> {
    let labels = test.get("labels").and_then(Value::as_object).into_iter().flatten();
    labels
        .map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect()
}
