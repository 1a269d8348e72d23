//! However a run ends, no process and no folder of it is left.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crdproof_envtest::local::{Binaries, Local};
use libtest_mimic::{Completion, Failed};

use crate::support::{block, check, describe};

/// Starts the tool.
pub(crate) fn tool(arguments: &[&str]) -> Result<Child, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.spawn()?)
}

/// Starts the tool with these binaries and a long-running command.
fn start_long_run(binaries: &Binaries) -> Result<Child, Failed> {
    let flags = flags(binaries)?;
    tool(&[&flags.iter().map(String::as_str).collect::<Vec<_>>(), &["sleep", "317"][..]].concat())
}

/// The arguments that run a command with these binaries.
fn flags(binaries: &Binaries) -> Result<Vec<String>, Failed> {
    let assets = binaries.apiserver.parent().unwrap_or(Path::new("/")).display().to_string();
    Ok(["env", "run", &release(binaries)?, "--offline", "--assets", &assets, "--"].map(str::to_owned).to_vec())
}

/// The release of these binaries.
pub(crate) fn release(binaries: &Binaries) -> Result<String, Failed> {
    let said = Command::new(&binaries.apiserver).arg("--version").output()?.stdout;
    Ok(String::from_utf8_lossy(&said).trim().replace("Kubernetes v", ""))
}

/// Calls a condition until it returns a value; `None` at the deadline.
pub(crate) fn within<T>(time: Duration, mut condition: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + time;
    loop {
        if let Some(value) = condition() {
            return Some(value);
        }
        if Instant::now() > end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal to one process.
pub(crate) fn signal(name: &str, process: u32) -> Result<(), Failed> {
    let sent = Command::new("sh").args(["-c", &format!("kill -s {name} {process}")]).status()?;
    check(sent.success(), format!("no {name} for {process}"))
}

/// Command lines of processes that carry the mark of a run of this process.
fn processes(owner: u32) -> Vec<String> {
    let mark = format!("-{owner}-");
    let listed = Command::new("ps").args(["-A", "-o", "stat=,args="]).output().map(|output| output.stdout);
    let listed = String::from_utf8_lossy(&listed.unwrap_or_default()).into_owned();
    let of_run = |line: &&str| line.contains("/crdproof-") && line.contains(&mark) && !line.starts_with('Z');
    listed.lines().filter(of_run).map(str::to_owned).collect()
}

/// Folders that carry the mark of a run of this process.
fn folders(owner: u32) -> Vec<String> {
    let mark = format!("-{owner}-");
    let parents = [Path::new("/dev/shm").to_owned(), std::env::temp_dir()];
    let entries = parents.iter().flat_map(|parent| std::fs::read_dir(parent).into_iter().flatten().flatten());
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("crdproof-") && name.contains(&mark)).collect()
}

pub(crate) fn nothing_is_left(owner: u32) -> Result<(), Failed> {
    let gone =
        within(Duration::from_secs(20), || (processes(owner).is_empty() && folders(owner).is_empty()).then_some(()));
    check(gone.is_some(), format!("left: {:?} {:?}", processes(owner), folders(owner)))
}

/// The progress of a run at which it is ended.
#[derive(Debug, Clone, Copy)]
enum Stage {
    /// The first component runs.
    Starting,
    /// The command runs beside the server.
    Working,
}

impl Stage {
    fn is_reached(self, owner: u32) -> bool {
        match self {
            Self::Starting => !processes(owner).is_empty(),
            Self::Working => {
                let children = Command::new("ps").args(["--ppid", &owner.to_string(), "-o", "args="]).output();
                children.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("sleep 317"))
            }
        }
    }
}

