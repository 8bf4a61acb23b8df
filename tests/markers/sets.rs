//! Random sets of webhook markers in two files, of one package and of two.

use crate::{
    controller_gen_on_all, manifests_of_all, random, support,
    webhooks::{TAKEN, lines, marker},
};

const MANIFESTS: &str = "config/webhook/manifests.yaml";

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
