//! Every command with words that give it something to do, and what its help says of flags.

use crate::{
    run::{self, Outcome},
    support,
    world::{Base, World},
};

pub const FLAGS: &[&str] = &["--check", "--diff", "--dry-run", "--dry-run=server", "--force"];

/// A command as its path in `--help`, and words with which it has something to do.
pub struct Known {
    pub path: &'static str,
    pub words: &'static str,
    pub acts: Acts,
}

/// On what a command acts, and so which flags it can honour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Acts {
    /// On files of the project; this generated one is among them.
    OnFiles(&'static str),
    OnCluster,
    /// It changes neither.
    OnNothing,
    /// It is a name for others.
    Never,
}

const CRD: &str = "config/crd/bases/cache.example.com_memcacheds.yaml";

/// Every command that there is. The test of this list fails where the program has another one.
pub const COMMANDS: &[Known] = &[
    known("init", "--domain example.com", Acts::OnFiles("vendor/operator-rs-runtime/src/lib.rs")),
    known("adopt", "", Acts::OnFiles("PROJECT")),
    known("create", "", Acts::Never),
    known("create api", "--group cache --kind Third", Acts::OnFiles("api/src/crds.rs")),
    known(
        "create webhook",
        "--group cache --kind Second --defaulting",
        Acts::OnFiles("config/webhook/manifests.yaml"),
    ),
    known("delete", "", Acts::Never),
    known(
        "delete api",
        "--group cache --kind Second --version v1alpha1",
        Acts::OnFiles("api/src/crds.rs"),
    ),
    known(
        "delete webhook",
        "--group cache --kind Memcached --defaulting",
        Acts::OnFiles("config/webhook/manifests.yaml"),
    ),
    known(
        "edit",
        "--group cache --kind Other --storage-version v1",
        Acts::OnFiles("config/crd/bases/cache.example.com_others.yaml"),
    ),
    known("manifests", "", Acts::OnFiles(CRD)),
    known("generate", "", Acts::OnFiles("vendor/operator-rs-runtime/src/lib.rs")),
    known(
        "generate crds",
        "--output-dir deploy/crds",
        Acts::OnFiles("deploy/crds/cache.example.com_memcacheds.yaml"),
    ),
    known(
        "generate docs",
        "--output-dir deploy/docs",
        Acts::OnFiles("deploy/docs/cache.example.com/memcached.md"),
    ),
    known(
        "generate schemas",
        "--output-dir deploy/schemas",
        Acts::OnFiles("deploy/schemas/cache.example.com/memcached_v1alpha1.json"),
    ),
    known(
        "generate chart",
        "--output-dir deploy/chart",
        Acts::OnFiles("deploy/chart/files/manager.yaml"),
    ),
    known(
        "generate catalog",
        "--image quay.io/example/other-bundle:v0.0.1",
        Acts::OnFiles("catalog/memcached-operator.v0.0.1.yaml"),
    ),
    known("chart", "", Acts::Never),
    known("chart check", "chart", Acts::OnNothing),
    known("crds", "", Acts::Never),
    known("crds diff", "config/crd/bases", Acts::OnNothing),
    known(
        "generate installer",
        "--output-file deploy/install.yaml",
        Acts::OnFiles("deploy/install.yaml"),
    ),
    known(
        "bundle",
        "--image quay.io/example/other:v0.0.2",
        Acts::OnFiles("bundle/metadata/annotations.yaml"),
    ),
    known("bundle build", "", Acts::OnNothing),
    known("bundle push", "localhost:1/bundle:v1", Acts::OnNothing),
    known("bundle diff", "bundle", Acts::OnNothing),
    known("bundle validate", "", Acts::OnNothing),
    known("catalog", "", Acts::Never),
    known(
        "catalog add",
        "bundle --image quay.io/example/other-bundle:v0.0.1",
        Acts::OnFiles("catalog/memcached-operator.v0.0.1.yaml"),
    ),
    known("catalog render", "bundle", Acts::OnNothing),
    known("catalog render-template", "template.yaml", Acts::OnNothing),
    known("catalog graph", "", Acts::OnNothing),
    known("catalog build", "", Acts::OnNothing),
    known("catalog push", "localhost:5000/catalog:v1", Acts::OnNothing),
    known("catalog validate", "", Acts::OnNothing),
    known("image", "", Acts::Never),
    known("image build", "--platform linux/s390x", Acts::OnNothing),
    known("image push", "localhost:1/manager:v1 --platform linux/s390x", Acts::OnNothing),
    known("scorecard", "", Acts::OnNothing),
    known("install", "--timeout 2s", Acts::OnCluster),
    known("uninstall", "--yes --timeout 2s", Acts::OnCluster),
    known("deploy", "--timeout 2s", Acts::OnCluster),
    known("undeploy", "--yes --timeout 2s", Acts::OnCluster),
    known("migrate", "", Acts::OnCluster),
    known("olm", "", Acts::Never),
    known("olm install", "--manifests olm.yaml --timeout 2s", Acts::OnCluster),
    known("olm status", "", Acts::OnNothing),
    known("olm uninstall", "--yes --timeout 2s", Acts::OnCluster),
    known("run", "", Acts::Never),
    known("run bundle", "bundle --timeout 2s", Acts::OnCluster),
    known("run bundle-upgrade", "bundle --timeout 2s", Acts::OnCluster),
    known("cleanup", "memcached-operator --yes --timeout 2s", Acts::OnCluster),
    known("test", "--assets ../bin", Acts::OnNothing),
    known("status", "", Acts::OnNothing),
    known("version", "", Acts::OnNothing),
    known("man", "", Acts::OnNothing),
    known("completion", "bash", Acts::OnNothing),
];

