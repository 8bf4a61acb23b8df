//! OLM v1: bundles that it installs, upgrades and refuses, from a registry on this machine.

use std::{env, fs, process::Command, sync::OnceLock};

use serde_json::{Value, json};

use crate::{
    bundle::Bundle,
    plane::{self, Plane, Served},
    support::{self, page::Player, registry::Registry},
};

struct Shared {
    plane: &'static Plane,
    registry: Registry,
}

/// OLM v1 beside OLM v0 in the control plane that the tests share; none where its programs are absent, which is then said.
fn shared() -> Option<&'static Shared> {
    static SHARED: OnceLock<Option<Shared>> = OnceLock::new();
    let start = || {
        let crds = crds()?;
        for program in ["operator-controller", "catalogd"] {
            support::tool_of("olm-v1", program)?;
        }
        let plane = plane::shared()?;
        let registry = Registry::start(&plane.dir)?;
        // It ends with the control plane.
        fs::write(plane.dir.join("registry.pid"), registry.id().to_string()).unwrap();
        let res = Shared { plane, registry };
        let image = res.push(&Bundle::new(&plane.dir, "zabsent"), "zabsent-bundle:v0.0.1");
        let refused = plane.refused(&format!("run bundle --target olmv1 {image} -n zabsent"));
        assert!(refused.contains("OLM v1 is not installed on https://127.0.0.1:"), "{refused}");
        let script = "install it with the script of a release on https://github.com/operator-framework/operator-controller/releases; without `--target olmv1`, OLM v0 is used, which `operator-rs olm install` installs";
        assert!(refused.contains(script), "{refused}");
        for crd in crds {
            plane.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &crd);
        }
        let namespace = json!({"metadata": {"name": "olmv1-system"}});
        plane.create("/api/v1/namespaces", &namespace);
        plane.until("its kinds are served", || plane.get(EXTENSIONS).is_some());
        let script = support::home().join("tests/control-plane/olm-v1-up");
        assert!(
            Command::new(script)
                .args([plane.dir.as_os_str(), res.registry.name.as_ref()])
                .status()
                .unwrap()
                .success()
        );
        Some(res)
    };
    SHARED.get_or_init(start).as_ref()
}

/// The CRDs of ClusterCatalogs and of ClusterExtensions.
pub fn crds() -> Option<Vec<Value>> {
    let all = ["clustercatalogs", "clusterextensions"].map(|it| {
        let path = format!("olm-v1-crds/olm.operatorframework.io_{it}.yaml");
        let text = fs::read_to_string(support::tool_of("olm-v1-crds", &path)?).unwrap();
        Some(serde_yaml::from_str(&text).unwrap())
    });
    all.into_iter().collect()
}

pub const EXTENSIONS: &str = "/apis/olm.operatorframework.io/v1/clusterextensions";

impl Shared {
    /// Pushes a bundle, and returns the name of its image.
    fn push(&self, bundle: &Bundle, name: &str) -> String {
        let image = format!("{}/example/{name}", self.registry.name);
        let folder = bundle.dir.file_name().unwrap().to_str().unwrap();
        let words = format!("bundle push {image} --bundle-dir {folder}");
        let mut command = support::command(support::BINARY, &self.plane.dir);
        let output = command.args(words.split_whitespace()).output().unwrap();
        assert!(output.status.success(), "{}", support::said(&output));
        image
    }
}

#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn the_page_is_played_and_leaves_nothing() {
    let Some(Shared { plane, registry }) = shared() else { return };
    let page = support::home().join("docs/recorded/olm-v1.md");
    let was = fs::read_to_string(&page).unwrap();
    let dir = plane.dir.join("page-v1");
    fs::create_dir(&dir).unwrap();
    let port = registry.name.split_once(':').unwrap().1.to_owned();
    let player = Player {
        dir,
        variables: vec![("KUBECONFIG", plane.dir.join("kubeconfig").into())],
        shown: vec![(port, "5000".to_owned())],
    };
    let is = player.play(&was);
    if env::var_os("UPDATE").is_some() {
        fs::write(&page, &is).unwrap();
    }
    let was = fs::read_to_string(&page).unwrap();
    if was != is {
        let diff = similar::TextDiff::from_lines(&was, &is);
        panic!("olm-v1.md goes otherwise now:\n{}", diff.unified_diff());
    }
    plane.nothing_is_left_of("memcached-operator");
}

