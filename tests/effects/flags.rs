//! Every flag has an effect or is refused: with the flag of each line of flags.txt, a command says, writes or requests
//! something else than without it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, OnceLock},
    thread,
};

use crate::support;

/// Lines of two forms:
/// - `COMMAND LINE ++ FLAG AND VALUE` is run with and without the flag. States of [`prepare`] may precede it: `[edited] `.
/// - `COMMAND @ FILE FLAG…` names a test or a recorded page that shows these flags with a server.
const TABLE: &str = include_str!("flags.txt");

/// Flags of all commands, which the program handles in one place.
const COMMON: [&str; 6] =
    ["--help", "--dir", "--message-format", "--verbose", "--quiet", "--deny-warnings"];

/// A command with this flag runs until it is interrupted; tests/watch.rs shows it.
const ENDLESS: &str = "--watch";

/// Without EXHAUSTIVE, one case of so many is run.
const SHARE: usize = 16;

/// The command lines to run, each with the flag to add.
fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.lines().filter_map(|line| line.split_once(" ++ "))
}

/// The commands whose flags are shown elsewhere, with the file and the flags.
fn shown_elsewhere() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    TABLE.lines().filter_map(|line| {
        let (command, rest) = line.split_once(" @ ")?;
        let mut words = rest.split(' ');
        Some((command, words.next()?, words.collect()))
    })
}

/// Every command that does something, with its own flags.
fn flags() -> BTreeMap<String, BTreeSet<String>> {
    let mut commands = BTreeMap::new();
    let mut paths = vec![String::new()];
    while let Some(path) = paths.pop() {
        let help = support::done(support::home(), format!("{path} --help").trim());
        let usage = help.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or_default();
        if !usage.contains("<COMMAND>") && !path.is_empty() {
            let own = help.lines().filter_map(flag_in).filter(|flag| !COMMON.contains(flag));
            commands.insert(path.clone(), own.map(str::to_owned).collect());
        }
        let names = support::commands_in(&help).into_iter();
        paths.extend(names.map(|name| format!("{path} {name}").trim().to_owned()));
    }
    commands
}

/// The flag that a line of a help text describes, such as `  -p, --package <PACKAGE>`.
fn flag_in(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let is_entry = (2..=6).contains(&(line.len() - text.len()));
    let text = text.split_once(", ").filter(|(short, _)| short.len() == 2).map_or(text, |it| it.1);
    let name = text.split([' ', '=', '[']).next().filter(|name| is_entry && name.starts_with("--"));
    // Without a value, it prints the version of the program.
    name.filter(|name| name.len() > 2 && (*name != "--version" || line.contains('<')))
}

#[test]
fn every_flag_of_every_command_is_in_the_table() {
    let commands = flags();
    assert!(commands.len() > 40, "{commands:?}");
    let command_of = |line: &str| {
        let line = line.split_once("] ").map_or(line, |it| it.1);
        let is_of = |name: &&String| format!("{line} ").starts_with(&format!("{name} "));
        let names = commands.keys().filter(is_of);
        names.max_by_key(|name| name.len()).cloned().unwrap_or_else(|| line.to_owned())
    };
    let name_of = |flag: &str| flag.split([' ', '=']).next().unwrap_or_default().to_owned();
    let mut listed: BTreeSet<(String, String)> =
        cases().map(|(line, flag)| (command_of(line), name_of(flag))).collect();
    for (command, file, flags) in shown_elsewhere() {
        let text = fs::read_to_string(support::home().join(file));
        let text = text.unwrap_or_else(|error| panic!("{file}: {error}"));
        for flag in flags {
            assert!(text.contains(flag), "{file} does not show `{flag}` of `{command}`");
            listed.insert((command.to_owned(), flag.to_owned()));
        }
    }
    let of_command = |(command, flags): (&String, &BTreeSet<String>)| {
        flags.iter().map(|flag| (command.clone(), flag.clone())).collect::<Vec<_>>()
    };
    let all: BTreeSet<(String, String)> =
        commands.iter().flat_map(of_command).filter(|(_, flag)| flag != ENDLESS).collect();
    let missing: Vec<_> = all.difference(&listed).collect();
    assert!(missing.is_empty(), "flags.txt does not show the effect of these: {missing:?}");
    let hidden = [("adopt", "--force")];
    let is_unknown = |(command, flag): &&(String, String)| !hidden.contains(&(command, flag));
    let unknown: Vec<_> = listed.difference(&all).filter(is_unknown).collect();
    assert!(unknown.is_empty(), "these are no flags of these commands: {unknown:#?}");
}

