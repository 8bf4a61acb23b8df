//! Builds mappings: keys as strings, merge keys (`<<`) and duplicate keys.

use std::collections::BTreeMap;

use libyaml_safer::ScalarStyle;

use super::{
    Dialect, Mark, YamlError,
    node::Entry,
    parse::{Content, RawNode, Scalar},
    plain::Resolved,
    printed,
    read::NodeBuilder,
    scalar,
};

/// The entries of a mapping while it is built: the position of each key, and its type before it was converted to a
/// string.
#[derive(Default)]
struct Fields {
    entries: Vec<Entry>,
    positions: BTreeMap<String, (usize, &'static str)>,
}

impl Fields {
    fn insert(&mut self, entry: Entry, kind: &'static str) {
        self.positions.insert(entry.key.clone(), (self.entries.len(), kind));
        self.entries.push(entry);
    }
}

impl NodeBuilder<'_> {
    pub fn build_map(&mut self, entries: &[(usize, usize)]) -> Result<Vec<Entry>, YamlError> {
        let mut fields = Fields::default();
        match self.dialect {
            Dialect::Kustomize => self.fill_at_the_end(entries, &mut fields)?,
            Dialect::Kubernetes | Dialect::Strict => self.fill_in_order(entries, &mut fields)?,
        }
        Ok(fields.entries)
    }

    /// Adds the entries as sigs.k8s.io/yaml does: in order, with merged ones where their key is; the last one wins.
    fn fill_in_order(
        &mut self,
        entries: &[(usize, usize)],
        fields: &mut Fields,
    ) -> Result<(), YamlError> {
        for (key, value) in entries {
            let mark = self.parts[*key].mark;
            if self.is_merge(*key)? {
                let mut sources = self.merge_sources(*value)?;
                sources.reverse();
                for (source, is_alias) in sources {
                    let (part, parts) = (&self.parts[*value], self.parts);
                    self.count_node(part)?;
                    self.aliases += usize::from(is_alias);
                    if is_alias {
                        self.count_node(&parts[source])?;
                    }
                    if let Content::Map { entries, .. } = &parts[source].content {
                        let in_flow = self.enter_collection(false, mark)?;
                        self.fill_in_order(entries, fields)?;
                        self.leave_collection(in_flow);
                    }
                    self.aliases -= usize::from(is_alias);
                }
                continue;
            }
            let (key, kind) = self.resolve_key(*key)?;
            let value = self.build_node(*value)?;
            match fields.positions.get(&key) {
                Some((_, other)) if *other != kind => {
                    let message = format!("the key `{key}` occurs as {other} and as {kind}");
                    return Err(YamlError::new(mark, message, Some("keep one of them")));
                }
                Some(_) if self.dialect == Dialect::Strict => {
                    return Err(duplicate_key(&key, mark));
                }
                Some((position, _)) => fields.entries[*position] = Entry { key, mark, value },
                None => fields.insert(Entry { key, mark, value }, kind),
            }
        }
        Ok(())
    }

    /// Adds the entries as kustomize does: the entries of the mapping itself win over those of merged mappings, and
    /// earlier merged mappings over later ones.
    fn fill_at_the_end(
        &mut self,
        entries: &[(usize, usize)],
        fields: &mut Fields,
    ) -> Result<(), YamlError> {
        let mut merged = None;
        for (key, value) in entries {
            let mark = self.parts[*key].mark;
            if self.is_merge(*key)? {
                if merged.replace(*value).is_some() {
                    return Err(duplicate_key("<<", mark));
                }
                continue;
            }
            let (key, kind) = self.resolve_key(*key)?;
            let value = self.build_node(*value)?;
            if fields.positions.contains_key(&key) {
                return Err(duplicate_key(&key, mark));
            }
            fields.insert(Entry { key, mark, value }, kind);
        }
        let Some(merged) = merged else { return Ok(()) };
        let start = entries.first().map_or(0, |entry| entry.0);
        for (source, is_alias) in self.merge_sources(merged)? {
            let part = &self.parts[source];
            if is_alias && source > start {
                let message = "this map is merged into the map that contains it";
                return Err(YamlError::new(
                    part.mark,
                    message,
                    Some("replace the alias with its value"),
                ));
            }
            self.aliases += usize::from(is_alias);
            self.count_node(part)?;
            let Content::Map { entries, .. } = &part.content else { continue };
            let in_flow = self.enter_collection(false, part.mark)?;
            for entry in self.build_map(entries)? {
                if !fields.positions.contains_key(&entry.key) {
                    fields.insert(entry, "a string");
                }
            }
            self.leave_collection(in_flow);
            self.aliases -= usize::from(is_alias);
        }
        Ok(())
    }