/// Ends the tool with a signal at a stage, and asserts that nothing is left.
fn ended_by(name: &str, binaries: &Binaries, stage: Stage) -> Result<(), Failed> {
    let mut tool = start_long_run(binaries)?;
    let owner = tool.id();
    // A start that loses its port to another program starts again in another folder, so check both conditions together.
    let reached = || (stage.is_reached(owner) && !folders(owner).is_empty()).then_some(());
    let reached = within(Duration::from_secs(60), reached);
    check(reached.is_some(), format!("{stage:?} is never reached; these run: {:?}", processes(owner)))?;
    signal(name, owner)?;
    let status = tool.wait()?;
    if name != "KILL" {
        check(status.code() == Some(6), format!("{name}: ended with {status}"))?;
    }
    nothing_is_left(owner)
}

pub(crate) fn nothing_is_left_after_signals(binaries: &Binaries) -> Result<(), Failed> {
    for name in ["KILL", "INT", "TERM"] {
        for stage in [Stage::Starting, Stage::Working] {
            ended_by(name, binaries, stage)?;
        }
    }
    Ok(())
}

pub(crate) fn nothing_is_left_after_a_panic(binaries: &Binaries) -> Result<(), Failed> {
    let seen = std::sync::Mutex::new(None);
    let ended = std::panic::catch_unwind(|| {
        block(async {
            let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
            if let Ok(mut seen) = seen.lock() {
                *seen = Some(server.folder().to_owned());
            }
            // Unwinds like a panic, without printing its message.
            std::panic::resume_unwind(Box::new("planned"));
            #[expect(unreachable_code, reason = "says what the block would give")]
            Ok::<_, Failed>(())
        })
    });
    check(ended.is_err(), "there was no panic")?;
    let folder = seen.into_inner().unwrap_or_default().ok_or("the server did not start")?;
    check(!folder.exists(), format!("{} is left", folder.display()))?;
    let named = folder.display().to_string();
    let running = || processes(std::process::id()).into_iter().filter(|line| line.contains(&named)).count();
    check(within(Duration::from_secs(10), || (running() == 0).then_some(())).is_some(), "processes are left")
}

pub(crate) fn two_tools_share_a_cache(binaries: &Binaries) -> Result<(), Failed> {
    let flags = flags(binaries)?;
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
        command.args(&flags).args(["sh", "-c"]);
        command.arg("test -s \"$KUBECONFIG\" && echo $KUBECONFIG").stderr(Stdio::piped()).stdout(Stdio::piped()).spawn()
    };
    let (first, second) = (run()?.wait_with_output(), run()?.wait_with_output());
    let mut folders = Vec::new();
    for output in [first?, second?] {
        check(output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())?;
        folders.push(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    check(folders[0] != folders[1], format!("both ran in {}", folders[0]))
}

pub(crate) fn eight_servers_start_in_parallel(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let starts = (0..8).map(|_| {
            let builder = Local::builder(binaries.clone()).deadline(Duration::from_secs(180));
            tokio::spawn(builder.start())
        });
        let mut servers = Vec::new();
        for start in starts.collect::<Vec<_>>() {
            servers.push(start.await?.map_err(|error| describe(&error))?);
        }
        let mut urls: Vec<_> = servers.iter().map(|server| server.url().to_owned()).collect();
        urls.sort_unstable();
        urls.dedup();
        check(urls.len() == 8, format!("only {urls:?}"))?;
        for server in &servers {
            server.api().get("/version").await?.ok()?;
        }
        Ok(())
    })
}

/// Mounts a file system of 4 MB, which etcd fills at once. Mounting needs permissions that not every user has.
pub(crate) fn etcd_on_a_full_disk_is_reported(binaries: &Binaries) -> Result<Completion, Failed> {
    let folder = tempfile::tempdir()?;
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(folder.path()).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        return Ok(Completion::ignored_with("a small file system cannot be mounted; run as root"));
    }
    let ended = block(Local::builder(binaries.clone()).below(folder.path()).start());
    let left = std::fs::read_dir(folder.path())?.count();
    Command::new("umount").arg(folder.path()).status()?;
    let error = ended.err().ok_or("a control plane started without space")?;
    check(error.help().contains("free some space"), describe(&error).message().unwrap_or_default())?;
    check(left == 0, format!("{left} folders are left"))?;
    Ok(Completion::Completed)
}