const fn known(path: &'static str, words: &'static str, acts: Acts) -> Known {
    Known { path, words, acts }
}

impl Known {
    pub fn base(&self) -> Base {
        match self.path {
            "init" => Base::Empty,
            "adopt" => Base::Unknown,
            _ => Base::Project,
        }
    }

    pub fn line(&self, flag: &str) -> String {
        format!("{} {} {flag}", self.path, self.words)
    }

    pub fn run(&self, world: &World, flag: &str) -> Outcome {
        run::run(world, &run::words(&self.line(flag)), false)
    }

    fn help(&self) -> String {
        help(self.path)
    }

    /// Whether the help names the flag; `server` is a value that is named with `--dry-run`.
    pub fn lists(&self, flag: &str) -> bool {
        let help = self.help();
        let options: Vec<&str> = help.split("\n  ").map(str::trim_start).collect();
        let name = flag.split('=').next().unwrap_or(flag);
        let at = options.iter().position(|it| {
            it.strip_prefix(name)
                .is_some_and(|it| it.starts_with([' ', '[', '=', '\n']) || it.is_empty())
        });
        at.is_some_and(|at| {
            let end = options[at + 1..].iter().position(|it| it.starts_with('-'));
            let text = options[at..].iter().take(1 + end.unwrap_or(options.len())).copied();
            name == flag || text.collect::<String>().contains("server")
        })
    }

    pub fn acting() -> impl Iterator<Item = &'static Self> {
        COMMANDS.iter().filter(|it| it.acts != Acts::Never)
    }

    /// The commands that write files, each with a generated one.
    pub fn writing() -> impl Iterator<Item = (&'static Self, &'static str)> {
        COMMANDS.iter().filter_map(|it| match it.acts {
            Acts::OnFiles(generated) => Some((it, generated)),
            _ => None,
        })
    }
}

fn help(path: &str) -> String {
    support::done(support::home(), &format!("{path} --help"))
}

/// The commands that a help text lists, and those below them.
pub fn found(path: &str) -> Vec<String> {
    let mut res = Vec::new();
    for name in support::commands_in(&help(path)) {
        let below = format!("{path} {name}").trim().to_owned();
        res.extend(found(&below));
        res.push(below);
    }
    res
}
