//! Repositories that somebody else made: nothing that they name is run, nothing outside of them is read.

use std::{fs, os::unix::fs::PermissionsExt as _};

use super::{
    IMPORTS, KIND, REMOVED, Repository, SAME, TARGET, check, diff, remove_a_field, support,
};

#[test]
fn nothing_that_a_repository_names_is_run() {
    let repository = Repository::new("traps");
    let mark = repository.0.join(".git/mark");
    let trap = repository.0.join(".git/trap");
    fs::write(&trap, format!("#!/bin/sh\necho \"$0 $@\" >>'{}'\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.to_str().expect("it is UTF-8");
    fs::create_dir_all(repository.0.join(".git/traps")).unwrap();
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"] {
        fs::copy(trap, repository.0.join(".git/traps").join(hook)).unwrap();
    }
    repository.write(".gitattributes", "* diff=x filter=x\n");
    repository.commit("Attributes");
    for (key, value) in [
        ("core.hooksPath", ".git/traps"),
        ("core.pager", trap),
        ("core.sshCommand", trap),
        ("core.editor", trap),
        ("core.askPass", trap),
        ("core.alternateRefsCommand", trap),
        ("diff.external", trap),
        ("diff.x.textconv", trap),
        ("diff.x.command", trap),
        ("filter.x.clean", trap),
        ("filter.x.smudge", trap),
        ("filter.x.process", trap),
        ("gpg.program", trap),
        ("pager.rev-parse", trap),
        ("pager.ls-tree", trap),
        ("alias.ls-tree", &format!("!{trap}")),
        ("credential.helper", trap),
        ("remote.origin.url", "ssh://example.invalid/x"),
        ("remote.origin.uploadpack", trap),
        ("remote.origin.promisor", "true"),
        ("log.showSignature", "true"),
        ("core.fsmonitor", trap),
    ] {
        repository.git(&["config", key, value]);
    }
    // The traps do work: git's own status runs one.
    let _ = support::command("git", &repository.0).arg("status").output().expect("there is git");
    assert!(mark.exists(), "the traps do not work");
    fs::remove_file(&mark).unwrap();
    repository.says(&[], 0, SAME);
    remove_a_field(&repository);
    repository.says(&[], 1, REMOVED);
    repository.says(&["HEAD:src"], 1, "no file in `src` has a CustomResourceDefinition");
    repository.says(&["nowhere"], 1, "there is no revision `nowhere`");
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap_or_default());
}

#[test]
fn what_a_partial_clone_lacks_is_not_fetched() {
    let repository = Repository::new("partial");
    let mark = repository.0.join(".git/mark");
    let id = repository.git(&["rev-parse", "HEAD:src/main.rs"]);
    let object = repository.0.join(".git/objects").join(&id[..2]).join(&id[2..]);
    fs::set_permissions(&object, fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_file(&object).unwrap();
    let upload = format!("touch '{}'; git-upload-pack", mark.display());
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", repository.0.to_str().expect("it is UTF-8")),
        ("remote.origin.uploadpack", &upload),
        ("remote.origin.promisor", "true"),
    ] {
        repository.git(&["config", key, value]);
    }
    repository.says(&[], 1, "this clone lacks `src/main.rs` as of HEAD");
    assert!(!mark.exists(), "git has fetched");
    // With git alone, the trap works.
    let _ = support::command("git", &repository.0).args(["cat-file", "-p", &id]).output();
    assert!(mark.exists(), "the trap does not work");
}

/// git ends where an object is promised by a server, and may not be fetched.
#[test]
fn objects_that_a_partial_clone_lacks_are_reported_with_a_hint() {
    let repository = Repository::new("promised");
    repository.git(&["config", "uploadpack.allowFilter", "true"]);
    remove_a_field(&repository);
    repository.commit("Second");
    let folder = support::fresh("crds-diff/promised-clone");
    let from = format!("file://{}", repository.0.display());
    repository.git(&["clone", "-q", "--filter=blob:none", &from, folder.to_str().unwrap()]);
    let clone = Repository(folder);
    clone.says(&["HEAD~1"], 1, "this clone lacks `src/main.rs` as of HEAD~1");
    clone.says(&["HEAD~1"], 1, "in a partial clone, fetch the files of that revision");
}

#[test]
fn options_are_no_revisions() {
    let repository = Repository::new("options");
    let refused = "is neither a revision nor a file";
    for it in ["--upload-pack=touch x", "--exec=x", "-x", "-"] {
        repository.says(&[&format!("--to={it}")], 1, refused);
        repository.says(&["--to", "HEAD", "--", it], 1, refused);
        if it != "-" {
            repository.says(&[it], 2, "error: unexpected argument");
            repository.says(&["--to", it], 2, "error: ");
        }
    }
    for it in
        ["HEAD..main", "^HEAD", "HEAD^{tree}", "HEAD main", "@{nothing}", "HEAD\n", "$(touch x)"]
    {
        repository.says(&[it], 1, "there is no revision");
    }
    assert!(!repository.0.join("x").exists());
}

