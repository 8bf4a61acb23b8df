//! Pages that are played: each line of a console block that begins with `$ ` is given to bash.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use super::{BINARY, command, untold};

/// Prints the folder that bash is in, as the system spells it.
const PRINT_FOLDER: &str = if cfg!(windows) { "pwd -W" } else { "pwd -P" };

/// The folder of the program that pages run. `PROGRAMS` names another one, such as `tests/windows/bin`.
pub fn programs() -> PathBuf {
    let own = || Path::new(BINARY).parent().unwrap().to_owned();
    env::var_os("PROGRAMS").map_or_else(own, |folder| super::home().join(folder))
}

/// `PATH` of a page: the program, the tools of the system, and cargo. Where the tools of GNU are not those of the
/// system, they are on the caller's `PATH`.
fn search_path() -> OsString {
    let mut folders = vec![programs()];
    if cfg!(target_os = "linux") {
        folders.extend(["/usr/bin", "/bin"].map(PathBuf::from));
    } else {
        let inherited = env::var_os("PATH").unwrap_or_default();
        folders.extend(env::split_paths(&inherited));
    }
    folders.push(Path::new(env!("CARGO")).parent().unwrap().to_owned());
    env::join_paths(folders).expect("no folder has a separator in its name")
}

/// How a page is played.
pub struct Player {
    /// The folder in which it begins.
    pub dir: PathBuf,
    pub variables: Vec<(&'static str, OsString)>,
    /// What differs from run to run, such as a port, and what the page has in its place.
    pub shown: Vec<(String, String)>,
}

impl Player {
    /// The page again, with each `$ ` line followed by what is said to it today.
    pub fn play(mut self, page: &str) -> String {
        let mut res = String::new();
        let mut played = 0;
        let mut console = false;
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            if line == "```console" {
                console = true;
                res += &format!("{line}\n");
            } else if line == "```" && console {
                console = false;
                res.truncate(res.trim_end_matches('\n').len());
                res += "\n```\n";
            } else if !console {
                res += &format!("{line}\n");
            } else if let Some(command) = line.strip_prefix("$ ") {
                let mut command = command.to_owned();
                let here = command.ends_with("<<'END'");
                while command.ends_with('\\') || here && !command.ends_with("\nEND") {
                    let more = lines.next().expect("a command that goes on has an end");
                    command += &format!("\n{more}");
                }
                res += &format!("$ {command}\n{}\n", self.answer(&command));
                played += 1;
            }
        }
        assert!(!console, "a console block of the page has no end");
        assert!(played > 0, "the page plays nothing");
        res
    }

    /// What bash says to a command. As at a terminal, `cd` lasts until the page's end.
    fn answer(&mut self, command_line: &str) -> String {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
            "place-{}",
            std::thread::current().name().unwrap_or("page").replace(':', "-")
        ));
        let mut real = command_line.to_owned();
        for (it, shown) in &self.shown {
            real = real.replace(shown, it);
        }
        let output = untold(&mut command("bash", &self.dir))
            .args(["-c", &format!("trap '{PRINT_FOLDER} >\"$PLACE\"' EXIT; {real}")])
            .envs([("PATH", search_path().as_os_str()), ("PLACE", place.as_os_str())])
            .env_remove("CARGO")
            .envs(self.variables.iter().map(|(name, it)| (name, it)))
            .output()
            .expect("there is bash");
        self.dir = fs::read_to_string(&place).unwrap().trim_end_matches('\n').into();
        let mut res = String::from_utf8_lossy(&output.stdout).into_owned();
        let err = String::from_utf8_lossy(&output.stderr);
        if !res.is_empty() && !res.ends_with('\n') {
            res += "\n";
        }
        // Bash names the line of its own complaints.
        res += &err.replace("bash: line 1: ", "bash: ");
        if !res.is_empty() && !res.ends_with('\n') {
            res += "\n";
        }
        if !output.status.success() {
            res += &match output.status.code() {
                Some(code) => format!("[exit {code}]\n"),
                None => format!("[{}]\n", output.status),
            };
        }
        for (it, shown) in &self.shown {
            res = res.replace(it, shown);
        }
        assert!(!res.lines().any(|it| it == "```"), "what is said would end the block:\n{res}");
        res
    }
}