#[test]
fn each_flag_changes_what_its_command_does() {
    let share = if std::env::var_os("EXHAUSTIVE").is_some() { 1 } else { SHARE };
    let chosen: Vec<_> = cases().step_by(share).collect();
    assert!(!chosen.is_empty(), "the table has cases");
    let faults = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (worker, part) in chosen.chunks(chosen.len().div_ceil(2)).enumerate() {
            let faults = &faults;
            scope.spawn(move || {
                let mut without = BTreeMap::new();
                for (line, flag) in part {
                    let before = without.entry(*line).or_insert_with(|| run(worker, line));
                    if run(worker, &format!("{line} {flag}")) == *before {
                        let fault = format!("{line} ++ {flag}\n    {}", before.output);
                        faults.lock().expect("no thread panics").push(fault);
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().expect("no thread panics");
    assert!(faults.is_empty(), "these flags have no effect:\n{}", faults.join("\n"));
}

#[test]
fn a_flag_without_effect_is_refused_with_the_reason() {
    let check = |line: &str, expected: &str| {
        let seen = run(2, line);
        assert!(seen.status != Some(0) && seen.files.is_empty(), "{line}: {}", seen.output);
        assert!(seen.output.contains(expected), "{line}: {}", seen.output);
    };
    let registry =
        |flag: &str| format!("`{flag}` has no effect here: no image of a registry is read");
    check("bundle validate --plain-http", &registry("--plain-http"));
    check("catalog validate --authfile a.json", &registry("--authfile"));
    check("catalog add bundle --image a/b:c --tls-skip-verify", &registry("--tls-skip-verify"));
    check("run bundle bundle --dry-run=server --plain-http", &registry("--plain-http"));
    let cluster = |flag: &str| {
        format!(
            "`{flag}` has no effect with `--dry-run`, which asks no cluster: leave it out, or pass `--dry-run=server`"
        )
    };
    check("deploy --image a/b:c --dry-run --kubeconfig kubeconfig", &cluster("--kubeconfig"));
    check("uninstall --dry-run --context other", &cluster("--context"));
    let adopt = "`--force` has no effect: `adopt` replaces no generated file";
    check("[alone] adopt --dir plain --force", adopt);
}

/// All that can be seen of a run.
#[derive(Clone, PartialEq)]
struct Seen {
    status: Option<i32>,
    output: String,
    files: BTreeMap<String, Vec<u8>>,
    requests: Vec<String>,
}

/// Runs a command in a copy of the project, with a server that has nothing as cluster and as proxy.
fn run(worker: usize, line: &str) -> Seen {
    let dir = support::fresh(&format!("effects/flags-{worker}"));
    let copied = Command::new("cp").arg("-a").arg(project().join(".")).arg(&dir).status();
    assert!(copied.expect("there is cp").success());
    let (states, words) = match line.strip_prefix('[').and_then(|line| line.split_once("] ")) {
        Some((states, words)) => (states, words),
        None => ("", line),
    };
    states.split(',').for_each(|state| prepare(&dir, state));
    let server = Server::start(states.split(',').any(|state| state == "installed"));
    let address = &server.address;
    let config = format!(
        r#"{{"current-context":"a","clusters":[{{"name":"a","cluster":{{"server":"http://{address}"}}}},{{"name":"b","cluster":{{"server":"http://{address}/b"}}}}],"contexts":[{{"name":"a","context":{{"cluster":"a"}}}},{{"name":"other","context":{{"cluster":"b"}}}}]}}"#
    );
    fs::write(dir.join("kubeconfig"), config).expect("the directory is ours");
    let before = support::tree(&dir);
    let mut command = support::command(support::BINARY, &dir);
    command.args(words.split(' ')).env("KUBECONFIG", dir.join("kubeconfig"));
    // `--compile` needs neither the time nor the dependencies of a build: that it is tried is enough.
    command.env("CARGO", stub_of_cargo()).env("NO_PROXY", "127.0.0.1");
    command.env("HTTPS_PROXY", format!("http://{address}"));
    command.env("HTTP_PROXY", format!("http://{address}"));
    let output = command.output().expect("the binary starts");
    let port = address.rsplit(':').next().unwrap_or_default();
    let mut files = support::tree(&dir);
    files.retain(|path, bytes| before.get(path) != Some(bytes));
    let deleted = before.into_keys().filter(|path| !dir.join(path).exists());
    let deleted: Vec<_> = deleted.map(|path| (format!("{path} is deleted"), Vec::new())).collect();
    files.extend(deleted);
    let requests = server.requests.lock().expect("no thread panics").clone();
    Seen {
        status: output.status.code(),
        output: support::said(&output).replace(port, "PORT"),
        files,
        requests: requests.into_iter().map(|text| text.replace(port, "PORT")).collect(),
    }
}

/// A program in place of cargo, which fails.
fn stub_of_cargo() -> &'static Path {
    static STUB: OnceLock<PathBuf> = OnceLock::new();
    STUB.get_or_init(|| {
        let path = support::fresh("effects/flags-cargo").join("cargo");
        fs::write(&path, "#!/bin/sh\necho 'nothing is built here' >&2\nexit 1\n")
            .expect("the directory is ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        path
    })
}

/// Brings the project into a state in which some flags have an effect.
fn prepare(dir: &Path, state: &str) {
    let kind = dir.join("api/src/cache/v1alpha1/memcached.rs");
    let edit = |path: &Path, change: &dyn Fn(String) -> String| {
        let text = fs::read_to_string(path).expect("the project has the file");
        fs::write(path, change(text)).expect("the directory is ours");
    };
    match state.split_once(':').map_or(state, |it| it.0) {
        // The server has the operator in an earlier version, installed by `run bundle`.
        "" | "installed" => {}
        // The bundle's catalog does not fit into one ConfigMap.
        "large" => {
            let mut seed = 1_u64;
            let words = std::iter::repeat_with(|| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                format!("{seed:016x} ")
            });
            let text = words.take(36_000).collect::<String>();
            for name in ["one", "other"] {
                let map = format!(
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{text: \"{text}\"}}\n"
                );
                fs::write(dir.join(format!("bundle/manifests/{name}.yaml")), map)
                    .expect("the directory is ours");
            }
        }
        // An example declares a kind.
        "example" => {
            fs::create_dir(dir.join("plain/examples")).expect("the directory is ours");
            let text =
                fs::read_to_string(dir.join("plain/src/lib.rs")).expect("the package has it");
            fs::write(
                dir.join("plain/examples/other.rs"),
                text.replace("Foo", "Bar") + "fn main() {}\n",
            )
            .expect("the directory is ours");
        }
        // Each generated file was edited by hand, or each one whose path begins with the word after the colon.
        "edited" => {
            let prefix = state.split_once(':').map_or("", |it| it.1);
            for (path, bytes) in support::tree(dir) {
                let text = String::from_utf8_lossy(&bytes);
                let is_generated = text.lines().take(2).any(|line| line.contains("@generated"));
                if is_generated && path.starts_with(prefix) && !path.starts_with("vendor/") {
                    edit(&dir.join(path), &edited);
                }
            }
        }
        // No project is around the package in `plain`.
        "alone" => {
            for name in ["PROJECT", "Cargo.toml", "Cargo.lock"] {
                fs::remove_file(dir.join(name)).expect("the project has the file");
            }
            fs::remove_dir_all(dir.join(".git")).expect("the project is in git");
        }
        "new" => fs::remove_file(dir.join("PROJECT")).expect("there is a PROJECT file"),
        // A schema that only the compiled code knows.
        "unreadable" => edit(&kind, &|text| {
            let field = "pub struct MemcachedSpec {\n    #[schemars(schema_with = \"outside\")]\n    pub a: String,";
            let outside = "fn outside(_: &mut schemars::SchemaGenerator) -> schemars::Schema { schemars::json_schema!({ \"maxLength\": std::process::id() }) }\n";
            text.replacen("pub struct MemcachedSpec {", field, 1) + outside
        }),
        // A field and kinds behind features, one of them a default.
        "features" => {
            let features = "\n[features]\ndefault = [\"base\"]\nbase = []\nextra = []\n";
            edit(&dir.join("api/Cargo.toml"), &|text| text + features);
            edit(&dir.join("plain/Cargo.toml"), &|text| text + features);
            edit(&kind, &|text| {
                let condition = "#[cfg(all(feature = \"base\", not(feature = \"extra\")))]";
                text.replacen("    pub size:", &format!("    {condition}\n    pub size:"), 1)
            });
            edit(&dir.join("plain/src/main.rs"), &|text| {
                let kinds = ["base", "extra"].map(|name| {
                    format!("#[cfg(feature = \"{name}\")]\nmod {name} {{\n    #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]\n    #[kube(group = \"example.com\", version = \"v1\", kind = \"Kind{name}\", namespaced)]\n    pub struct Spec {{}}\n}}\n")
                });
                text + &kinds.concat()
            });
        }
        // A macro that may declare kinds.
        "macro" => edit(&dir.join("plain/src/main.rs"), &|text| {
            text + "#[versioned(version(name = \"v1\"))]\nmod versions {\n    #[versioned(crd(group = \"example.com\"))]\n    #[derive(CustomResource)]\n    struct OtherSpec {}\n}\n"
        }),
        // Another field: policies judge it differently.
        "changed" => {
            let change = |text: String| text.replace("size", "amount");
            edit(&kind, &change);
            let crd = dir.join("bundle/manifests/memcacheds.cache.example.com.crd.yaml");
            let crd = if crd.exists() { crd } else { first_crd(&dir.join("bundle/manifests")) };
            edit(&crd, &|text| {
                let text = text.replace("size:", "amount:");
                text.replacen("description: ", "description: New ", 1)
            });
        }
        other => panic!("flags.txt has the unknown state `{other}`"),
    }
}

/// A generated text with an edit of its data, below the line that says that it is generated.
fn edited(text: String) -> String {
    let lines = text.split_inclusive('\n').enumerate().map(|(number, line)| {
        let is_edited = number > 1 && !line.contains("@generated");
        if is_edited {
            line.replace("true", "false").replace("string", "text")
        } else {
            line.to_owned()
        }
    });
    lines.collect()
}

/// The first file of a bundle that has a CRD with the field `size`.
fn first_crd(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder).expect("the bundle has manifests").flatten();
    let has_field = |path: &PathBuf| fs::read_to_string(path).is_ok_and(|it| it.contains("size:"));
    files.map(|file| file.path()).find(has_field).expect("a CRD has the field")
}

/// A project with a bundle, a catalog, a chart and reference files, in git, and a package of another project.
fn project() -> &'static Path {
    static PROJECT: OnceLock<PathBuf> = OnceLock::new();
    PROJECT.get_or_init(|| {
        let dir = support::fresh("effects/flags-project");
        let write = |path: &str, text: &str| {
            fs::write(dir.join(path), text).expect("the directory is ours");
        };
        for line in [
            "init --domain example.com --project-name memcached-operator",
            "create api --group cache --kind Memcached --image memcached:1.6 --port 1",
            "create api --group cache --kind Second",
            "create webhook --group cache --kind Second --defaulting --programmatic-validation",
            "create api --group cache --kind Other --controller=false",
            "create api --group cache --version v1 --kind Other --controller=false",
            "bundle --image quay.io/example/operator:v0.0.1",
            "generate catalog --image quay.io/example/bundle:v0.0.1",
            "generate chart --image quay.io/example/operator:v0.0.1",
            "generate installer --image quay.io/example/operator:v0.0.1 --output-file install.yaml",
            "generate schemas --output-dir schemas",
            "generate docs --output-dir reference",
            "generate crds --output-dir crds",
        ] {
            support::done(&dir, line);
        }
        write("olm.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: olm}\n");
        write(
            "subscriptions.yaml",
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: subscriptions.operators.coreos.com}\n",
        );
        write("observed.txt", "get configmaps\n");
        write(
            "template.yaml",
            "schema: olm.semver\ngenerateMajorChannels: true\nstable:\n  bundles:\n  - image: registry.example/a/b:v1\n",
        );
        fs::copy(dir.join("install.yaml"), dir.join("installer.yaml")).expect("it was written");
        crate::project::Project::new(&dir, "plain", "plain", &[("example.com", "Foo")])
            .write("src/main.rs", "fn main() {}\n");
        for words in [
            &["init", "-q", "."][..],
            &["add", "-A"],
            &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "All"],
        ] {
            let status = support::command("git", &dir).args(words).status();
            assert!(status.expect("there is git").success());
        }
        dir
    })
}

/// The kinds that the server has in each group, and whether their objects are in namespaces.
const KINDS: [(&str, &str, bool); 21] = [
    ("namespaces", "Namespace", false),
    ("services", "Service", true),
    ("secrets", "Secret", true),
    ("configmaps", "ConfigMap", true),
    ("serviceaccounts", "ServiceAccount", true),
    ("pods", "Pod", true),
    ("deployments", "Deployment", true),
    ("roles", "Role", true),
    ("rolebindings", "RoleBinding", true),
    ("clusterroles", "ClusterRole", false),
    ("clusterrolebindings", "ClusterRoleBinding", false),
    ("customresourcedefinitions", "CustomResourceDefinition", false),
    ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", false),
    ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false),
    ("certificates", "Certificate", true),
    ("issuers", "Issuer", true),
    ("catalogsources", "CatalogSource", true),
    ("operatorgroups", "OperatorGroup", true),
    ("subscriptions", "Subscription", true),
    ("installplans", "InstallPlan", true),
    ("clusterserviceversions", "ClusterServiceVersion", true),
];

