//! operator-registry itself, asked many questions in one process.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::Value;

use crate::support;

pub struct Oracle {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Oracle {
    pub fn start() -> Option<Self> {
        let mut child = Command::new(support::tool("catalogs")?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Some(Self { child, input, output })
    }

    /// The catalog, or the error.
    pub fn ask(&mut self, question: &Value) -> Result<String, String> {
        writeln!(self.input, "{question}").expect("it reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        let answer: Value = serde_json::from_str(&line).expect("it answers in JSON");
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        if text("error").is_empty() { Ok(text("catalog")) } else { Err(text("error")) }
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