#[test]
fn the_callers_git_variables_lead_nowhere_else() {
    let (repository, other) = (Repository::new("variables"), Repository::new("variables-other"));
    remove_a_field(&repository);
    let elsewhere = other.0.join(".git");
    let output = diff(&repository.0, &[], |it| {
        it.env("GIT_DIR", &elsewhere)
            .env("GIT_WORK_TREE", "/")
            .env("GIT_OBJECT_DIRECTORY", elsewhere.join("objects"))
            .env("GIT_INDEX_FILE", "/nowhere")
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "core.fsmonitor")
            .env("GIT_CONFIG_VALUE_0", "false")
            .env("GIT_TRACE", "1")
    });
    check(&output, 1, REMOVED);
}

#[test]
fn symlinks_are_followed_within_the_repository() {
    let repository = Repository::new("symlinks");
    let main = format!("{IMPORTS}mod target;\nuse target::Target;\n{KIND}fn main() {{}}\n");
    repository.write("src/main.rs", &main);
    repository.write("shared/target.rs", &format!("{IMPORTS}{TARGET}"));
    let link = repository.0.join("src/target.rs");
    let lead_to = |target: &str| {
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(target, &link).unwrap();
        repository.commit(target);
    };
    lead_to("../shared/target.rs");
    repository.says(&[], 0, SAME);
    let repair = || {
        let _ = fs::remove_file(&link);
        fs::write(&link, format!("{IMPORTS}{TARGET}")).unwrap();
    };
    lead_to("/etc/hostname");
    repair();
    repository.says(&[], 1, "`src/target.rs` is a symlink out of the repository");
    lead_to("../../target.rs");
    repair();
    repository.says(&[], 1, "is a symlink out of the repository");
    lead_to("target.rs");
    repair();
    repository.says(&[], 1, "`src/target.rs` leads through more than 40 symlinks");
}

#[test]
fn a_submodule_is_another_repository() {
    let (repository, other) = (Repository::new("submodule"), Repository::new("submodule-other"));
    let from = other.0.to_str().expect("it is UTF-8");
    repository.git(&["submodule", "--quiet", "add", from, "types"]);
    let main = format!(
        "{IMPORTS}#[path = \"../types/src/main.rs\"]\nmod types;\n{TARGET}{KIND}fn main() {{}}\n"
    );
    repository.write("src/main.rs", &main);
    repository.commit("Submodule");
    repository.says(
        &["HEAD", "--to", "HEAD~1"],
        1,
        "`types` is a submodule: its files are in another repository",
    );
}

#[test]
fn a_huge_file_is_not_read() {
    let repository = Repository::new("huge");
    let main = format!("{IMPORTS}{TARGET}mod big;\n{KIND}fn main() {{}}\n");
    repository.write("src/main.rs", &main);
    repository.write("src/big.rs", &"// xxxxxxxxxxxxxxxxxxxxxxxxxxxx\n".repeat(1 << 19).repeat(2));
    repository.commit("Huge");
    repository.write("src/big.rs", "");
    repository.says(&[], 1, "`src/big.rs` has 33554432 bytes at HEAD, more than 16 MiB");
    // The objects behind it are read all the same.
    repository.says(&["HEAD~1"], 0, "no breaking change from HEAD~1 to the working tree");
}

#[test]
fn names_that_are_no_text_are_passed_by() {
    use std::os::unix::ffi::OsStrExt as _;
    let repository = Repository::new("names");
    let odd = std::ffi::OsStr::from_bytes(b"src/\xff.rs");
    fs::write(repository.0.join(odd), "").expect("Linux takes any name");
    repository.write("src/a\nb.rs", "");
    repository.commit("Odd names");
    repository.says(&[], 0, SAME);
}

#[test]
fn a_folder_of_files_leads_nowhere_else() {
    let repository = Repository::new("folder");
    support::done(&repository.0, "generate crds --output-dir crds");
    repository.says(&["crds"], 0, "no breaking change from crds to the working tree");
    let secret = tempfile::NamedTempFile::new().expect("there is a folder for such");
    fs::write(secret.path(), "token: secret: secret").unwrap();
    std::os::unix::fs::symlink(secret.path(), repository.0.join("crds/more.yaml")).unwrap();
    let output = repository.diff(&["crds"]);
    check(&output, 1, "crds/more.yaml cannot be read");
    assert!(!support::said(&output).contains("secret"), "{}", support::said(&output));
    // What a person names is read, wherever it is.
    let elsewhere = tempfile::tempdir().expect("there is a folder for such");
    fs::copy(repository.0.join("crds/example.com_backups.yaml"), elsewhere.path().join("a.yaml"))
        .unwrap();
    let path = elsewhere.path().to_str().expect("it is UTF-8");
    repository.says(&[path], 0, "no breaking change");
    repository.says(&[&format!("{path}/a.yaml")], 0, "no breaking change");
    repository.says(&["crds/example.com_backups.yaml"], 0, "no breaking change");
}