#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn what_olm_v1_refuses_is_reported() {
    let Some(both @ Shared { plane, .. }) = shared() else { return };
    let directory = Bundle::new(&plane.dir, "ztwo");
    let refused =
        plane.refused(&format!("run bundle --target olmv1 {} -n ztwo", directory.dir.display()));
    assert!(refused.contains("is not an image in a registry"), "{refused}");
    assert!(refused.contains("push it with `operator-rs bundle push IMAGE`"), "{refused}");

    // Before anything is sent.
    let modes = "supported: true\n    type: AllNamespaces";
    let own = directory.replacing(modes, "supported: false\n    type: AllNamespaces");
    let image = both.push(&own, "ztwo-bundle:own");
    let refused = plane.refused(&format!("run bundle --target olmv1 {image} -n ztwo"));
    assert!(
        refused.contains("`operator-rs bundle validate --target olmv1` shows these errors"),
        "{refused}"
    );
    assert!(refused.contains("AllNamespaces"), "{refused}");
    assert!(plane.all("ztwo").is_empty());

    let image = both.push(&Bundle::new(&plane.dir, "zfifth"), "zfifth-bundle:v0.0.1");
    let catalog = json!({"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog",
        "metadata": {"name": "zfifth-operator-catalog"},
        "spec": {"availabilityMode": "Unavailable", "source": {"type": "Image", "image": {"ref": "example.com/a:v1"}}}});
    let catalogs = "/apis/olm.operatorframework.io/v1/clustercatalogs";
    plane.create(catalogs, &catalog);
    let refused = plane.refused(&format!("run bundle --target olmv1 {image} -n zfifth"));
    assert!(refused.contains("ClusterCatalog zfifth-operator-catalog exists, and `operator-rs run bundle --target olmv1` did not create it for namespace `zfifth`"), "{refused}");
    assert!(refused.contains("remove it, or rename the package"), "{refused}");
    plane.delete(&format!("{catalogs}/zfifth-operator-catalog"));
    plane.nothing_is_left_of("zfifth");

    // An object of others is in its place.
    let account = json!({"metadata": {"name": "zthree-operator-metrics-service"}, "spec": {"ports": [{"port": 1}]}});
    plane.create("/api/v1/namespaces", &json!({"metadata": {"name": "zthree"}}));
    plane.create("/api/v1/namespaces/zthree/services", &account);
    let image = both.push(&Bundle::new(&plane.dir, "zthree"), "zthree-bundle:v0.0.1");
    let listed = format!("run bundle --target olmv1 {image} -n zthree --installer own --dry-run");
    let expected = "create     Namespace zthree (if it does not exist)\napply      ClusterCatalog zthree-operator-catalog\napply      ClusterExtension zthree-operator\n";
    assert_eq!(plane.done(&listed), expected);
    let run = format!("run bundle --target olmv1 {image} -n zthree --timeout 30s");
    let refused = plane.refused(&run);
    assert!(refused.contains("`zthree-operator.v0.0.1` was not installed: timed out: ClusterExtension zthree-operator: "), "{refused}");
    assert!(refused.contains("zthree-operator-metrics-service"), "{refused}");
    plane.delete("/api/v1/namespaces/zthree/services/zthree-operator-metrics-service");
    let done = plane.done(&run.replace("30s", "90s"));
    assert!(
        done.ends_with("`zthree-operator.v0.0.1` is installed in namespace `zthree`\n"),
        "{done}"
    );

    // Custom resources go while the operator runs.
    let custom = json!({"apiVersion": "zthree.example.com/v1alpha1", "kind": "Memcached", "metadata": {"name": "a"}, "spec": {"size": 1}});
    plane.create("/apis/zthree.example.com/v1alpha1/namespaces/default/memcacheds", &custom);
    let removed = plane.done("cleanup zthree-operator -n zthree --yes");
    assert!(
        removed.starts_with(
            "delete     Memcached default/a\ndelete     ClusterExtension zthree-operator\n"
        ),
        "{removed}"
    );
    plane.delete("/api/v1/namespaces/zthree");
    plane.nothing_is_left_of("zthree");
}

