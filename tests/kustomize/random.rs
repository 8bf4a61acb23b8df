//! Random overlays as people write them: bases, components, generators, patches of both kinds, labels, names and
//! replacements, over a handful of objects that name one another. Rendered by kustomize and by us.
//!
//! `KUSTOMIZE_CASES` says how many (thousands by hand), `KUSTOMIZE_SEED` where to begin; a case that fails is printed
//! with its seed, made as small as it still fails.

use std::{collections::BTreeMap, env};

use super::{
    case::{Case, Verdict},
    support,
    vocabulary::{JSON, METADATA, OBJECTS, PATCHES, TRANSFORMATIONS},
};

#[test]
fn random_overlays_are_rendered_as_kustomize_renders_them() {
    let Some(kustomize) = support::tool("kustomize") else { return };
    let number = |name: &str, default| {
        env::var(name).ok().and_then(|it| it.parse::<u64>().ok()).unwrap_or(default)
    };
    let (first, count) = (number("KUSTOMIZE_SEED", 1), number("KUSTOMIZE_CASES", 200));
    let dir = support::fresh("kustomize/random");
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    for seed in first..first + count {
        let case = Random(seed).overlay();
        let run = |case: &Case| case.run(&kustomize, &dir, "top");
        let verdict = run(&case);
        *counts.entry(verdict.class()).or_default() += 1;
        let list = match verdict {
            Verdict::Refused(reason) if env::var("KUSTOMIZE_REFUSED").is_ok() => {
                eprintln!("seed {seed}: {reason}");
                continue;
            }
            Verdict::Equal | Verdict::Refused(_) => continue,
            Verdict::OurRefusal(_) => &mut refused,
            Verdict::TheirRefusal(_) | Verdict::Different(_) => &mut wrong,
        };
        if list.len() < 12 {
            let small = case.shrink(verdict.class(), run);
            list.push(format!("seed {seed}: {}\n{small}", run(&small)));
        }
    }
    eprintln!("{counts:?}\n{}", refused.join("\n"));
    assert!(wrong.is_empty(), "{counts:?}\n{}", wrong.join("\n"));
    let refusals = counts.get("refused by us only").copied().unwrap_or_default();
    let rendered = refusals + counts.get("equal").copied().unwrap_or_default();
    assert!(rendered * 2 > count, "most overlays are to be rendered: {counts:?}");
    assert!(refusals * 100 <= rendered * 3, "{counts:?}\n{}", refused.join("\n"));
}

/// SplitMix64.
struct Random(u64);

/// Parts of a file; `\xHH` is a byte.
const ODD: &[&str] = &[
    "a",
    "b c",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "\\xC2\\x85",
    "\\xC2\\x85",
    "\\xC2\\x85\\xC2\\x85",
    "\\xC2\\x85---",
    "\\xC2\\xA0",
    "\\xE2\\x80\\xA8",
    "\\xE2\\x80\\xA9",
    "\\xEF\\xBB\\xBF",
    "\\xEF\\xBF\\xBD",
    "\\xF0\\x9F\\x98\\x80",
    "\\x00",
    "\\x01",
    "\\x1B",
    "---",
    "...",
    "'",
    "\"",
    "\\",
    "<&>",
    "#",
    " #",
    ": ",
    "- ",
    "%",
    "=",
    "{{",
    "!!x",
];

/// What kustomize refuses.
const UNPRINTABLE: &[&str] =
    &["\\x7F", "\\xC2\\x80", "\\xC2\\x9F", "\\xEF\\xBF\\xBE", "\\xEF\\xBF\\xBF"];

