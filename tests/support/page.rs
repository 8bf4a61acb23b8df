//! Pages that are played: each line of a console block that begins with `$ ` is given to bash.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use super::{BINARY, command, untold};

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
        let mut path = Path::new(BINARY).parent().unwrap().as_os_str().to_owned();
        path.push(":/usr/bin:/bin:");
        path.push(Path::new(env!("CARGO")).parent().unwrap());
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
            "place-{}",
            std::thread::current().name().unwrap_or("page").replace(':', "-")
        ));
        let mut real = command_line.to_owned();
        for (it, shown) in &self.shown {
            real = real.replace(shown, it);
        }
        let output = untold(&mut command("bash", &self.dir))
            .args(["-c", &format!("trap 'pwd -P >\"$PLACE\"' EXIT; {real}")])
            .envs([("PATH", path.as_os_str()), ("PLACE", place.as_os_str())])
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
