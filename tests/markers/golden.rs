//! Webhook markers in several files: those that controller-gen is tested with, with its own golden manifests; and random sets
//! of markers.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;
use walkdir::WalkDir;

use crate::{
    controller_gen_on_all, documents, manifests_of_all, random, support,
    webhooks::{TAKEN, lines, marker},
};

const MANIFESTS: &str = "config/webhook/manifests.yaml";

#[test]
fn the_test_data_of_controller_gen_gives_its_golden_manifests() {
    let Some(controller_gen) = support::tool("controller-gen") else { return };
    let data = controller_gen.with_file_name("webhooks-data");
    if !data.is_dir() {
        return support::missing_from_github(
            "controller-gen's test data is absent: fetch it with `tests/control-plane/build webhooks`",
        );
    }
    let (mut valid, mut invalid) = (0, 0);
    for entry in fs::read_dir(&data).unwrap() {
        let dir = entry.unwrap().path();
        let name = dir.file_name().unwrap().to_string_lossy().into_owned();
        if !dir.is_dir() {
            continue;
        }
        let files = comments(&dir);
        let read = |files: &[(String, String)]| {
            let files: Vec<_> = files.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
            manifests_of_all(&files, MANIFESTS)
        };
        let (mut objects, mut said) = read(&files);
        // API servers refuse them, so that we do.
        if said.contains("is also the name of the webhook at") {
            (objects, said) = read(&renamed(&files));
            objects.iter_mut().flatten().for_each(rename_back);
        }
        if name.starts_with("valid") {
            let golden = documents(&dir.join("manifests.yaml"));
            assert!(!golden.is_empty(), "{name}");
            assert_eq!(objects, Ok(golden), "{name}: {said}");
            valid += 1;
        } else {
            assert!(objects.is_err(), "{name} is accepted");
            assert!(said.contains("src/main.rs:"), "{name}: {said}");
            assert!(!said.contains("is also the name of"), "{name}: {said}");
            invalid += 1;
        }
    }
    assert!(valid >= 9 && invalid >= 6, "{valid} and {invalid}");
}

/// The same with another name for each webhook that has the name of one before it, in the same order.
fn renamed(files: &[(String, String)]) -> Vec<(String, String)> {
    let mut seen = BTreeSet::new();
    let mut line = |line: &str| {
        let Some((before, after)) = line.split_once(",name=") else { return format!("{line}\n") };
        let (name, after) = after.split_at(after.find(',').unwrap_or(after.len()));
        let mut name = name.to_owned();
        while !seen.insert((line.contains("mutating=true"), name.clone())) {
            name += AGAIN;
        }
        format!("{before},name={name}{after}\n")
    };
    files.iter().map(|(path, text)| (path.clone(), text.lines().map(&mut line).collect())).collect()
}

const AGAIN: &str = "zzz";

fn rename_back(object: &mut Value) {
    for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
        webhook["name"] = webhook["name"].as_str().unwrap().trim_end_matches(AGAIN).into();
    }
}

/// The comments of each Go file, for a Rust file of its own.
fn comments(dir: &Path) -> Vec<(String, String)> {
    let files = WalkDir::new(dir).sort_by_file_name().into_iter().map(|it| it.unwrap());
    let files = files.filter(|it| it.path().extension().is_some_and(|it| it == "go"));
    let mut res = Vec::new();
    for file in files {
        let text = fs::read_to_string(file.path()).unwrap();
        let markers =
            text.lines().filter(|it| it.trim_start().starts_with("// +kubebuilder:webhook"));
        let markers: String = markers.map(|it| format!("{}\n", it.trim_start())).collect();
        let name = if res.is_empty() { "main".to_owned() } else { format!("f{}", res.len()) };
        res.push((format!("src/{name}.rs"), markers));
    }
    res
}

#[test]
fn random_sets_of_markers_in_two_files_give_the_same_manifests() {
    let Some(controller_gen) = support::tool("controller-gen") else { return };
    let mut random = random(26);
    for round in 0..60 {
        let mut files = [Vec::new(), Vec::new()];
        for at in 0..1 + random(9) {
            // Names come in any order, and some are used once for each of the two configurations.
            let more =
                TAKEN[random(TAKEN.len())].replace("other.kb.io", &format!("other{at}.kb.io"));
            let name = format!("w{}.set{round}-{at}", random(100));
            let file = random(2);
            files[file].push(marker(&name, &more));
            let is_for_both = !more.contains("mutating=") && !more.contains("reinvocationPolicy=");
            if is_for_both && random(3) == 0 {
                let more = format!("{more},mutating=false");
                files[random(2)].push(marker(&name, &more));
            }
        }
        for kind in ["true", "false"] {
            if random(3) == 0 {
                let named = format!("webhookconfiguration:mutating={kind},name=set-{round}-{kind}");
                files[random(2)].push(named);
            }
        }
        let [one, two] = files.map(|it| lines(&it.iter().map(String::as_str).collect::<Vec<_>>()));
        let generators = ["webhook", "output:webhook:dir=out"];
        // In two files of one package, and in two packages.
        let places = [["a.go", "b.go"], ["a/a.go", "b/b.go"]];
        let [first, second] = places[random(2)];
        let (theirs, said) = controller_gen_on_all(
            &controller_gen,
            &generators,
            &[(first, &one), (second, &two)],
            "manifests.yaml",
        );
        let (ours, our_words) =
            manifests_of_all(&[("src/main.rs", &one), ("src/other.rs", &two)], MANIFESTS);
        assert_eq!(ours, theirs, "round {round}:\n{one}--\n{two}{said}{our_words}");
    }
}