/// A replica that led has made its Lease by itself, so that nothing owns it.
#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn the_lease_of_the_replica_that_led_does_not_keep_the_namespace() {
    let Some(both @ Shared { plane, .. }) = shared() else { return };
    let image = both.push(&Bundle::new(&plane.dir, "zlease"), "zlease-bundle:v0.0.1");
    plane.done(&format!("run bundle --v1 {image} -n zlease"));
    let leases = "/apis/coordination.k8s.io/v1/namespaces/zlease/leases";
    let holder = "zlease-operator-controller-manager-5d9c7-x2x";
    let lease = json!({"metadata": {"name": "zlease"}, "spec": {"holderIdentity": holder}});
    plane.create(leases, &lease);
    let done = plane.done("cleanup zlease-operator -n zlease --yes");
    assert!(done.ends_with("delete     Namespace zlease\n"), "{done}");
    plane.nothing_is_left_of("zlease");
}

/// OLM v0 needs no image of a bundle, and takes one.
#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn olm_v0_installs_a_bundle_from_an_image() {
    let Some(both @ Shared { plane, .. }) = shared() else { return };
    let bundle = Bundle::new(&plane.dir, "zimage");
    let image = both.push(&bundle, "zimage-bundle:v0.0.1");
    let served = Served::start(&Bundle::catalog(&[&bundle], json!([])));
    let address = &served.address;
    let words = format!("run bundle {image} -n zimage --catalog-address {address}");
    let done = plane.done(&words);
    assert!(
        done.ends_with("`zimage-operator.v0.0.1` is installed in namespace `zimage`\n"),
        "{done}"
    );
    plane.done("cleanup zimage-operator -n zimage --yes");
    plane.nothing_is_left_of("zimage");
}

#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn no_tag_of_others_is_overwritten() {
    let Some(both @ Shared { plane, registry }) = shared() else { return };
    let image = both.push(&Bundle::new(&plane.dir, "ztag"), "ztag-bundle:v0.0.1");
    let repository = format!("{}/example/ztag-bundle", registry.name);
    let other = both.push(&Bundle::new(&plane.dir, "ztagother"), "ztag-bundle:v0.0.1-catalog");
    let resolved = |it: &str| {
        let mut command = support::command(support::BINARY, &plane.dir);
        let output = command.args(["bundle", "validate", it]).output().unwrap();
        assert!(output.status.success(), "{}", support::said(&output));
    };
    for words in ["", " --dry-run=server", &format!(" --catalog-image {image}")] {
        let refused = plane.refused(&format!("run bundle --target olmv1 {image} -n ztag{words}"));
        let tag = if words.contains("image") { &image } else { &other };
        let expected = format!(
            "`{tag}` exists, and is not a catalog that `operator-rs run bundle --target olmv1` has pushed for package `ztag-operator`"
        );
        assert!(refused.contains(&expected), "{refused}");
    }
    resolved(&image);
    resolved(&other);
    assert!(plane.all("ztag").is_empty(), "{:?}", plane.all("ztag"));
    // A name of its own, twice: the second time it is there.
    let run = format!("run bundle --target olmv1 {image} -n ztag --catalog-image {repository}:own");
    plane.done(&run);
    plane.done(&run);
    plane.done("cleanup ztag-operator -n ztag --yes");
    plane.nothing_is_left_of("ztag");
}

const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const NAMESPACES: &str = "/api/v1/namespaces";

/// A ClusterExtension that somebody has written by hand.
fn by_hand(name: &str, package: &str, namespace: &str, account: &str) -> Value {
    json!({"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": name},
        "spec": {"namespace": namespace, "serviceAccount": {"name": account},
            "source": {"sourceType": "Catalog", "catalog": {"packageName": package}}}})
}

