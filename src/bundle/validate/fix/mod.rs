//! Corrections of what has only one: each is a value, made from a finding and the files, and edits the text of a file
//! without touching anything else in it. Where two answers are possible there is none.

use std::{cmp::Reverse, collections::BTreeSet};

use super::{
    Files, Finding, Findings, Request, Rule,
    load::{self, Loaded},
    optional::Context,
    validate,
};
use diagnostics::Severity;
use go_data::yaml::Value;
use model::ProjectPath;

mod csv;
mod metadata;
mod objects;
mod text;

use text::{Edit, edited};

/// A finding that was corrected, and how.
#[derive(Clone)]
pub struct Fixed {
    pub finding: Finding,
    pub change: String,
}

/// A bundle after its corrections.
pub struct Outcome {
    pub files: Files,
    pub fixed: Vec<Fixed>,
    pub left: Vec<Finding>,
    /// Those of the bundle as it was.
    pub before: Vec<Finding>,
}

/// What a correction is made from.
struct Case<'a> {
    files: &'a Files,
    /// None where the bundle cannot be loaded.
    bundle: Option<&'a Loaded<'a>>,
    context: &'a Context<'a>,
    may_edit: &'a dyn Fn(&ProjectPath) -> bool,
}

/// A correction: its description, and what it does to the files.
struct Fix {
    change: String,
    steps: Vec<Step>,
}

#[derive(Clone, PartialEq)]
struct Step {
    file: String,
    what: What,
}

#[derive(Clone, PartialEq)]
enum What {
    /// An edit of the field at a pointer, if it still has this value; into a map with any.
    Edit(String, Option<Value>, Edit),
    Delete,
    Create(String),
}

type Fixer = fn(&Case, &Finding) -> Option<Fix>;

/// The corrections of a rule.
fn fixer(rule: Rule) -> Option<Fixer> {
    Some(match rule {
        Rule::AnnotationMissing => metadata::missing,
        Rule::MediaType => metadata::media_type,
        Rule::ChannelsEmpty => metadata::default_channel,
        Rule::EmptyFile | Rule::HiddenFile => metadata::empty_file,
        Rule::ObjectMetadata | Rule::CrdInvalid => objects::namespace,
        Rule::CrdTwice => objects::same_crd,
        Rule::ServiceAccountTwice => objects::service_account,
        Rule::CertManagerAnnotation => objects::cert_annotation,
        Rule::CsvAnnotationCase => csv::annotation_case,
        Rule::CsvMinKubeBad => csv::min_kube_version,
        Rule::CsvOlmProperties => csv::properties,
        Rule::CsvConversionModes | Rule::ConversionModes => csv::install_modes,
        Rule::InstallModeTwice => csv::same_install_mode,
        Rule::OwnedName => csv::owned_name,
        Rule::SkipRangeSelf => csv::skip_range,
        Rule::Capabilities => csv::capabilities,
        Rule::Categories => csv::categories,
        Rule::HubIconData | Rule::HubIconType => csv::icon_type,
        _ => return None,
    })
}

/// Whether some findings of a rule can be corrected.
pub fn is_fixable(rule: Rule) -> bool {
    fixer(rule).is_some()
}

/// Corrects what can be corrected, rule by rule, until nothing is left to correct. A correction counts only if its
/// findings are gone and no new error is there. Files that must not be edited stay as they are.
pub fn fix(
    files: &Files,
    request: &Request,
    context: &Context,
    may_edit: &dyn Fn(&ProjectPath) -> bool,
) -> Outcome {
    let left = validate(files, request, context);
    let mut res = Outcome { files: files.clone(), fixed: Vec::new(), before: left.clone(), left };
    let mut given_up: BTreeSet<Rule> = BTreeSet::new();
    loop {
        let rules: BTreeSet<Rule> = res.left.iter().map(|it| it.rule).collect();
        let rule = rules.into_iter().find(|it| is_fixable(*it) && !given_up.contains(it));
        let Some(rule) = rule else { break };
        match res.after(rule, request, context, may_edit) {
            // What was corrected may let other findings come to light.
            Some(next) => {
                res = next;
                given_up.clear();
            }
            None => drop(given_up.insert(rule)),
        }
    }
    // Of what has come to light on the way, the old files have no line.
    for it in &mut res.fixed {
        let was = res.before.iter().find(|one| is_same(one, &it.finding));
        it.finding.mark = was.and_then(|it| it.mark);
    }
    res
}

