//! The folder of a chart, as it is on disk.

use std::{collections::BTreeMap, path::Path};

use anyhow::Context as _;

use super::ignored::Ignored;
use crate::app::{findings::SourceSpan, images::folder::Folder};
use diagnostics::{Hint as _, utf8_text};
use go_data::yaml::{self, Node};
use model::display_path;

pub struct Chart {
    /// The folder's name in messages.
    pub folder: String,
    pub name: String,
    pub app_version: Option<String>,
    /// Chart.yaml, for the places of its fields.
    pub manifest: Node,
    /// Every file that a package of the chart has, but for those of subcharts, by its path in the folder.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Chart {
    pub fn read(dir: &Path, path: &Path) -> anyhow::Result<Self> {
        let shown = display_path(&path);
        let no_chart =
            || format!("`{shown}` is not the directory of a chart: it has no Chart.yaml");
        let hint = "name the directory that has the Chart.yaml, e.g. `charts/my-operator`";
        let folder = Folder::open_in_project(dir, path)?
            .with_context(|| format!("there is no directory `{shown}`"))
            .hint(hint)?;
        let ignored = folder.bytes(&".helmignore".parse()?)?.unwrap_or_default();
        let ignored = Ignored::parse(&String::from_utf8_lossy(&ignored));
        let mut files = BTreeMap::new();
        for path in &folder.paths {
            let name = path.as_str();
            if ignored.has(name) {
                continue;
            }
            let bytes =
                folder.bytes(path).with_context(|| format!("cannot read `{shown}/{name}`"))?;
            if name.starts_with("charts/") {
                continue;
            }
            files.insert(name.to_owned(), bytes.unwrap_or_default());
        }
        let text = files.get("Chart.yaml").with_context(no_chart).hint(hint)?;
        let file = format!("{shown}/Chart.yaml");
        let text = utf8_text(text)
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("cannot read `{file}`"))?;
        let nodes = yaml::parse_nodes(text, yaml::Dialect::Kubernetes);
        let manifest = nodes.map_err(yaml::locate_error(&file, text))?.into_iter().next();
        let manifest = manifest.with_context(no_chart).hint(hint)?;
        let field = |name: &str| Some(manifest.get(name)?.as_str()?.to_owned());
        let name = field("name").with_context(|| format!("`{file}` has no `name`"));
        Ok(Self {
            name: name.hint("helm refuses a chart without a name")?,
            app_version: field("appVersion"),
            folder: shown.to_string().trim_end_matches('/').to_owned(),
            manifest,
            files,
        })
    }

    /// Returns the text of a file, if it is UTF-8.
    pub fn text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(self.files.get(path)?).ok()
    }

    /// Returns a place in a file; line 0 is the whole file.
    pub fn place(&self, path: &str, line: usize, column: usize) -> SourceSpan {
        SourceSpan::new(format!("{}/{path}", self.folder), line, column)
    }

    /// Returns the place of a field of Chart.yaml.
    pub fn field(&self, name: &str) -> SourceSpan {
        let mark = self.manifest.mark_at(&format!("/{name}"));
        self.place("Chart.yaml", mark.line, mark.column)
    }
}
