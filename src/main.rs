//! The `crdproof` command.

fn main() -> std::process::ExitCode {
    crdproof::main()
}