/// The objects of an operator that `run bundle` has installed, by the ends of their paths.
const INSTALLED: [(&str, &str); 3] = [
    (
        "/subscriptions",
        r#"{"kind":"SubscriptionList","metadata":{"resourceVersion":"1"},"items":[{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"memcached-operator-v0-0-0-sub","namespace":"default","uid":"1"},"spec":{"name":"memcached-operator","source":"memcached-operator-catalog","sourceNamespace":"default"},"status":{"installedCSV":"memcached-operator.v0.0.0"}}]}"#,
    ),
    (
        "/catalogsources/memcached-operator-catalog",
        r#"{"apiVersion":"operators.coreos.com/v1alpha1","kind":"CatalogSource","metadata":{"name":"memcached-operator-catalog","namespace":"default","uid":"2","managedFields":[{"manager":"operator-rs:memcached-operator.default.olm","operation":"Apply"}]},"spec":{"sourceType":"grpc"}}"#,
    ),
    (
        "/clusterserviceversions/memcached-operator.v0.0.0",
        r#"{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"memcached-operator.v0.0.0","namespace":"default","uid":"3"},"spec":{"version":"0.0.0","customresourcedefinitions":{"owned":[{"name":"memcacheds.cache.example.com","kind":"Memcached","version":"v1alpha1"}]}}}"#,
    ),
];

