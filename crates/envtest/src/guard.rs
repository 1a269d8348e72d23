//! Processes that end when this process ends, however it ends.
//!
//! A destructor does not run when a process is killed. So a small shell runs beside us, in a separate process group
//! that no Ctrl-C reaches, and reads from a pipe of which we hold the other end. The kernel closes that pipe when our
//! process ends; the shell then kills every process group that it was told about and removes its folder.
//!
//! A command starts suspended: it waits for a line from us, and gets it only after the shell knows its process group.
//! So a command never runs without a guard.
//!
//! A descendant may leave its process group, as daemons do. Every command has a mark in its environment, which its
//! descendants inherit; if `/proc` shows environments, the shell kills every process with its mark. It does not find a
//! descendant that left its group and cleared its environment, nor, without `/proc`, one that left its group.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Reads `hold ID` and `end ID` until our process ends, then runs the cleanup command, if any. A process that was just
/// killed may still create a file, so the folder is removed until it stays gone. The caller's `PATH` may lack `rm` and
/// `grep`, so the folders of system programs come after it.
const WATCH: &str = r#"
trap '' HUP INT TERM
PATH="$PATH:/usr/bin:/bin"
folder=$1
mark=$2
shift 2
held=
while read -r word id; do
  case $word in
    hold) held="$held $id" ;;
    end)
      kill -s KILL -- "-$id" 2>/dev/null
      rest=
      for other in $held; do [ "$other" = "$id" ] || rest="$rest $other"; done
      held=$rest ;;
  esac
done
for id in $held; do kill -s KILL -- "-$id" 2>/dev/null; done
tries=0
while [ $tries -lt 50 ]; do
  strays=$(grep -ls "CRDPROOF_GUARD=$mark" /proc/[0-9]*/environ 2>/dev/null)
  [ -n "$strays" ] || break
  for stray in $strays; do
    stray=${stray#/proc/}
    kill -s KILL "${stray%/environ}" 2>/dev/null
  done
  tries=$((tries + 1))
done
[ $# -eq 0 ] || "$@" </dev/null
tries=0
while [ -n "$folder" ] && [ -e "$folder" ] && [ $tries -lt 50 ]; do
  rm -rf -- "$folder" 2>/dev/null || sleep 0.1
  tries=$((tries + 1))
done
"#;

/// Waits for the line, then becomes the command. Exits without the line, because then our process died before sending
/// it.
const HOLD: &str = r#"read -r word || exit 125; exec "$@" </dev/null"#;

/// The same for a command that reads its input from us after the line.
const HOLD_OPEN: &str = r#"read -r word || exit 125; exec "$@""#;

/// The same for a command whose streams are merged and that reads nothing.
const HOLD_MERGED: &str = r#"read -r word || exit 125; exec "$@" </dev/null 2>&1"#;

/// The environment variable with the mark of a guard.
const MARK: &str = "CRDPROOF_GUARD";

/// Kills commands and removes a folder when it is dropped, or when our process dies.
#[derive(Debug)]
pub struct Guard {
    watch: Arc<Watch>,
}

/// The watching shell, and the pipe whose end tells it that our process ended.
#[derive(Debug)]
struct Watch {
    mark: String,
    shell: Mutex<Child>,
    lifeline: Mutex<Option<ChildStdin>>,
}

/// A command to start under a guard.
#[derive(Debug, Clone, Default)]
pub struct Spec {
    /// The program: a path, or a name on `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The working folder; our own by default.
    pub folder: Option<PathBuf>,
    /// Environment variables to set or remove.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// The target of its output.
    pub output: Output,
}

/// The target of a guarded command's output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Output {
    /// Discards the output.
    #[default]
    Null,
    /// Appends both streams to this file.
    File(PathBuf),
    /// Pipes standard error to us, which must be read; standard output goes to this file, or is discarded.
    PipedErrors(Option<PathBuf>),
    /// Pipes both streams to us, and its input from us.
    Pipes,
    /// Pipes both streams to us as one.
    Merged,
}

/// A command that runs under a guard.
#[derive(Debug)]
pub struct Guarded {
    child: Child,
    ended: Option<ExitStatus>,
    watch: Arc<Watch>,
}

impl Spec {
    /// A command without arguments.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into(), ..Self::default() }
    }

    /// Adds an argument.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    pub fn args<T: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), Some(value.into())));
        self
    }

    /// Sets the working folder.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets the target of its output.
    pub fn output(mut self, output: Output) -> Self {
        self.output = output;
        self
    }

    fn command(&self) -> io::Result<Command> {
        let mut command = Command::new("/bin/sh");
        let hold = match self.output {
            Output::Pipes => HOLD_OPEN,
            Output::Merged => HOLD_MERGED,
            Output::Null | Output::File(_) | Output::PipedErrors(_) => HOLD,
        };
        command.arg("-c").arg(hold).arg("held").arg(&self.program).args(&self.arguments).stdin(Stdio::piped());
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        match &self.output {
            Output::Null => command.stdout(Stdio::null()).stderr(Stdio::null()),
            Output::Pipes => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
            Output::Merged => command.stdout(Stdio::piped()).stderr(Stdio::null()),
            Output::PipedErrors(None) => command.stdout(Stdio::null()).stderr(Stdio::piped()),
            Output::PipedErrors(Some(path)) => command.stdout(std::fs::File::create(path)?).stderr(Stdio::piped()),
            Output::File(path) => {
                let file = std::fs::File::options().create(true).append(true).open(path)?;
                command.stdout(file.try_clone()?).stderr(file)
            }
        };
        Ok(own_group(command))
    }
}

