//! `tests/scorecard/config.yaml`: which tests there are.

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
    /// Where the pod mounts a volume for its output; empty for none.
    pub mount_path: String,
}

impl Test {
    /// Which of operator-sdk's own tests it is; none for a test in an image of its own.
    pub fn built_in(&self) -> Option<BuiltIn> {
        let name = self.image.rsplit('/').next().unwrap_or_default();
        let repository = name.split([':', '@']).next().unwrap_or_default();
        let [program, test] = &self.entrypoint[..] else { return None };
        let is = repository == "scorecard-test" && program == "scorecard-test";
        BuiltIn::ALL.into_iter().find(|it| is && it.name() == test)
    }
}

impl Configuration {
    /// As Go reads it, which looks at neither kind nor apiVersion.
    pub fn read(text: &str) -> anyhow::Result<Self> {
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
        let test = |it: &Value| Test {
            image: of::text(it, "/image").to_owned(),
            unique_id: of::text(it, "/uniqueID").to_owned(),
            entrypoint: of::texts(it, "/entrypoint").map(str::to_owned).collect(),
            labels: labels(it),
            mount_path: match of::text(it, path) {
                "" => default.to_owned(),
                own => own.to_owned(),
            },
        };
        Ok(Self { tests: stages.flat_map(|it| of::list(it, "/tests")).map(test).collect() })
    }

    /// The tests that operator-sdk's projects are scaffolded with.
    pub fn usual() -> Self {
        let test = |it: BuiltIn| Test {
            image: "quay.io/operator-framework/scorecard-test:v1.42.3".to_owned(),
            unique_id: String::new(),
            entrypoint: vec!["scorecard-test".to_owned(), it.name().to_owned()],
            labels: BTreeMap::from([
                ("suite".to_owned(), it.name().split('-').next().unwrap_or_default().to_owned()),
                ("test".to_owned(), format!("{}-test", it.name())),
            ]),
            mount_path: String::new(),
        };
        Self { tests: BuiltIn::ALL.map(test).to_vec() }
    }
}

/// Where the annotations say that the configuration is.
pub fn config_path(files: &Files) -> String {
    let found = format::annotations(files, &mut Findings::default());
    let annotations = found.map(|it| it.1).unwrap_or_default();
    let is_scorecard = annotations.get(TEST_MEDIA_TYPE).is_some_and(|it| it == "scorecard+v1");
    let folder = annotations.get(TEST_CONFIG).filter(|_| is_scorecard);
    let path = format!("{}/config.yaml", folder.map_or("tests/scorecard", String::as_str));
    // `..` is resolved from inside the bundle, as Go does.
    let clean = ProjectPath::fixed("bundle").join(&format!("../{path}"));
    clean.map_or(path, |it| it.to_string())
}

fn labels(test: &Value) -> BTreeMap<String, String> {
    let labels = test.get("labels").and_then(Value::as_object).into_iter().flatten();
    labels.map(|(key, it)| (key.clone(), it.as_str().unwrap_or_default().to_owned())).collect()
}
