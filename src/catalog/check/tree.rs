//! Faults within faults, printed as a tree.

pub struct Tree {
    message: String,
    faults: Vec<Tree>,
}

impl Tree {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), faults: Vec::new() }
    }

    /// Adds faults below this one, unless there are none.
    pub fn add(&mut self, inner: Self) {
        if !inner.faults.is_empty() {
            self.faults.push(inner);
        }
    }

    pub fn fault(&mut self, message: impl Into<String>) {
        self.faults.push(Self::new(message));
    }

    pub fn text(&self) -> String {
        let mut res = String::new();
        self.write("", true, &mut res);
        res.trim().to_owned()
    }

    fn write(&self, prefix: &str, is_last: bool, res: &mut String) {
        let end = if self.faults.is_empty() { "\n" } else { ":\n" };
        res.push_str(prefix);
        res.push_str(&self.message);
        res.push_str(end);
        let outer = match prefix.char_indices().rev().nth(3) {
            Some((at, _)) => format!("{}{}", &prefix[..at], if is_last { "    " } else { "│   " }),
            None => prefix.to_owned(),
        };
        for (at, fault) in self.faults.iter().enumerate() {
            let is_last = at + 1 == self.faults.len();
            let branch = if is_last { "└── " } else { "├── " };
            fault.write(&format!("{outer}{branch}"), is_last, res);
        }
    }
}

#[test]
fn faults_are_printed_as_opm_prints_them() {
    let mut tree = Tree::new("invalid index");
    let mut package = Tree::new("invalid package \"a\"");
    let mut channel = Tree::new("invalid channel \"b\"");
    channel.fault("no head");
    package.add(channel);
    package.fault("default channel must be set");
    tree.add(package);
    tree.add(Tree::new("nothing"));
    assert_eq!(
        tree.text(),
        "invalid index:\n└── invalid package \"a\":\n    ├── invalid channel \"b\":\n    │   └── no head\n    └── default channel must be set"
    );
}
