//! References of a chart's objects to what neither the chart nor its subcharts have.

use super::{Chart, Finding, Rendering, Rule};
use crate::app::config::references;
use go_data::yaml::Value;

pub fn check(chart: &Chart, rendering: &Rendering) -> Vec<Finding> {
    let all: Vec<&Value> = rendering.objects.iter().map(|object| &object.value).collect();
    let installed = || rendering.own().filter(|object| object.is_installed());
    let finding = |(value, reference): (&Value, references::ObjectReference)| {
        let object = installed().find(|object| std::ptr::eq(&raw const object.value, value))?;
        let what = format!("{}{}", reference.message(), rendering.with_values());
        let field = reference.field.rsplit('.').next().unwrap_or_default();
        let place = object.place(chart, Some(field));
        Some(Rule::ReferenceMissing.to_finding(object.subject(), what, place))
    };
    let missing = references::missing(installed().map(|object| &object.value), &all);
    missing.into_iter().filter_map(finding).collect()
}