#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn what_others_created_or_use_is_kept() {
    let Some(both @ Shared { plane, .. }) = shared() else { return };
    plane.create(EXTENSIONS, &by_hand("zhand", "zhand-operator", "zhand", "own"));
    for flags in ["", " --dry-run", " --dry-run=server"] {
        let refused = plane.refused(&format!("cleanup zhand-operator -n zhand{flags}"));
        assert!(
            refused.contains("nothing was removed: ClusterExtension zhand is kept: "),
            "{refused}"
        );
        let rest = "`cleanup` removes what `operator-rs run bundle` has created; for the rest, use `kubectl delete`";
        assert!(refused.contains(rest), "{refused}");
    }
    assert!(plane.get(&format!("{EXTENSIONS}/zhand")).is_some());
    let image = both.push(&Bundle::new(&plane.dir, "zhand"), "zhand-bundle:v0.0.1");
    let refused = plane.refused(&format!("run bundle-upgrade --target olmv1 {image} -n zhand"));
    let way = "`operator-rs run bundle --target olmv1` did not create it: upgrade it as it was installed, or remove it first with `kubectl delete clusterextension zhand`";
    assert!(refused.contains(way), "{refused}");
    plane.delete(&format!("{EXTENSIONS}/zhand"));

    // Another uses the account, and is not installed yet. The dots are those of the package.
    let bundle = Bundle::new(&plane.dir, "zshared");
    let path = "metadata/annotations.yaml";
    let text = fs::read_to_string(bundle.dir.join(path)).unwrap();
    let text = text.replace("package.v1: zshared-operator", "package.v1: zx.shared-operator");
    let image = both.push(&bundle.with(path, &text), "zshared-bundle:v0.0.1");
    let refused =
        plane.refused(&format!("run bundle --target olmv1 {image} -n zshared --installer absent"));
    assert!(refused.contains("there is no ServiceAccount zshared/absent"), "{refused}");
    let way = "create it with the rights that the operator needs, or leave out `--installer`";
    assert!(refused.contains(way), "{refused}");
    assert!(plane.all("zshared").is_empty(), "{:?}", plane.all("zshared"));
    plane.done(&format!("run bundle --target olmv1 {image} -n zshared"));
    let account = "zx.shared-operator-installer";
    plane.create(EXTENSIONS, &by_hand("zuser", "zuser-operator", "zshared", account));
    let cleanup = "cleanup zx.shared-operator -n zshared --yes";
    let dry = plane.done(&format!("{cleanup} --dry-run"));
    let done = plane.done(cleanup);
    let kept = format!(
        "leave      ClusterRoleBinding {account} (ClusterExtension zuser uses it)\n\
         leave      ServiceAccount zshared/{account} (ClusterExtension zuser uses it)\n\
         leave      Namespace zshared (ClusterExtension zuser uses it)\n"
    );
    assert!(dry.ends_with(&kept) && done.ends_with(&kept), "{dry}\n{done}");
    assert!(plane.get(&format!("{BINDINGS}/{account}")).is_some());
    assert!(plane.get(&format!("{NAMESPACES}/zshared/serviceaccounts/{account}")).is_some());
    let refused = plane.refused("cleanup zx.shared-operator -n zshared --yes");
    let why = "nothing was removed: Namespace zshared is kept: ClusterExtension zuser uses it";
    assert!(refused.contains(why), "{refused}");
    plane.delete(&format!("{EXTENSIONS}/zuser"));
    plane.until("it is gone", || plane.get(&format!("{EXTENSIONS}/zuser")).is_none());
    // What an interrupted cleanup leaves last.
    plane.delete(&format!("{BINDINGS}/{account}"));
    plane.delete(&format!("{NAMESPACES}/zshared/serviceaccounts/{account}"));
    let dry = plane.done(&format!("{cleanup} --dry-run=server"));
    assert_eq!(dry, "delete     Namespace zshared (if nothing else is in it)\n");
    assert_eq!(plane.done(cleanup), "delete     Namespace zshared\n");
    plane.nothing_is_left_of("zshared");
}
