//! Maps: keys as strings, merge keys (`<<`) and duplicate keys.

use std::collections::BTreeMap;

use libyaml_safer::ScalarStyle;

use super::{
    Dialect, Fault, Mark,
    node::Entry,
    parse::{Content, Part, Scalar},
    plain::Resolved,
    printed,
    read::Reader,
    scalar,
};

/// The entries of a map while it is read: the position of each key, and its type before it was converted to a string.
#[derive(Default)]
struct Fields {
    entries: Vec<Entry>,
    places: BTreeMap<String, (usize, &'static str)>,
}

impl Fields {
    fn insert(&mut self, entry: Entry, kind: &'static str) {
        self.places.insert(entry.key.clone(), (self.entries.len(), kind));
        self.entries.push(entry);
    }
}

impl Reader<'_> {
    pub fn map(&mut self, entries: &[(usize, usize)]) -> Result<Vec<Entry>, Fault> {
        let mut fields = Fields::default();
        match self.dialect {
            Dialect::Kustomize => self.fill_at_the_end(entries, &mut fields)?,
            Dialect::Kubernetes | Dialect::Strict => self.fill(entries, &mut fields)?,
        }
        Ok(fields.entries)
    }

    /// As sigs.k8s.io/yaml does it: entry by entry, with merged ones in their place; the last one wins.
    fn fill(&mut self, entries: &[(usize, usize)], fields: &mut Fields) -> Result<(), Fault> {
        for (key, value) in entries {
            let mark = self.parts[*key].mark;
            if self.is_merge(*key)? {
                let mut sources = self.sources(*value)?;
                sources.reverse();
                for (source, is_alias) in sources {
                    let (part, parts) = (&self.parts[*value], self.parts);
                    self.count(part)?;
                    self.aliases += usize::from(is_alias);
                    if is_alias {
                        self.count(&parts[source])?;
                    }
                    if let Content::Map { entries, .. } = &parts[source].content {
                        let in_flow = self.descend(false, mark)?;
                        self.fill(entries, fields)?;
                        self.ascend(in_flow);
                    }
                    self.aliases -= usize::from(is_alias);
                }
                continue;
            }
            let (key, kind) = self.key(*key)?;
            let value = self.node(*value)?;
            match fields.places.get(&key) {
                Some((_, other)) if *other != kind => {
                    let message = format!("the key `{key}` occurs as {other} and as {kind}");
                    return Err(Fault::new(mark, message, Some("keep one of them")));
                }
                Some(_) if self.dialect == Dialect::Strict => return Err(twice(&key, mark)),
                Some((place, _)) => fields.entries[*place] = Entry { key, mark, value },
                None => fields.insert(Entry { key, mark, value }, kind),
            }
        }
        Ok(())
    }

    /// As kustomize does it: the map's own entries win over those of merged maps, and earlier merged maps over later
    /// ones.
    fn fill_at_the_end(
        &mut self,
        entries: &[(usize, usize)],
        fields: &mut Fields,
    ) -> Result<(), Fault> {
        let mut merged = None;
        for (key, value) in entries {
            let mark = self.parts[*key].mark;
            if self.is_merge(*key)? {
                if merged.replace(*value).is_some() {
                    return Err(twice("<<", mark));
                }
                continue;
            }
            let (key, kind) = self.key(*key)?;
            let value = self.node(*value)?;
            if fields.places.contains_key(&key) {
                return Err(twice(&key, mark));
            }
            fields.insert(Entry { key, mark, value }, kind);
        }
        let Some(merged) = merged else { return Ok(()) };
        let start = entries.first().map_or(0, |it| it.0);
        for (source, is_alias) in self.sources(merged)? {
            let part = &self.parts[source];
            if is_alias && source > start {
                let message = "this map is merged into the map that contains it";
                return Err(Fault::new(
                    part.mark,
                    message,
                    Some("replace the alias with its value"),
                ));
            }
            self.aliases += usize::from(is_alias);
            self.count(part)?;
            let Content::Map { entries, .. } = &part.content else { continue };
            let in_flow = self.descend(false, part.mark)?;
            for entry in self.map(entries)? {
                if !fields.places.contains_key(&entry.key) {
                    fields.insert(entry, "a string");
                }
            }
            self.ascend(in_flow);
            self.aliases -= usize::from(is_alias);
        }
        Ok(())
    }