impl Outcome {
    /// The same with the findings of a rule corrected; none where there is nothing to correct.
    fn after(
        &self,
        rule: Rule,
        request: &Request,
        context: &Context,
        may_edit: &dyn Fn(&ProjectPath) -> bool,
    ) -> Option<Self> {
        let fixer = fixer(rule)?;
        let loaded = load::load(&self.files, &mut Findings::default());
        let case = Case { files: &self.files, bundle: loaded.as_ref(), context, may_edit };
        let (mut files, mut done, mut fixed) = (self.files.clone(), Vec::new(), Vec::new());
        let mut of_rule: Vec<&Finding> = self.left.iter().filter(|it| it.rule == rule).collect();
        // From the end of a file to its start: what was removed leaves the other places as they are.
        of_rule.sort_by_key(|it| (&it.file, Reverse(it.mark.map(|it| (it.line, it.column)))));
        for finding in of_rule {
            let Some(Fix { change, steps }) = fixer(&case, finding) else { continue };
            if applied(&steps, &mut done, &mut files, may_edit).is_some() {
                fixed.push(Fixed { finding: finding.clone(), change });
            }
        }
        fixed.first()?;
        fixed.sort_by(|one, other| one.finding.cmp(&other.finding));
        let left = validate(&files, request, context);
        let is_in = |list: &[Finding], one: &Finding| list.iter().any(|it| is_same(it, one));
        let is_new = |it: &&Finding| it.severity == Severity::Error && !is_in(&self.left, it);
        let is_worse = loaded.is_some() && left.iter().any(|it| is_new(&it));
        if is_worse || fixed.iter().any(|it| is_in(&left, &it.finding)) {
            return None;
        }
        // What the same edits have corrected beside them. A finding that has become another one of its rule is not.
        let is_fixed = |one: &Finding| fixed.iter().any(|it| is_same(&it.finding, one));
        let remains = |rule: Rule| left.iter().any(|it| it.rule == rule && !is_in(&self.left, it));
        let gone = self.left.iter().filter(|it| !is_in(&left, it) && !is_fixed(it));
        let gone = gone.filter(|it| !remains(it.rule));
        let gone: Vec<Fixed> = gone
            .map(|it| Fixed { finding: it.clone(), change: change_about(it, &fixed) })
            .collect();
        fixed.extend(gone);
        fixed.splice(0..0, self.fixed.iter().cloned());
        Some(Self { files, fixed, left, before: self.before.clone() })
    }
}

/// Of some changes, the one that has corrected a finding beside its own; all where that is not known.
fn change_about(finding: &Finding, fixed: &[Fixed]) -> String {
    let all: BTreeSet<&str> = fixed.iter().map(|it| it.change.as_str()).collect();
    let key = finding.field.rsplit('/').next().filter(|it| !it.is_empty());
    let named = all.iter().filter(|it| key.is_some_and(|key| it.contains(key)));
    match named.collect::<Vec<_>>()[..] {
        [one] => (*one).to_owned(),
        _ => all.into_iter().collect::<Vec<_>>().join("; "),
    }
}

/// Whether two findings are one, on whichever line.
pub fn is_same(one: &Finding, other: &Finding) -> bool {
    let key = |it: &Finding| (it.rule, it.severity);
    key(one) == key(other)
        && (&one.file, &one.field, &one.message) == (&other.file, &other.field, &other.message)
}

/// Takes all steps that were not taken yet, or none.
fn applied(
    steps: &[Step],
    done: &mut Vec<Step>,
    files: &mut Files,
    may_edit: &dyn Fn(&ProjectPath) -> bool,
) -> Option<()> {
    let mut after = files.clone();
    let mut taken = Vec::new();
    for Step { file, what } in steps {
        let path: ProjectPath = file.parse().ok()?;
        let is_done = |it: &Step| it.file == *file && it.what == *what;
        if done.iter().any(is_done) {
            continue;
        }
        if !may_edit(&path) {
            return None;
        }
        match what {
            What::Delete => drop(after.remove(&path)?),
            What::Create(text) => {
                if after.insert(path, text.clone().into_bytes()).is_some() {
                    return None;
                }
            }
            What::Edit(pointer, was, edit) => {
                let bytes = after.get(&path)?;
                let is_insert = matches!(edit, Edit::Insert(..));
                if !is_insert && load::first(bytes).ok()??.pointer(pointer) != was.as_ref() {
                    return None;
                }
                let text = edited(std::str::from_utf8(bytes).ok()?, pointer, edit)?;
                after.insert(path, text.into_bytes());
            }
        }
        taken.push(Step { file: file.clone(), what: what.clone() });
    }
    *files = after;
    done.append(&mut taken);
    Some(())
}

impl Case<'_> {
    /// The first document of a file, as it is written.
    fn written(&self, file: &str) -> Option<Value> {
        load::first(self.text(file)?.as_bytes()).ok()?
    }

    fn text(&self, file: &str) -> Option<&str> {
        std::str::from_utf8(self.files.get(&file.parse::<ProjectPath>().ok()?)?).ok()
    }

    /// An edit of a field that has the value `was`.
    fn edit(&self, file: &str, pointer: &str, edit: Edit) -> Option<Step> {
        let is_insert = matches!(edit, Edit::Insert(..));
        let was = self.written(file)?.pointer(pointer).filter(|_| !is_insert).cloned();
        Some(Step { file: file.to_owned(), what: What::Edit(pointer.to_owned(), was, edit) })
    }

    /// A text in place of another, and how that is described.
    fn set(&self, file: &str, pointer: &str, text: &str) -> Option<Fix> {
        let written = self.written(file)?;
        let was = written.pointer(pointer)?.as_str()?;
        let change = match was {
            "" => format!("wrote `{text}`"),
            was => format!("changed `{was}` to `{text}`"),
        };
        let step = self.edit(file, pointer, Edit::Set(text.into()))?;
        Some(Fix { change, steps: vec![step] })
    }

    /// The removal of an annotation, and of the map if it holds nothing else.
    fn without_annotation(&self, file: &str, pointer: &str) -> Option<Step> {
        let (map, _) = pointer.rsplit_once('/')?;
        let is_only = self.written(file)?.pointer(map)?.as_object()?.len() == 1;
        self.edit(file, if is_only { map } else { pointer }, Edit::Remove)
    }
}
