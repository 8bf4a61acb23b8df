use serde::Serialize;

use crate::{
    disk::Root,
    hint::Hint as _,
    model::{Domain, Project, ProjectName},
    plan::{Plan, Tree as _},
    scaffold,
};

/// Start a new operator project
#[derive(clap::Args)]
pub struct Args {
    /// The domain its API groups live under
    #[arg(long, default_value = "my.domain")]
    domain: Domain,
    /// The project's name [default: the folder's name]
    #[arg(long)]
    project_name: Option<ProjectName>,
}

/// What `templates/init` may say.
#[derive(Serialize)]
struct Context<'a> {
    project_name: &'a ProjectName,
    domain: &'a Domain,
}

impl Args {
    pub fn plan(self, root: &Root) -> anyhow::Result<Plan> {
        let name = match self.project_name {
            Some(name) => name,
            None => {
                let folder = root.name()?;
                folder
                    .to_lowercase()
                    .parse()
                    .map_err(|it| anyhow::format_err!("the folder's name `{folder}` {it}"))
                    .hint(
                        "give the project a name of its own: `--project-name memcached-operator`",
                    )?
            }
        };
        if root.read(&Project::path())?.is_some() {
            return Err(anyhow::format_err!("there is a project here already: PROJECT"))
                .hint("choose an empty folder, or go on with `operator-rs create api`");
        }
        let project = Project::new(name, self.domain, false, env!("CARGO_PKG_VERSION"));
        let context = Context { project_name: &project.name, domain: &project.domain };
        let mut plan = scaffold::scaffold(&["init"], &context)?;
        plan.scaffold(Project::path(), project.text().to_owned());
        Ok(plan)
    }
}
