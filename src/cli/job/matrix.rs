//! The fan-out for CI systems: one job for each shard, and one that merges their reports.

use super::{Work, yaml};
use crate::cli::args::job::{MatrixFormat, MatrixJobArgs};
use crate::run::quoted;

/// The merge, after the shards have written their reports into this folder.
const MERGE: &str =
    "crdproof report merge shards --report json=crdproof.json --report junit=crdproof.xml --report html=crdproof.html";

/// Returns the jobs of a CI system.
pub(super) fn matrix(args: &MatrixJobArgs, work: &Work) -> String {
    match args.format {
        MatrixFormat::Github => github(work),
        MatrixFormat::Gitlab => gitlab(work),
        MatrixFormat::Tekton => tekton(work, args.image.as_deref()),
    }
}

/// Returns the command of a shard for a shell, which has the number of the shard in a variable.
fn command(work: &Work, variable: &str) -> String {
    let index = format!("${variable}");
    let shard = format!("{index}/{}", work.shards);
    let quote = |argument: String| if argument == shard { format!("\"{shard}\"") } else { quoted(&argument) };
    let words: Vec<String> = work.run(&index).into_iter().map(quote).collect();
    format!("crdproof {} --report \"json=shards/{index}.json\"", words.join(" "))
}

fn github(work: &Work) -> String {
    let shards: Vec<String> = (1..=work.shards.get()).map(|shard| shard.to_string()).collect();
    format!(
        "# Jobs of a workflow, such as .github/workflows/crdproof.yml. The verdict is that of crdproof-merge.
jobs:
  crdproof:
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        shard: [{}]
    steps:
    - uses: actions/checkout@v5
    - name: Install crdproof
      run: {install}
    - name: Test a shard
      env:
        SHARD: ${{{{ matrix.shard }}}}
      run: {}
    - uses: actions/upload-artifact@v4
      with:
        name: crdproof-shard-${{{{ matrix.shard }}}}
        path: shards
  crdproof-merge:
    needs: crdproof
    # A shard that failed is named by the merge.
    if: ${{{{ !cancelled() }}}}
    runs-on: ubuntu-latest
    steps:
    - name: Install crdproof
      run: {install}
    - uses: actions/download-artifact@v5
      with: {{pattern: crdproof-shard-*, path: shards, merge-multiple: true}}
    - name: Merge
      run: {MERGE}
    - uses: actions/upload-artifact@v4
      if: always()
      with:
        name: crdproof
        path: crdproof.*
",
        shards.join(", "),
        yaml(&command(work, "SHARD")),
        install =
            yaml(&format!("{} && echo \"$HOME/.local/bin\" >> \"$GITHUB_PATH\"", install("\"$HOME/.local/bin\""))),
    )
}

fn gitlab(work: &Work) -> String {
    format!(
        "# Jobs of a pipeline, such as .gitlab-ci.yml. The verdict is that of crdproof-merge.
.crdproof:
  stage: test
  image: buildpack-deps:scm
  before_script:
  - {}
crdproof:
  extends: .crdproof
  parallel: {}
  script:
  - {}
  artifacts:
    when: always
    paths: [shards]
crdproof-merge:
  extends: .crdproof
  needs: [crdproof]
  # A shard that failed is named by the merge.
  when: always
  script:
  - {MERGE}
  artifacts:
    when: always
    paths: [crdproof.json, crdproof.html]
    reports: {{junit: crdproof.xml}}
",
        yaml(&install("/usr/local/bin")),
        work.shards,
        yaml(&command(work, "CI_NODE_INDEX")),
    )
}

fn tekton(work: &Work, image: Option<&str>) -> String {
    let own = format!("ghcr.io/crdproof/crdproof:{}", env!("CARGO_PKG_VERSION"));
    let image = yaml(image.unwrap_or(&own));
    let shards: Vec<String> = (1..=work.shards.get()).map(|shard| yaml(&shard.to_string())).collect();
    let index = "$(params.shard)";
    let own = format!("{index}/{}", work.shards);
    let literal = |argument: String| if argument == own { argument } else { argument.replace("$(", "$$(") };
    let run = work.run(index).into_iter().map(literal);
    let run: Vec<String> = run.chain(["--report".to_owned(), format!("json=shards/{index}.json")]).collect();
    let merge: Vec<String> = MERGE.split(' ').skip(1).map(str::to_owned).collect();
    let list = |arguments: &[String]| {
        arguments.iter().map(|argument| format!("\n        - {}", yaml(argument))).collect::<String>()
    };
    let step = |name: &str, arguments: &[String]| {
        format!(
            "      - name: {name}
        image: {image}
        workingDir: $(workspaces.source.path)
        args:{}
        securityContext:
          allowPrivilegeEscalation: false
          runAsNonRoot: true
          capabilities: {{drop: [ALL]}}
",
            list(arguments)
        )
    };
    format!(
        "# The workspace holds the repository of your operator; several pods write into it.
apiVersion: tekton.dev/v1
kind: Pipeline
metadata:
  name: crdproof
spec:
  workspaces:
  - name: source
  tasks:
  - name: shard
    matrix:
      params:
      - name: shard
        value: [{}]
    workspaces:
    - {{name: source, workspace: source}}
    taskSpec:
      params:
      - {{name: shard, type: string}}
      workspaces:
      - name: source
      steps:
{}  finally:
  # Its result is the verdict; a shard that failed is named.
  - name: merge
    workspaces:
    - {{name: source, workspace: source}}
    taskSpec:
      workspaces:
      - name: source
      steps:
{}",
        shards.join(", "),
        step("run", &run),
        step("merge", &merge),
    )
}

/// Returns the command that installs this release of crdproof into a folder.
fn install(folder: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "curl --fail --silent --show-error --location https://raw.githubusercontent.com/crdproof/crdproof/v{version}/kits/install \
         | CRDPROOF_VERSION={version} CRDPROOF_BIN={folder} sh"
    )
}
