//! The example operator: a separate crate, whose tests use the library as its authors would.

use crate::cli::repository;
use crate::nested_cargo::nested_cargo;

#[test]
fn the_tests_of_the_example_operator_pass() {
    let own = std::env::current_exe().unwrap();
    // Reuse the compiled dependencies: this test is <target>/debug/deps/offline-….
    let target = own.ancestors().nth(3).unwrap();
    let mut command = nested_cargo();
    command.args(["test", "--quiet", "--locked", "--test", "conversion", "--manifest-path"]);
    command.arg(repository().join("examples/operator/Cargo.toml")).env("CARGO_TARGET_DIR", target);
    let output = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("4 passed"), "{said}");
}
