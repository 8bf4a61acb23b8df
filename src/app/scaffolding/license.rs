//! Recognizes the license of an existing repository by its text.

use model::{FileContent, ProjectPath, Tree};

/// The license of a repository.
pub struct License {
    pub path: ProjectPath,
    /// The second file of a dual license.
    pub other: Option<ProjectPath>,
    /// Its SPDX identifier, if the text is a known one.
    pub identifier: Option<&'static str>,
}

/// Returns whether a license may be in a file of this name.
pub fn is_file(name: &str) -> bool {
    FILES.iter().chain(&PAIR).any(|file| *file == name)
}

/// Returns whether a license has this SPDX identifier that its text would be recognized by.
pub fn is_known(identifier: &str) -> bool {
    DUAL == identifier || TEXTS.iter().any(|pair| pair.0 == identifier)
}

const DUAL: &str = "MIT OR Apache-2.0";

/// The files of a dual license.
const PAIR: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

const FILES: [&str; 4] = ["LICENSE", "LICENSE.md", "LICENSE.txt", "COPYING"];

/// Identifiers, each with phrases that the license contains, and one that it does not contain.
const TEXTS: &[(&str, &[&str], &str)] = &[
    ("Apache-2.0", &["apache license version 2.0, january 2004"], "mozilla"),
    ("MPL-2.0", &["mozilla public license version 2.0"], "gnu general public license version 3,"),
    ("AGPL-3.0-only", &["gnu affero general public license version 3, 19 november 2007"], "@"),
    (
        "LGPL-3.0-only",
        &["gnu lesser general public license version 3, 29 june 2007"],
        "affero general public license version 3, 19",
    ),
    (
        "GPL-3.0-only",
        &["gnu general public license version 3, 29 june 2007"],
        "gnu lesser general public license version 3, 29",
    ),
    (
        "MIT",
        &[
            "permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files",
            "the above copyright notice and this permission notice shall be included",
        ],
        "advertising",
    ),
    (
        "BSD-3-Clause",
        &["redistribution and use in source and binary forms", "neither the name of"],
        "advertising",
    ),
    (
        "BSD-2-Clause",
        &[
            "redistribution and use in source and binary forms",
            "binary form must reproduce the above",
        ],
        "neither the name of",
    ),
    (
        "ISC",
        &[
            "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice",
        ],
        "advertising",
    ),
    ("Unlicense", &["this is free and unencumbered software released into the public domain"], "@"),
];

/// Returns the license file at the top of a directory, or the two files that most Rust crates have.
pub fn find(tree: &impl Tree) -> anyhow::Result<Option<License>> {
    for path in FILES.map(ProjectPath::fixed) {
        if let Some(identifier) = identify_file(tree, &path)? {
            return Ok(Some(License { path, other: None, identifier }));
        }
    }
    let [mit, apache] = PAIR.map(ProjectPath::fixed);
    Ok(match (identify_file(tree, &mit)?, identify_file(tree, &apache)?) {
        (Some(Some("MIT")), Some(Some("Apache-2.0"))) => {
            let identifier = Some(DUAL);
            Some(License { path: mit, other: Some(apache), identifier })
        }
        (Some(_), Some(_)) => Some(License { path: mit, other: Some(apache), identifier: None }),
        (Some(identifier), None) => Some(License { path: mit, other: None, identifier }),
        (None, Some(identifier)) => Some(License { path: apache, other: None, identifier }),
        (None, None) => None,
    })
}

/// Returns the identifier of a license file, if the file is there.
fn identify_file(
    tree: &impl Tree,
    path: &ProjectPath,
) -> anyhow::Result<Option<Option<&'static str>>> {
    Ok(match tree.read_content(path)? {
        FileContent::Nothing => None,
        FileContent::Text(text) => Some(identify_text(&text)),
        FileContent::Other(_) => Some(None),
    })
}

fn identify_text(text: &str) -> Option<&'static str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ").to_lowercase();
    let is = |pair: &&(_, &[&str], &str)| {
        pair.1.iter().all(|phrase| text.contains(phrase)) && !text.contains(pair.2)
    };
    let mut found = TEXTS.iter().filter(is);
    match (found.next(), found.next()) {
        // A file with the texts of several licenses has no single identifier.
        (Some(only), None) => Some(only.0),
        _ => None,
    }
}

#[test]
fn licenses_are_known_by_their_texts() {
    let mit = "MIT License\n\nCopyright (c) 2026 A\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\n\
        of this software and associated documentation files (the \"Software\"), to deal\n\nThe above copyright notice and this \
        permission notice shall be included in all\ncopies";
    let apache = "\n                                 Apache License\n                           Version 2.0, January 2004\n";
    let bsd = "Redistribution and use in source and binary forms, with or without\n2. Redistributions in binary form must \
        reproduce the above copyright notice";
    for (text, expected) in [
        (mit, Some("MIT")),
        (apache, Some("Apache-2.0")),
        (bsd, Some("BSD-2-Clause")),
        (&format!("{bsd}\n3. Neither the name of the copyright holder"), Some("BSD-3-Clause")),
        (
            "                    GNU GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007\n",
            Some("GPL-3.0-only"),
        ),
        (
            "Mozilla Public License Version 2.0\n==================================\n",
            Some("MPL-2.0"),
        ),
        (&format!("{mit}\n{apache}"), None),
        ("All rights reserved.", None),
    ] {
        assert_eq!(identify_text(text), expected, "{text}");
    }
}