    /// The maps that are merged, and whether each comes from an alias.
    fn sources(&self, index: usize) -> Result<Vec<(usize, bool)>, Fault> {
        let Part { content, mark } = &self.parts[index];
        let is_map = |index: usize| matches!(self.parts[index].content, Content::Map { .. });
        match content {
            Content::Map { .. } => Ok(vec![(index, false)]),
            Content::Alias(target) if is_map(*target) => Ok(vec![(*target, true)]),
            Content::List { items, .. } => {
                let is_list =
                    |it: &&usize| matches!(self.parts[**it].content, Content::List { .. });
                if let Some(list) = items.iter().find(is_list) {
                    return Err(no_map(self.parts[*list].mark));
                }
                items.iter().try_fold(Vec::new(), |mut res, it| {
                    res.extend(self.sources(*it)?);
                    Ok(res)
                })
            }
            _ => Err(no_map(*mark)),
        }
    }

    fn is_merge(&self, key: usize) -> Result<bool, Fault> {
        let Part { content: Content::Scalar(Scalar { text, tag, style, .. }), mark } =
            &self.parts[key]
        else {
            return Ok(false);
        };
        let is_tagged = tag.as_deref() == Some("tag:yaml.org,2002:merge");
        let is_plain = match tag.as_deref() {
            None => *style == ScalarStyle::Plain,
            Some(tag) => tag == "!" && self.dialect != Dialect::Kustomize,
        };
        if text == "<<" && (is_tagged || is_plain) {
            return Ok(true);
        }
        if self.dialect == Dialect::Kustomize && (text == "<<" || is_tagged) {
            let message = "kustomize drops the key `<<` if it does not merge another map";
            return Err(Fault::new(*mark, message, Some("remove it")));
        }
        Ok(false)
    }

    /// A key as a string, and its original type.
    fn key(&mut self, index: usize) -> Result<(String, &'static str), Fault> {
        let (part, parts) = (&self.parts[index], self.parts);
        self.count(part)?;
        let scalar = match (&part.content, self.dialect) {
            (Content::Scalar(it), _) => Some(it),
            (Content::Alias(target), Dialect::Kubernetes | Dialect::Strict) => {
                self.aliases += 1;
                self.count(&parts[*target])?;
                self.aliases -= 1;
                match &parts[*target].content {
                    Content::Scalar(it) => Some(it),
                    _ => None,
                }
            }
            _ => None,
        };
        let hint = Some("write it in quotes");
        let Some(scalar) = scalar else {
            let message = match &part.content {
                Content::Map { .. } => "this key is a map, and JSON has string keys only",
                Content::List { .. } => "this key is a list, and JSON has string keys only",
                _ => "this key is an alias",
            };
            return Err(Fault::new(part.mark, message, Some("write a string")));
        };
        let is_kustomize = self.dialect == Dialect::Kustomize;
        let is_local = |it: &String| !it.starts_with("tag:yaml.org,2002:");
        if is_kustomize && scalar.tag.as_ref().is_some_and(is_local) {
            let message = "this key has a tag, which kustomize does not print";
            return Err(Fault::new(part.mark, message, Some("remove the tag")));
        }
        let resolved = scalar::resolve(scalar, self.dialect, part.mark)?;
        let kind = match resolved {
            Resolved::Null => "null",
            Resolved::Bool(_) => "a boolean",
            Resolved::Int(_) | Resolved::Uint(_) => "an integer",
            Resolved::Float(_) => "a float",
            Resolved::Time if is_kustomize => "a point in time",
            Resolved::Time | Resolved::Text => "a string",
        };
        let text = match resolved {
            Resolved::Time | Resolved::Text if !is_kustomize => scalar.text.clone(),
            Resolved::Text => printed::text(scalar, false, part.mark)?.into_owned(),
            Resolved::Int(_) | Resolved::Bool(_) | Resolved::Float(_) | Resolved::Time
                if is_kustomize && self.depth == 1 =>
            {
                scalar.text.clone()
            }
            Resolved::Int(it) if !is_kustomize => it.to_string(),
            Resolved::Bool(it) if !is_kustomize => it.to_string(),
            Resolved::Float(it) if !is_kustomize => scalar::key(it),
            _ => {
                let message = format!("the key `{}` is {kind}, not a string", scalar.text);
                return Err(Fault::new(part.mark, message, hint));
            }
        };
        Ok((text, kind))
    }
}

fn twice(key: &str, mark: Mark) -> Fault {
    Fault::new(mark, format!("duplicate key `{key}`"), Some("keep one of them"))
}

fn no_map(mark: Mark) -> Fault {
    Fault::new(mark, "only maps can be merged, and this is not a map", None)
}
