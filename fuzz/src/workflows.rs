//! Workflows, expressions and transformations (`flowmine-transform`).

use flowmine_transform::algebra::{Collisions, Composition, NoContents};
use flowmine_transform::jx::{Evaluator, Scope, parse};
use flowmine_transform::workflow::{Files, Workflow};

use crate::{BETWEEN, Seeds, choice, from, reached};

const ENGINES: &str = "crates/extract-workflow/tests/fixtures";

/// What the first byte chooses: what a reader is called here, and a file that is read by it.
const KINDS: [(&str, &str); 7] = [
    ("Makeflow's language", "flow.makeflow"),
    ("JX", "flow.jx"),
    ("Makeflow's JSON", "flow.json"),
    ("Snakefile", "Snakefile"),
    ("Slurm script", "job.sh"),
    ("list of tasks", "tasks.json"),
    ("list of commands", "commands.txt"),
];

/// See [`workflows`].
pub const SEEDS: &[Seeds] = &[
    from(b"\0", ENGINES, ".makeflow"),
    from(b"\x01", ENGINES, ".jx"),
    from(b"\x02", "crates/extract-workflow/tests/fixtures/makeflow", "words.json"),
    from(b"\x03", "crates/extract-workflow/tests/fixtures/snakemake", "Snakefile.words"),
    from(b"\x03", "crates/extract-workflow/tests/fixtures/snakemake", "Snakefile.failures"),
    from(b"\x03", "crates/extract-workflow/tests/fixtures/snakemake", "Snakefile.checkpoint"),
    from(b"\x03", "crates/extract-workflow/tests/fixtures/snakemake", "Snakefile.pair"),
    from(b"\x04", "fixtures/scenario", ".sh"),
    from(b"\x04", "fuzz/seeds", "job.sh"),
    from(b"\x05", "fuzz/seeds", "tasks.json"),
    from(b"\x06", "tests/workflows", ".tsv"),
    from(b"\x06", "fuzz/seeds", "commands.txt"),
];

/// See [`layers`].
pub const LAYER_SEEDS: &[Seeds] = &[
    from(b"\0", "crates/transform/src/builtin", ".jx"),
    from(b"\x01", "crates/transform/src/builtin", ".jx"),
    from(b"\x01", "crates/extract-workflow/tests/fixtures/makeflow", ".jx"),
    from(b"\x01", "fuzz/seeds", "expressions.jx"),
];

/// The files that a workflow names: each has the text of the second file of the input.
struct Other<'a>(&'a [u8]);

impl Files for Other<'_> {
    fn text(&self, _: &str) -> std::io::Result<String> {
        String::from_utf8(self.0.to_vec()).map_err(std::io::Error::other)
    }
}

/// Reads a workflow and wraps its tasks: in nothing, and in a layer that comes with flowmine.
pub fn workflows(bytes: &[u8]) {
    let (first, bytes) = choice(bytes);
    let mut parts = bytes.splitn(2, |byte| *byte == BETWEEN);
    let (text, other) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let (reader, name) = KINDS[usize::from(first) % KINDS.len()];
    let Ok(workflow) = Workflow::read(name, text, &Other(other)) else { return };
    reached(true, reader);
    for layer in ["failure", "sandbox"] {
        let source = flowmine_transform::builtin::text(layer).unwrap_or_default();
        let Ok(what) = Composition::read(&format!("{layer}.jx"), source, None, &[]) else { panic!("{layer} cannot be read") };
        for how in [Collisions::Refuse, Collisions::Remap] {
            let Ok(plan) = workflow.transform(&what, &[], how, &NoContents) else { continue };
            for task in 0..plan.tasks.len().min(100) {
                plan.scripts(task);
            }
        }
    }
}

const TASKS: &[u8] = br#"[{"command": "sort a > b", "inputs": ["a"], "outputs": ["b"]}, {"command": "wc b", "inputs": ["b"]}]"#;

/// A transformation, applied to two tasks; or an expression.
pub fn layers(bytes: &[u8]) {
    let (first, bytes) = choice(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if first & 1 == 1 {
        let Ok(mut program) = parse(text) else { return };
        let result = program.result.take();
        let Ok(evaluator) = Evaluator::new(program.definitions) else { return };
        let Some(Ok(value)) = result.map(|expr| evaluator.eval(&expr, &Scope::default())) else { return };
        reached(true, "expressions of JX");
        let json = value.to_json();
        // What was evaluated is a text of the language, and means the same.
        let Ok(again) = parse(&json) else { panic!("{json}") };
        assert!(again.result.is_some());
        return;
    }
    let Ok(what) = Composition::read("layer.jx", text, None, &[]) else { return };
    let Ok(workflow) = Workflow::read("tasks.json", TASKS, &Other(b"")) else { panic!("the tasks cannot be read") };
    let Ok(plan) = workflow.transform(&what, &[], Collisions::Remap, &NoContents) else { return };
    reached(true, "transformations");
    for task in 0..plan.tasks.len() {
        plan.scripts(task);
    }
}