impl Guard {
    /// Starts the watching shell. Removes the folder, if any, when the guard is dropped or our process dies; its path
    /// must be absolute.
    pub fn new(folder: Option<&Path>) -> io::Result<Self> {
        Self::with_cleanup(folder, &[])
    }

    /// Does the same, and runs a command at the end, after all processes are killed and before the folder is removed:
    /// for resources outside of our process groups, such as containers.
    pub fn with_cleanup(folder: Option<&Path>, cleanup: &[OsString]) -> io::Result<Self> {
        if let Some(folder) = folder.filter(|folder| !folder.is_absolute() || folder.parent().is_none()) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{} is not a folder to be removed: an absolute path is needed", folder.display()),
            ));
        }
        let mark = unique_mark();
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(WATCH).arg("watch").arg(folder.map_or(OsStr::new(""), Path::as_os_str)).arg(&mark);
        // An outer guard would kill a process with its mark before it has cleaned up.
        command.args(cleanup).env_remove(MARK);
        command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut shell = own_group(command).spawn()?;
        let lifeline = Mutex::new(shell.stdin.take());
        Ok(Self { watch: Arc::new(Watch { mark, shell: Mutex::new(shell), lifeline }) })
    }

    /// Starts a command. A program that does not exist shows as exit code 127.
    pub fn spawn(&self, spec: &Spec) -> io::Result<Guarded> {
        let mut child = spec.command()?.env(MARK, &self.watch.mark).spawn()?;
        let mut word = child.stdin.take();
        let registered = self.watch.send("hold", child.id());
        let released = registered.and_then(|()| word.as_mut().map_or(Ok(()), |word| word.write_all(b"go\n")));
        match released {
            Ok(()) => {
                child.stdin = word.filter(|_| spec.output == Output::Pipes);
                Ok(Guarded { child, ended: None, watch: Arc::clone(&self.watch) })
            }
            Err(error) => {
                // It is still suspended, so the closed pipe ends it.
                drop(word);
                let _ = child.wait();
                Err(error)
            }
        }
    }
}

impl Watch {
    fn send(&self, word: &str, id: u32) -> io::Result<()> {
        let mut lifeline = self.lifeline.lock().unwrap_or_else(PoisonError::into_inner);
        match lifeline.as_mut() {
            Some(pipe) => pipe.write_all(format!("{word} {id}\n").as_bytes()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Closes the pipe and waits until the shell has finished.
    fn end(&self) {
        self.lifeline.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = self.shell.lock().unwrap_or_else(PoisonError::into_inner).wait();
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.watch.end();
    }
}

impl Guarded {
    /// Its process id, which is also the id of its process group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Takes the pipe of its standard error, if it was requested.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Takes the pipe of its standard output, if it was requested.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Takes the pipes of its input, output and errors, if they were requested.
    pub fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        Some((self.child.stdin.take()?, self.child.stdout.take()?, self.child.stderr.take()?))
    }

    /// Returns its exit status, if it has ended.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none()
            && let Some(status) = self.child.try_wait()?
        {
            self.note(status);
        }
        Ok(self.ended)
    }

    /// Waits until it ends.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended {
            return Ok(status);
        }
        let status = self.child.wait()?;
        self.note(status);
        Ok(status)
    }

    /// Kills it and its descendants.
    pub fn kill(&mut self) -> io::Result<()> {
        if self.ended.is_some() {
            return Ok(());
        }
        // The shell kills the group; if the shell is gone, kill at least the command.
        if self.watch.send("end", self.child.id()).is_err() {
            self.child.kill()?;
        }
        self.wait().map(drop)
    }

    /// Ends its leftover processes at once, because another process may get its id later.
    fn note(&mut self, status: ExitStatus) {
        self.ended = Some(status);
        let _ = self.watch.send("end", self.child.id());
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// Returns a mark that no other guard on this machine has.
fn unique_mark() -> String {
    static GUARDS: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{}-{}-{now}.", std::process::id(), GUARDS.fetch_add(1, Ordering::Relaxed))
}

#[cfg(unix)]
fn own_group(mut command: Command) -> Command {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
    command
}

#[cfg(not(unix))]
fn own_group(command: Command) -> Command {
    command
}

#[cfg(all(test, unix))]
mod tests;