/// An API server that records requests. It has the [`KINDS`], no objects or those of [`INSTALLED`], and accepts what is
/// written.
struct Server {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(is_installed: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address").to_string();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                thread::spawn(move || answer(stream, &seen, is_installed));
            }
        });
        Self { address, requests }
    }
}

/// Reads one request from a connection, and answers it.
fn answer(mut stream: TcpStream, seen: &Mutex<Vec<String>>, is_installed: bool) {
    let Ok(clone) = stream.try_clone() else { return };
    let mut reader = BufReader::new(clone);
    let (mut first, mut length) = (String::new(), 0);
    let _ = reader.read_line(&mut first);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).is_err() || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    let body = String::from_utf8_lossy(&body);
    seen.lock().expect("no thread panics").push(format!("{} {body}", first.trim()));
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let resource = path.split('?').next().unwrap_or_default();
    let deletion = format!("DELETE {resource}");
    let is_deleted =
        seen.lock().expect("no thread panics").iter().any(|it| it.starts_with(&deletion));
    let is_there = is_installed && !is_deleted;
    let installed = INSTALLED.iter().find(|(end, _)| is_there && resource.ends_with(end));
    let (status, text) = match installed.filter(|_| method == "GET") {
        Some((_, object)) => ("200 OK", (*object).to_owned()),
        None => response(method, path.trim_start_matches("/b/").trim_matches('/'), &body),
    };
    let length = text.len();
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: application/json");
    let _ = write!(stream, "{head}\r\nContent-Length: {length}\r\n\r\n{text}");
}