    /// Returns the mappings that are merged, and whether each comes from an alias.
    fn merge_sources(&self, index: usize) -> Result<Vec<(usize, bool)>, YamlError> {
        let RawNode { content, mark } = &self.parts[index];
        let is_map = |index: usize| matches!(self.parts[index].content, Content::Map { .. });
        match content {
            Content::Map { .. } => Ok(vec![(index, false)]),
            Content::Alias(target) if is_map(*target) => Ok(vec![(*target, true)]),
            Content::List { items, .. } => {
                let is_list =
                    |item: &&usize| matches!(self.parts[**item].content, Content::List { .. });
                if let Some(list) = items.iter().find(is_list) {
                    return Err(not_a_map(self.parts[*list].mark));
                }
                items.iter().try_fold(Vec::new(), |mut sources, item| {
                    sources.extend(self.merge_sources(*item)?);
                    Ok(sources)
                })
            }
            _ => Err(not_a_map(*mark)),
        }
    }

    fn is_merge(&self, key: usize) -> Result<bool, YamlError> {
        let RawNode { content: Content::Scalar(Scalar { text, tag, style, .. }), mark } =
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
            return Err(YamlError::new(*mark, message, Some("remove it")));
        }
        Ok(false)
    }

    /// Returns a key as a string, and its original type.
    fn resolve_key(&mut self, index: usize) -> Result<(String, &'static str), YamlError> {
        let (part, parts) = (&self.parts[index], self.parts);
        self.count_node(part)?;
        let scalar = match (&part.content, self.dialect) {
            (Content::Scalar(scalar), _) => Some(scalar),
            (Content::Alias(target), Dialect::Kubernetes | Dialect::Strict) => {
                self.aliases += 1;
                self.count_node(&parts[*target])?;
                self.aliases -= 1;
                match &parts[*target].content {
                    Content::Scalar(scalar) => Some(scalar),
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
            return Err(YamlError::new(part.mark, message, Some("write a string")));
        };
        let is_kustomize = self.dialect == Dialect::Kustomize;
        let is_local = |tag: &String| !tag.starts_with("tag:yaml.org,2002:");
        if is_kustomize && scalar.tag.as_ref().is_some_and(is_local) {
            let message = "this key has a tag, which kustomize does not print";
            return Err(YamlError::new(part.mark, message, Some("remove the tag")));
        }
        let resolved = scalar::resolve_scalar(scalar, self.dialect, part.mark)?;
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
            Resolved::Text => printed::printed_text(scalar, false, part.mark)?.into_owned(),
            Resolved::Int(_) | Resolved::Bool(_) | Resolved::Float(_) | Resolved::Time
                if is_kustomize && self.depth == 1 =>
            {
                scalar.text.clone()
            }
            Resolved::Int(integer) if !is_kustomize => integer.to_string(),
            Resolved::Bool(boolean) if !is_kustomize => boolean.to_string(),
            Resolved::Float(float) if !is_kustomize => scalar::format_float_key(float),
            _ => {
                let message = format!("the key `{}` is {kind}, not a string", scalar.text);
                return Err(YamlError::new(part.mark, message, hint));
            }
        };
        Ok((text, kind))
    }
}

fn duplicate_key(key: &str, mark: Mark) -> YamlError {
    YamlError::new(mark, format!("duplicate key `{key}`"), Some("keep one of them"))
}

fn not_a_map(mark: Mark) -> YamlError {
    YamlError::new(mark, "only maps can be merged, and this is not a map", None)
}
