//! Removing leftovers of runs whose guard was killed with them: containers, clusters, networks, folders, processes.

use std::path::Path;
use std::process::Command;

use super::existing::Access;
use super::run_id::{LABEL, PREFIX, RunId};
use super::{ClusterError, docker, existing, start};

/// The selection of leftovers to remove.
#[derive(Debug, Clone, Default)]
pub struct Sweep {
    /// True to include leftovers of runs that still live, or of other machines.
    pub all: bool,
    /// True to only list what would be removed.
    pub dry_run: bool,
    /// A cluster to sweep, too.
    pub cluster: Option<Access>,
}

impl Sweep {
    /// Removes leftovers and returns their names. Without Docker there are no containers to remove.
    pub async fn run(&self) -> Result<Vec<String>, ClusterError> {
        let mut swept = self.folders()?;
        if docker::check().is_ok() {
            swept.extend(self.containers()?);
        }
        if let Some(access) = &self.cluster {
            let access = Access { dry_run: self.dry_run, ..access.clone() };
            swept.extend(existing::sweep(&access, self.all).await?);
        }
        Ok(swept)
    }

    fn selects(&self, run: Option<RunId>) -> bool {
        run.is_some_and(|run| self.all || run.is_orphan())
    }

    /// Our containers carry our label, and nodes of kind clusters the name of their cluster.
    fn containers(&self) -> Result<Vec<String>, ClusterError> {
        let mut swept = Vec::new();
        let of_label = format!("{{{{.Names}}}} {{{{.Label \"{LABEL}\"}}}} {{{{.Label \"io.x-k8s.kind.cluster\"}}}}");
        let listed = docker::query(&["ps", "--all", "--format", &of_label])?;
        for line in listed.lines() {
            let mut words = line.split(' ');
            let (name, label, cluster) = (words.next().unwrap_or_default(), words.next(), words.next());
            let run = label.and_then(RunId::parse).or_else(|| RunId::of_name(cluster?));
            if self.selects(run) {
                self.remove(&["rm", "--force", "--volumes", name], &format!("container {name}"), &mut swept)?;
            }
        }
        let networks = docker::query(&["network", "ls", "--format", "{{.Name}}"])?;
        for name in networks.lines().filter(|name| self.selects(RunId::of_name(name))) {
            self.remove(&["network", "rm", name], &format!("network {name}"), &mut swept)?;
        }
        Ok(swept)
    }

    fn remove(&self, command: &[&str], what: &str, swept: &mut Vec<String>) -> Result<(), ClusterError> {
        if !self.dry_run {
            docker::query(command)?;
        }
        swept.push(what.to_owned());
        Ok(())
    }

    /// Folders of control planes, and the processes that run in them.
    fn folders(&self) -> Result<Vec<String>, ClusterError> {
        let mut swept = Vec::new();
        for parent in start::parents(None) {
            let entries = std::fs::read_dir(&parent).into_iter().flatten().flatten();
            for path in entries.map(|entry| entry.path()) {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if !name.starts_with(PREFIX) || !self.selects(RunId::of_name(&name)) {
                    continue;
                }
                for process in processes_in(&path) {
                    if !self.dry_run {
                        // It may have ended by itself.
                        let _ = Command::new("kill").args(["-s", "KILL", &process]).status();
                    }
                    swept.push(format!("process {process}"));
                }
                if !self.dry_run
                    && let Err(source) = std::fs::remove_dir_all(&path)
                    && source.kind() != std::io::ErrorKind::NotFound
                {
                    return Err(ClusterError::File { path, source });
                }
                swept.push(format!("folder {}", path.display()));
            }
        }
        Ok(swept)
    }
}

/// Processes whose command line names a folder, as those of a control plane do, or that work in it: k3s hides its
/// command line.
fn processes_in(folder: &Path) -> Vec<String> {
    let listed = Command::new("ps").args(["-A", "-o", "pid=,args="]).output().map(|output| output.stdout);
    let listed = listed.unwrap_or_default();
    let text = String::from_utf8_lossy(&listed);
    let named = format!("={}/", folder.display());
    let works_there = |process: &str| {
        // Only Linux shows the working folder of a process.
        std::fs::read_link(format!("/proc/{process}/cwd")).is_ok_and(|place| place.starts_with(folder))
    };
    let processes = text.lines().filter_map(|line| {
        let process = line.split_whitespace().next()?;
        (line.contains(&named) || works_there(process)).then(|| process.to_owned())
    });
    processes.collect()
}