/// The status and the body for a request with this path.
fn response(method: &str, path: &str, body: &str) -> (&'static str, String) {
    let path = path.split('?').next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    let depth = path.matches('/').count();
    let is_discovery =
        path.starts_with("api/") && depth == 1 || path.starts_with("apis/") && depth == 2;
    match method {
        "GET" if path == "api" => ("200 OK", r#"{"kind":"APIVersions","versions":["v1"]}"#.to_owned()),
        "GET" if path == "apis" => ("200 OK", r#"{"kind":"APIGroupList","groups":[]}"#.to_owned()),
        "POST" | "PATCH" | "PUT" => ("200 OK", body.to_owned()),
        "GET" if is_discovery => {
            let kind = |(plural, kind, namespaced): &(&str, &str, bool)| {
                format!(
                    r#"{{"name":"{plural}","singularName":"","kind":"{kind}","namespaced":{namespaced},"verbs":["create","delete","get","list","patch","update"]}}"#
                )
            };
            let kinds: Vec<String> = KINDS.iter().map(kind).collect();
            let version = path.split_once('/').map_or("", |it| it.1);
            let list = kinds.join(",");
            ("200 OK", format!(r#"{{"kind":"APIResourceList","groupVersion":"{version}","resources":[{list}]}}"#))
        }
        "GET" if KINDS.iter().any(|it| it.0 == last) => {
            ("200 OK", r#"{"kind":"List","metadata":{"resourceVersion":"1"},"items":[]}"#.to_owned())
        }
        _ => (
            "404 Not Found",
            r#"{"kind":"Status","apiVersion":"v1","code":404,"message":"not found","reason":"NotFound","status":"Failure"}"#.to_owned(),
        ),
    }
}