const TOP: &str = "top/kustomization.yaml";

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(below).unwrap()).unwrap()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.next(100) < percent
    }

    fn pick<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.next(all.len())]
    }

    fn overlay(mut self) -> Case {
        let mut case = Case::default();
        // The seed's neighbours are to differ at once.
        self.next(2);
        let two = self.chance(40);
        for base in if two { &["base", "other"][..] } else { &["base"] } {
            self.kustomization(&mut case, base, false);
            case.add(TOP, "resources:", &format!("- ../{base}\n"));
        }
        self.kustomization(&mut case, "top", two);
        if self.chance(25) {
            case.add(
                "part/kustomization.yaml",
                "",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n",
            );
            self.transformations(&mut case, "part");
            case.add(TOP, "components:", "- ../part\n");
        }
        case
    }

    fn kustomization(&mut self, case: &mut Case, folder: &str, few: bool) {
        let path = format!("{folder}/kustomization.yaml");
        let count = if few { self.next(2) } else { 1 + self.next(4) };
        let mut names: Vec<&str> = OBJECTS.iter().map(|it| it.0).collect();
        for _ in 0..count {
            let at = self.next(names.len());
            let name = names.swap_remove(at);
            let there = case.0.keys().any(|it| it.ends_with(&format!("/{name}.yaml")));
            if there && !self.chance(4) {
                continue;
            }
            let text = OBJECTS.iter().find(|it| it.0 == name).unwrap().1;
            case.add(&format!("{folder}/{name}.yaml"), "", text.trim_start());
            case.add(&path, "resources:", &format!("- {name}.yaml\n"));
        }
        if self.chance(4) {
            self.list(case, folder);
            case.add(&path, "resources:", "- list.yaml\n");
        }
        if self.chance(35) {
            self.generator(case, &path);
        }
        self.transformations(case, folder);
    }

    fn generator(&mut self, case: &mut Case, path: &str) {
        let kind = self.pick(&["configMapGenerator:", "secretGenerator:"]);
        let name = self.pick(&["settings", "password", "extra"]);
        let mut text = format!("- name: {name}\n  literals: [a={}, b.c=x]\n", self.next(3));
        let there = is_there(
            case,
            &kind[..1].to_uppercase().replace('S', "Secret").replace('C', "ConfigMap"),
            name,
        );
        if there || self.chance(4) {
            text += &format!("  behavior: {}\n", self.pick(&["merge", "replace", "merge"]));
        }
        if self.chance(30) {
            text += self.pick(&[
                "  options: {disableNameSuffixHash: true}\n",
                "  options: {labels: {app: own}, annotations: {note: own}}\n",
                "  options: {immutable: true}\n",
            ]);
        }
        let folder = path.strip_suffix("kustomization.yaml").unwrap();
        if self.chance(25) {
            let key = if self.chance(80) { "f".to_owned() } else { self.odd_key() };
            text += &format!("  files: [{key}=odd.txt]\n");
            self.odd(case, &format!("{folder}odd.txt"));
        }
        if self.chance(6) {
            text += "  envs: [odd.env]\n";
            case.add(&format!("{folder}odd.env"), "", &format!("{}=", self.odd_key()));
            self.odd(case, &format!("{folder}odd.env"));
        }
        case.add(path, kind, &text);
    }

    /// A list in which most is missing.
    fn list(&mut self, case: &mut Case, folder: &str) {
        let kind = self.pick(&["List", "List", "ConfigMapList", "ExampleList"]);
        let fields = [
            self.pick(&["apiVersion: v1\n", "apiVersion: v1\n", ""]).to_owned(),
            format!("kind: {kind}\n"),
            self.pick(&[
                "",
                "",
                "metadata: {}\n",
                "metadata: {name: x}\n",
                "metadata: {labels: {a: b}}\n",
            ])
            .to_owned(),
            self.pick(&["", "", "items: []\n", "items:\n", "other: a\n"]).to_owned(),
        ];
        let path = format!("{folder}/list.yaml");
        case.0.remove(&path);
        fields.iter().for_each(|it| case.add(&path, "", it));
    }

    fn odd_key(&mut self) -> String {
        match self.next(8) {
            0 => "k".repeat(1015 + self.next(12)),
            1 => "\\xC3\\xA9".repeat(1015 + self.next(12)),
            2 => format!("k{}", "<".repeat(160 + self.next(20))),
            _ => self.pick(&["f", "k.1", "K_2", "k-3"]).to_owned(),
        }
    }

    /// A file with characters that printers and parsers treat in their own ways, each a part of the case.
    fn odd(&mut self, case: &mut Case, path: &str) {
        for _ in 0..1 + self.next(7) {
            let piece = match self.chance(2) {
                true => self.pick(UNPRINTABLE),
                false => self.pick(ODD),
            };
            case.add(path, "", piece);
        }
    }

    fn transformations(&mut self, case: &mut Case, folder: &str) {
        let path = format!("{folder}/kustomization.yaml");
        for _ in 0..self.next(5) {
            let (heading, item) = self.transformation(case);
            let key = |it: &str| it.split(':').next().unwrap_or_default().to_owned();
            let there =
                case.0.get(&path).into_iter().flatten().any(|it| key(&it.0) == key(heading));
            let fits = is_possible(case, heading, &item) || self.chance(4);
            if fits && (!there || item.starts_with("- ")) {
                case.add(&path, heading, &item);
            }
        }
        // Parts of one heading stand together.
        if let Some(parts) = case.0.get_mut(&path) {
            parts.sort_by(|a, b| a.0.cmp(&b.0));
        }
    }

    fn transformation(&mut self, case: &Case) -> (&'static str, String) {
        let all: &[(&'static str, &[&str])] = TRANSFORMATIONS;
        match self.next(all.len() + 6) {
            0..=2 => ("patches:", self.strategic(case)),
            3..=4 => ("patches:", self.json()),
            5 => ("patchesStrategicMerge:", self.legacy(case)),
            at => {
                let (heading, items) = all[at - 6];
                (heading, self.pick(items).to_owned())
            }
        }
    }

    /// Of what is there, mostly.
    fn patch_of(&mut self, case: &Case) -> (&'static str, &'static str, String) {
        let present: Vec<_> = (PATCHES.iter())
            .filter(|it| {
                let text = format!("kind: {}\nmetadata:\n  name: {}\n", it.0, it.1);
                case.0.keys().any(|path| case.text(path).contains(&text))
            })
            .collect();
        let (kind, name, bodies) = match present.is_empty() || self.chance(8) {
            true => PATCHES[self.next(PATCHES.len())],
            false => *present[self.next(present.len())],
        };
        let mut body = self.pick(bodies).to_owned();
        if self.chance(20) {
            body += self.pick(METADATA);
        }
        (kind, name, body)
    }

    fn strategic(&mut self, case: &Case) -> String {
        let (kind, name, body) = self.patch_of(case);
        let version = api_version(kind);
        let name = if self.chance(12) { format!("p-{name}") } else { name.to_owned() };
        let mut res = format!(
            "- patch: |-\n    apiVersion: {version}\n    kind: {kind}\n    metadata:\n      name: {name}\n"
        );
        let (metadata, rest): (Vec<&str>, Vec<&str>) =
            body.lines().partition(|it| it.starts_with('+'));
        for line in metadata {
            res += &format!("      {}\n", &line[1..]);
        }
        for line in rest {
            res += &format!("    {line}\n");
        }
        if self.chance(40) {
            res += &format!(
                "  target: {{kind: {}}}\n",
                self.pick(&[kind, "Deployment|StatefulSet", kind])
            );
        }
        res
    }

    fn legacy(&mut self, case: &Case) -> String {
        let text = self.strategic(case);
        let text = text.split("  target:").next().unwrap();
        text.replacen("- patch: |-", "- |-", 1).replace("\n    ", "\n  ")
    }

    fn json(&mut self) -> String {
        let (target, operations) = JSON[self.next(JSON.len())];
        let mut res = format!("- target: {target}\n  patch: |-\n");
        for _ in 0..=self.next(2) {
            res += &format!("    {}\n", self.pick(operations));
        }
        res
    }
}

/// Whether an object is in some file, or generated.
fn is_there(case: &Case, kind: &str, name: &str) -> bool {
    let object = format!("kind: {kind}\nmetadata:\n  name: {name}\n");
    let generator = format!("{}{}Generator:", kind[..1].to_lowercase(), &kind[1..]);
    case.0.iter().any(|(path, parts)| {
        case.text(path).contains(&object)
            || parts
                .iter()
                .any(|it| it.0 == generator && it.1.starts_with(&format!("- name: {name}\n")))
    })
}

/// Whether what an item needs is there.
fn is_possible(case: &Case, heading: &str, item: &str) -> bool {
    let word = |key: &str| {
        let rest = item.split(key).nth(1)?;
        rest.split([',', '}']).next()
    };
    match heading {
        "replicas:" => {
            let name = word("name: ").unwrap_or_default();
            ["Deployment", "StatefulSet"].iter().any(|it| is_there(case, it, name))
        }
        "replacements:" => match (word("kind: "), word("{kind: ").and(word("name: "))) {
            (Some(kind), Some(name)) => is_there(case, kind, name),
            _ => false,
        },
        _ => true,
    }
}

fn api_version(kind: &str) -> &'static str {
    match kind {
        "Deployment" | "StatefulSet" => "apps/v1",
        "Job" => "batch/v1",
        "Memcached" => "cache.example.com/v1",
        "CustomResourceDefinition" => "apiextensions.k8s.io/v1",
        _ => "v1",
    }
}
