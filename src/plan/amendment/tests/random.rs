//! Ten thousand random edits of scaffolded files: whatever a person or a formatter has done, an addition is refused or
//! adds exactly its entry at its place, and a removal takes exactly that away.

use super::{
    cases::{Case, ENV, LIST, MODULES, STARTS, TABLE, flat},
    *,
};

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const MARKER: &str = "+operator-rs:scaffold:m";

/// How often the functions `all` at the top of a file start the controller.
fn starts(text: &str) -> usize {
    let file = syn::parse_file(text).expect("it is Rust");
    let functions = file.items.iter().filter_map(|it| match it {
        syn::Item::Fn(it) if it.sig.ident == "all" => Some(quote::quote!(#it)),
        _ => None,
    });
    functions.map(|it| flat(it).concat().matches("controller(b::run)").count()).sum()
}

/// One to four edits.
fn edited(case: &Case, random: &mut Random) -> String {
    let mut text = case.text.to_owned();
    for _ in 0..=random.below(4) {
        if random.below(3) == 0 {
            let (from, to) = case.replacements[random.below(case.replacements.len())];
            text = text.replace(from, to);
            continue;
        }
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = random.below(lines.len());
        let marker = lines.iter().position(|it| it.contains('§')).unwrap_or(at);
        match random.below(8) {
            0 => {
                lines[marker] = format!(
                    "{}{}",
                    random.of(&["", "  ", "    ", "          "]),
                    lines[marker].trim_start()
                )
            }
            1 => {
                let line = lines.remove(marker);
                lines.insert(at.min(lines.len()), line);
            }
            2 => drop(lines.remove(at)),
            3 => lines[at] = format!("{}{}", random.of(&["# ", "// ", "  ", "    "]), lines[at]),
            4 => lines[at] = lines[at].trim_start_matches("  ").to_owned(),
            5 => lines[at] += random.of(&["  ", " # mine", " // mine"]),
            _ => lines.insert(at, random.of(case.lines).to_owned()),
        }
        text = lines.iter().map(|it| format!("{it}\n")).collect();
    }
    if random.below(8) == 0 {
        text = text.replace('\n', "\r\n");
    }
    text.replace('§', MARKER)
}

/// Returns whether these are the same, apart from these additional lines in the first.
fn is_with(after: &[String], before: &[String], new: &[&str]) -> bool {
    let fits = |at: usize| {
        after[at..at + new.len()] == *new
            && after[..at] == before[..at]
            && after[at + new.len()..] == before[at..]
    };
    after.len() == before.len() + new.len() && (0..=before.len()).any(fits)
}

/// Returns whether an entry was added.
fn check(case: &Case, before: &str) -> bool {
    let path = ProjectPath::fixed(case.path);
    let fragments = [case.fragment.to_owned()];
    let is_list = case.entry == STARTS.entry;
    let new: Vec<&str> = if is_list { case.entry.split(' ').collect() } else { vec![case.entry] };
    let after = add_fragment(&path, before, "m", case.fragment);
    let old = (case.read)(before);
    let Ok(after) = after else { return false };
    let (old, rest) =
        old.unwrap_or_else(|| panic!("it cannot be read, and is not refused:\n{before}"));
    let is_changed = after != before;
    if is_changed {
        let (entries, others) = (case.read)(&after).expect("it can be read afterwards");
        // A comma behind the last entry may be new, too.
        let comma = is_list && entries.len() == old.len() + new.len() + 1;
        let fits = if comma {
            (0..entries.len()).any(|at| {
                let mut rest = entries.clone();
                rest.remove(at) == "," && is_with(&rest, &old, &new)
            })
        } else {
            is_with(&entries, &old, &new)
        };
        assert!(fits && others == rest, "before:\n{before}\nafter:\n{after}");
        let comments = before.lines().filter(|it| it.trim_start().starts_with(['#', '/']));
        let starts = |text: &str| if is_list { starts(text) } else { 0 };
        assert_eq!(starts(&after), starts(before) + usize::from(is_list), "{after}");
        let kept = |text: &str| comments.clone().all(|it| text.contains(it));
        assert!(kept(&after), "before:\n{before}\nafter:\n{after}");
        let res = remove_fragments(&path, &after, &fragments, &LastCommit::Text(None));
        let res = res.expect("it can be read");
        let (entries, others) = (case.read)(&res.text).expect("it can be read afterwards");
        let is_back = entries == old || comma && entries.len() == old.len() + 1;
        let stays = !res.stuck.is_empty() || !res.edited.is_empty();
        assert!(
            stays || is_back && others == rest && kept(&res.text),
            "before:\n{before}\nafter:\n{after}\nremoved:\n{}",
            res.text
        );
    }
    let res = remove_fragments(&path, before, &fragments, &LastCommit::Text(None))
        .expect("it can be read");
    if res.text != before {
        let (entries, others) = (case.read)(&res.text).expect("it can be read afterwards");
        // Without `--force`, what goes is the entry as it was added, however often it is there.
        let old: Vec<String> = old.iter().map(|it| it.replace("\"./", "\"")).collect();
        let entries: Vec<String> = entries.iter().map(|it| it.replace("\"./", "\"")).collect();
        let count = old.iter().filter(|it| **it == case.entry).count();
        let is_plain = res.edited.is_empty() && count < 2;
        assert!(
            (!is_plain || is_with(&old, &entries, &new)) && others == rest,
            "before:\n{before}\nremoved:\n{}",
            res.text
        );
    }
    is_changed
}

#[test]
fn ten_thousand_edits_change_nothing_but_the_entry() {
    let mut random = Random(23);
    for case in [LIST, ENV, TABLE, MODULES, STARTS] {
        let added = (0..2000).filter(|_| check(&case, &edited(&case, &mut random))).count();
        // Neither everything nor nothing is refused.
        assert!((400..1900).contains(&added), "{}: {added}", case.path);
    }
}
