//! Slurm's submission chains and Snakefiles, without the engines: what is found in them, what comes
//! out, and what is said of the rest. (With the engines: `tests/integration/layers.rs` of the
//! workspace.)

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::collections::BTreeMap;

use flowmine_transform::algebra::{Collisions, Composition, NoContents};
use flowmine_transform::workflow::{Files, Workflow};
use proptest::prelude::*;

struct InMemory(BTreeMap<&'static str, &'static str>);

impl Files for InMemory {
    fn text(&self, name: &str) -> std::io::Result<String> {
        self.0.get(name).map(|text| (*text).to_owned()).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

const ALIGN: &str = "#!/bin/bash -l\n# Copyright\n#SBATCH --job-name=align\n#SBATCH -c 4 --mem=2G\n#SBATCH -t 1:30:00\n#FLOWMINE inputs in.fa \"two words\"\n#FLOWMINE outputs out.bam\n\nalign in.fa\n#SBATCH --mem=9G\n";
const SORT: &str = "#!/bin/sh\nsort out.bam >\"$1\"\n";

fn files() -> InMemory {
    InMemory(BTreeMap::from([
        ("align.sh", ALIGN),
        ("jobs/sort.sh", SORT),
        ("rules/more.smk", "rule count:\n    output: 'c'\n    shell:\n        'wc -l {input} >{output}'\n"),
    ]))
}

fn layer(text: &str) -> Composition {
    Composition::read("layer.jx", text, None, &[]).unwrap()
}

fn told(flow: &Workflow) -> Vec<String> {
    let one = |entry: &flowmine_transform::workflow::Entry| {
        let parts = &entry.task.parts;
        format!("{} {} {:?} {}", entry.task.name, entry.category.as_deref().unwrap_or("-"), entry.after, parts.command.cmd)
    };
    flow.tasks.iter().map(one).collect()
}

#[test]
fn a_chain_as_people_write_it() {
    let text = "#!/bin/bash\nset -e\njid1=$(sbatch --parsable align.sh \"a b\" 7)   # first\njid2=`sbatch -p debug --dependency=afterok:$jid1 jobs/sort.sh out | cut -d ' ' -f 4`\n\
        for n in 1 2; do\n  sbatch -d afterany:${jid1},afterok:${jid2##* } \\\n    align.sh $n \"$(date)\"\ndone\nsbatch --mem=1G --wrap='echo \"done\" >end' -J last\n";
    let flow = Workflow::read("submit.sh", text.as_bytes(), &files()).unwrap();
    assert_eq!(
        told(&flow),
        [
            "line 3 align [] exec /bin/bash -l ./align.sh 'a b' 7",
            "line 4 sort [0] exec /bin/sh jobs/sort.sh out",
            "line 6 align [0, 1] eval \"set -- ${FLOWMINE_ARGS?a layer does not hand the arguments of the job down}\"; unset FLOWMINE_ARGS; exec /bin/bash -l ./align.sh \"$@\"",
            "line 9 last [] echo \"done\" >end",
        ]
    );
    assert_eq!(flow.notes, []);
    let first = &flow.tasks[0].task.parts;
    let resources: Vec<_> = first.resources.iter().map(|(kind, n)| (kind.as_str(), *n)).collect();
    assert_eq!(resources, [("cores", 4), ("memory", 2048), ("wall-time", 5400)]);
    assert_eq!(first.inputs.iter().map(|f| f.outer.as_str()).collect::<Vec<_>>(), ["align.sh", "in.fa", "two words"]);
    assert_eq!(flow.tasks[3].task.parts.resources["memory"], 1024);

    let plan = flow.transform(&layer(r#"define more(T) {"resources": {"memory": 512}}"#), &[], Collisions::Refuse, &NoContents).unwrap();
    let name = |n: usize| format!(".t_{}.sbatch", plan.tasks[n].1.last().unwrap().id);
    let expected = text
        .replace("--parsable align.sh", &format!("--parsable --mem=2560M {}", name(0)))
        .replace("jobs/sort.sh out", &format!("{} out", name(1)))
        .replace("    align.sh $n", &format!("    --mem=2560M {} $n", name(2)))
        .replace("--wrap='echo \"done\" >end' -J last", &format!(" -J last --mem=1536M {}", name(3)));
    assert_eq!(plan.workflow, expected);
    let job = |n: usize| &plan.files.iter().find(|file| file.name == name(n)).unwrap().text;
    let outermost = |n: usize| plan.tasks[n].1.last().unwrap().script();
    assert_eq!(
        *job(0),
        format!(
            "#!/bin/sh\n#SBATCH --job-name=align\n#SBATCH -c 4 --mem=2G\n#SBATCH -t 1:30:00\n# flowmine transform\n{{\nexec ./{}\n}}\n",
            outermost(0)
        )
    );
    assert!(job(1).contains("#SBATCH --job-name=\"sort.sh\"\n"), "a job is called after its script");
    assert!(job(2).contains("export FLOWMINE_ARGS"));
    assert!(
        plan.scripts(0)[0].text.contains("fm_record=.t_") && plan.scripts(0)[0].text.contains("${FLOWMINE_TASK:+.$FLOWMINE_TASK}.record")
    );
}

/// Most chains that people publish name their job scripts through variables.
#[test]
fn job_scripts_in_variables() {
    let text = "#!/bin/bash\nHERE=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"\nJOBS=\"$HERE/jobs\"   # here\nMEM=4G\nDIR=$1\nSET=a\n\
        id=$(sbatch --parsable --mem=\"$MEM\" -t \"$T\" \"${JOBS}/sort.sh\" x)\ndep=\nif [ -n \"$id\" ]; then dep=\"--dependency=afterok:$id\"; fi\nenv A=1 B=\"$x\" sbatch $dep -A \"${ACCOUNT}\" $HERE/align.sh\nsbatch \"$DIR/align.sh\" 7\nfor SET in 1 2; do sbatch $SET; done\n";
    let flow = Workflow::read("submit.sh", text.as_bytes(), &files()).unwrap();
    assert_eq!(told(&flow), ["line 7 sort [] exec /bin/sh jobs/sort.sh x", "line 10 align [] exec /bin/bash -l ./align.sh"]);
    assert!(!flow.tasks[0].task.parts.resources.contains_key("memory"), "its amount is known when it runs only");
    let places: Vec<String> = flow.notes.iter().map(|note| note.at.to_string()).collect();
    assert_eq!(places, ["11:1", "12:20"]);
    let plan = flow.transform(&layer("define a(T) {}"), &[], Collisions::Refuse, &NoContents).unwrap();
    let name = |n: usize| format!(".t_{}.sbatch", plan.tasks[n].1.last().unwrap().id);
    assert_eq!(plan.workflow, text.replace("\"${JOBS}/sort.sh\"", &name(0)).replace("$HERE/align.sh", &name(1)));
}

#[test]
fn a_job_script_alone() {
    let flow = Workflow::read("dir/align.sh", ALIGN.as_bytes(), &files()).unwrap();
    let plan = flow
        .transform(&layer(r#"define more(T) {"resources": {"cores": 8}}"#), &["align".to_owned()], Collisions::Refuse, &NoContents)
        .unwrap();
    assert!(
        plan.workflow.starts_with(
            "#!/bin/sh\n#SBATCH --job-name=align\n#SBATCH -c 4 --mem=2G\n#SBATCH -t 1:30:00\n#SBATCH --cpus-per-task=8\n# flow"
        ),
        "{}",
        plan.workflow
    );
    assert!(plan.workflow.ends_with(&format!("exec ./{}\n}}\n", plan.tasks[0].1[1].script())));
}

#[test]
fn what_cannot_be_told_is_said_with_its_place() {
    let text = "#!/bin/sh\nsbatch align.sh\nsbatch $JOB\nsbatch <<EOF\n#!/bin/sh\nsbatch inner\nEOF\nS=\"sbatch --parsable\"\n$S align.sh\nsbatch --wrap=\"run $x\"\necho sbatch failed # sbatch\n";
    let flow = Workflow::read("submit.sh", text.as_bytes(), &files()).unwrap();
    let notes: Vec<String> = flow.notes.iter().map(|note| format!("{}: {}", note.at, note.message)).collect();
    assert_eq!(
        notes,
        [
            "3:1: this sbatch stays as it is: what it submits is known only when it runs",
            "4:1: this sbatch stays as it is: it reads the job script from its input",
            "10:1: this sbatch stays as it is: the command that it wraps is known only when it runs",
            "9:1: this sbatch stays as it is: its name is in a variable, write it out",
            "6:1: this sbatch is no command here, and stays as it is",
            "8:4: this sbatch is no command here, and stays as it is",
        ]
    );
    for (text, fault) in [
        ("#!/bin/sh\nsbatch nowhere.sh\n", "s.sh:2:1: the job script “nowhere.sh” cannot be read"),
        ("#!/bin/sh\nsbatch $x\n", "s.sh:2:1: no sbatch of this script can be determined"),
        ("#!/bin/sh\n#SBATCH -n 1\n#FLOWMINE outputs $x\n", "s.sh:3:1: a declared file has a name without variables"),
        ("#!/bin/sh\n#SBATCH -n 1\n#FLOWMINE output x\n", "s.sh:3:1: it is #FLOWMINE inputs"),
    ] {
        let error = Workflow::read("s.sh", text.as_bytes(), &files()).err().unwrap().to_string();
        assert!(error.starts_with(fault), "{error}");
    }
    let sandbox = layer(flowmine_transform::builtin::text("sandbox").unwrap());
    let flow = Workflow::read("s.sh", b"#!/bin/sh\nsbatch jobs/sort.sh\n", &files()).unwrap();
    let error = flow.transform(&sandbox, &[], Collisions::Refuse, &NoContents).err().unwrap().to_string();
    assert!(
        error.starts_with("s.sh:2:1: line 2 cannot run in a directory of its own (sandbox), because its files are not declared: declare"),
        "{error}"
    );
}

#[test]
fn rules_of_a_snakefile() {
    let text = "workdir: 'w'\ninclude: \"rules/more.smk\"\ninclude: config['x']\nrule all:\n    input: 'x'\n\nrule align:\n    input: \"a\"\n    output: \"b\"\n    shell: \"\"\"\nrule no:\n    shell: 'x'\n    \"\"\"\n\
        rule python:\n    run:\n        shell('x')\nrule:\n    shell: 'y'\nif True:\n    rule inner:\n        shell:\n            # about\n            f'é\\'z'\nrule shadowed:\n    shadow: 'minimal'\n    shell: 'q'\n";
    let flow = Workflow::read("w/Snakefile", text.as_bytes(), &files()).unwrap();
    assert_eq!(flow.tasks.iter().map(|entry| entry.task.name.as_str()).collect::<Vec<_>>(), ["rule count", "rule align", "rule inner"]);
    let notes: Vec<String> = flow.notes.iter().map(|note| format!("{}: {}", note.at, note.message)).collect();
    assert_eq!(
        notes,
        [
            "1:1: the workflow goes into another directory, where the scripts of the layers have to lie",
            "3:1: which file is included is known only when it runs; its rules stay as they are",
            "14:1: the rule python stays as it is: it has no shell command but Python",
            "17:1: the rule  stays as it is: it has no name",
            "24:1: the rule shadowed stays as it is: it runs in a shadow directory, where the layers are not",
        ]
    );
    let plan = flow.transform(&layer("define a(T) {}"), &["align".to_owned()], Collisions::Refuse, &NoContents).unwrap();
    let program = format!("t_{}.shell/bash", plan.tasks[1].1[1].id);
    assert!(
        plan.workflow.starts_with(text.trim_end()) && plan.workflow.contains(&format!("    \"align\": \"{program}\",\n")),
        "{}",
        plan.workflow
    );
    assert_eq!(plan.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), [&program]);
    assert!(plan.files[0].text.ends_with(&format!("exec ./{}\n}}\n", plan.tasks[1].1[1].script())));
}

/// Jobs of a group need the same resource: what joins them is refused, a rule with a group stays.
#[test]
fn rules_that_layers_would_break() {
    for (text, why) in [
        ("rule a:\n    output: pipe('p')\n    shell: 'x'\n", "Snakefile:2:5: pipe() joins jobs to a group"),
        ("P = service ( 'p' )\nrule a:\n    output: P\n    shell: 'x'\n", "Snakefile:1:1: service() joins jobs"),
    ] {
        let refused = Workflow::read("Snakefile", text.as_bytes(), &files()).err().unwrap().to_string();
        assert!(refused.starts_with(why), "{refused}");
    }
    let text = "rule a:\n    output: 'p'\n    # pipe(x)\n    shell: 'pipe(1)'\nrule b:\n    group: 'g'\n    shell: 'x'\nrule c:\n    resources: shell_exec='/bin/sh'\n    shell: 'x'\n";
    let flow = Workflow::read("Snakefile", text.as_bytes(), &files()).unwrap();
    assert_eq!(flow.tasks.len(), 1);
    let notes: Vec<&str> = flow.notes.iter().map(|note| note.message.as_str()).collect();
    assert_eq!(
        notes,
        [
            "the rule b stays as it is: jobs of a group need the same shell_exec",
            "the rule c stays as it is: it names a shell of its own (shell_exec)"
        ]
    );
}

/// What sbatch reads of a job script and flowmine does not.
#[test]
fn job_scripts_that_are_not_understood() {
    for (line, why) in [
        ("#PBS -N x", "sbatch reads this line #PBS too"),
        ("#SBATCH hetjob", "a job of several components"),
        ("#SBATCH packjob", "a job of several"),
    ] {
        let text = format!("#!/bin/sh\n#SBATCH -n 1\n{line}\n#SBATCH -n 2\ntrue\n");
        let refused = Workflow::read("job.sh", text.as_bytes(), &files()).err().unwrap().to_string();
        assert!(refused.starts_with("job.sh:3:1: ") && refused.contains(why), "{refused}");
    }
    let flow = Workflow::read("job.sh", b"#!/bin/sh\n#SBATCH -J \"a 'b\" --mem='2G' # -c 3\ntrue\n", &files()).unwrap();
    assert_eq!((flow.tasks[0].category.as_deref(), flow.tasks[0].task.parts.resources.len()), (Some("a 'b"), 1));
}

/// Files that include each other are read once each, as Snakemake reads them, and all that one workflow
/// names is bounded.
#[test]
fn a_workflow_that_names_files_without_end() {
    struct All(&'static str, std::cell::Cell<usize>);
    impl Files for All {
        fn text(&self, name: &str) -> std::io::Result<String> {
            self.1.set(self.1.get() + 1);
            Ok(self.0.replace("NAME", name.trim_end_matches(".smk")))
        }
    }
    let rule = "rule x:\n    output: 'q'\n    shell: 'echo > q'\n";
    let bomb = |line: &str| format!("{}{rule}", line.repeat(20));
    let same = All(bomb("include: './a.smk'\n").leak(), std::cell::Cell::new(0));
    let flow = Workflow::read("Snakefile", b"include: 'a.smk'\nrule a:\n    output: 'b'\n    shell: 'echo > b'\n", &same).unwrap();
    assert_eq!((flow.tasks.len(), same.1.get()), (2, 1));
    // Each includes another name.
    let grows = All(bomb("include: 'NAMEx.smk'\n").leak(), std::cell::Cell::new(0));
    let refused = Workflow::read("Snakefile", b"\n  include: 'a.smk'\n", &grows).err().unwrap().to_string();
    assert!(refused.starts_with("Snakefile:2:3: ") && refused.contains("more than 16 deep"), "{refused}");
    let wide: String = (0..20_000).map(|n| format!("include: 'f{n}.smk'\n")).collect();
    let refused = Workflow::read("Snakefile", wide.as_bytes(), &All("", std::cell::Cell::new(0))).err().unwrap().to_string();
    assert!(refused.starts_with("Snakefile:10001:1: the workflow names more than 10000 files"), "{refused}");
    let large = All(format!("# {}\n{rule}", "x".repeat(1 << 20)).leak(), std::cell::Cell::new(0));
    let refused = Workflow::read("Snakefile", wide.as_bytes(), &large).err().unwrap().to_string();
    assert!(refused.starts_with("Snakefile:64:1: the files that the workflow names have more than 64 MiB"), "{refused}");
    let calls = format!("#!/bin/sh\n{}", "sbatch job.sh\n".repeat(20_000));
    let refused = Workflow::read("s.sh", calls.as_bytes(), &All("#!/bin/sh\ntrue\n", std::cell::Cell::new(0))).err().unwrap().to_string();
    assert!(refused.starts_with("s.sh:10002:1: the workflow names more than"), "{refused}");
    let wrapped = format!("#!/bin/sh\n{}", "sbatch --wrap=true\n".repeat(200_000));
    let refused = Workflow::read("s.sh", wrapped.as_bytes(), &All("", std::cell::Cell::new(0))).err().unwrap().to_string();
    assert!(refused.contains("more than 100000 rules, calls of sbatch and notes"), "{refused}");
}

/// As published workflows have it: names that a file of arguments defines, commas at every end,
/// files as objects with a name.
#[test]
fn arguments_of_a_workflow_in_jx() {
    let text = br#"{ "define": { "N": 1 }, "rules": [ { "command": format("%s %d", EXE, x,), "inputs": [ EXE, {"name": "in"}, ], "outputs": [ format("o.%d", x) ], } for x in range(N), ], }"#;
    let arguments = [("args.jx".to_owned(), b"{ \"EXE\": \"./a\", # what runs\n \"N\": 2 }".to_vec())];
    let flow = Workflow::read_with("flow.jx", text, &files(), &arguments).unwrap();
    assert_eq!(told(&flow), ["rule 1 - [] ./a 0", "rule 2 - [] ./a 1"]);
    assert_eq!(flow.tasks[0].task.parts.inputs[1].outer, "in");
    let without = Workflow::read("flow.jx", text, &files()).err().unwrap().to_string();
    assert!(without.starts_with("flow.jx:1:65: "), "{without}");
    let odd = Workflow::read_with("flow.jx", text, &files(), &[("args.jx".to_owned(), b"[1]".to_vec())]).err().unwrap().to_string();
    assert!(odd.starts_with("args.jx:1:1: arguments are an object"), "{odd}");
}

/// A published workflow has it so; Makeflow says nothing.
#[test]
fn output_for_outputs_is_said() {
    let flow = Workflow::read("f.jx", b"{\"rules\": [{\"command\": \"x\",\n\"inputs\": [], \"output\": [\"a\"]}]}", &files()).unwrap();
    let notes: Vec<String> = flow.notes.iter().map(|note| format!("{}: {}", note.at, note.message)).collect();
    assert!(notes.len() == 1 && notes[0].starts_with("2:25: a rule has no “output” but “outputs”"), "{notes:?}");
}

/// A file that a layer adds has one name, and the jobs of an array, a loop or a rule are many.
#[test]
fn one_added_file_for_many_jobs_is_refused_or_remapped() {
    let adds = layer(r#"define log(T) {"command": {"cmd": "./" + T.script + " 2>log"}, "outputs": T.outputs + ["log"]}"#);
    let array = ALIGN.replace("#SBATCH -c 4", "#SBATCH --array=1-3 -c 4");
    let files = InMemory(BTreeMap::from([("align.sh", ALIGN), ("array.sh", &*array.clone().leak()), ("jobs/sort.sh", SORT)]));
    let text = |name: &str, text: &str| Workflow::read(name, text.as_bytes(), &files).unwrap();
    for (flow, why) in [
        (
            text("a.sh", &array),
            "1:1: static name collision: an array has a job for each index, and all jobs of job would make the output “log”",
        ),
        (text("s.sh", "#!/bin/sh\nsbatch array.sh\n"), "2:1: static name collision: an array has"),
        (text("s.sh", "#!/bin/sh\nsbatch -a 1-3 align.sh\n"), "2:1: static name collision: an array has"),
        (text("s.sh", "#!/bin/sh\nsbatch --array=\"1-$N\" align.sh\n"), "2:1: static name collision: an array has"),
        (text("s.sh", "#!/bin/sh\nfor n in 1 2; do\n  sbatch align.sh $n\ndone\n"), "3:3: static name collision: its sbatch is in a loop"),
        (
            text("s.sh", "#!/bin/sh\nf() {\n  if true; then sbatch align.sh; fi\n}\nf\n"),
            "3:17: static name collision: its sbatch is in a loop or a function",
        ),
        (
            text("Snakefile", "rule a:\n    output: '{x}'\n    shell: 'y'\n"),
            "1:1: static name collision: a rule of Snakemake has a job for each",
        ),
    ] {
        let error = flow.transform(&adds, &[], Collisions::Refuse, &NoContents).err().unwrap().to_string();
        assert!(error.contains(why), "{error}");
    }
    // Arrays by other ways: abbreviations, letters together, variables.
    for submits in [
        "sbatch --arr=1-2 align.sh",
        "sbatch --ar 1-2 align.sh",
        "sbatch '--arra=1-2' align.sh",
        "sbatch -Qa1-2 align.sh",
        "sbatch -HQa 1-2 align.sh",
        "sbatch --hol --arr=1-2 align.sh",
        "sbatch --ar=1-\"$N\" align.sh",
        "A=--arr=1-2; sbatch $A align.sh",
        "export SBATCH_ARRAY_INX=1-3; sbatch align.sh",
        "SBATCH_ARRAY_INX=1-3 sbatch align.sh",
        "env SBATCH_ARRAY_INX=1-3 sbatch align.sh",
        "sbatch short.sh",
    ] {
        let short = ALIGN.replace("#SBATCH -c 4", "#SBATCH --arr=1-3 -c 4");
        let files = InMemory(BTreeMap::from([("align.sh", ALIGN), ("short.sh", &*short.leak())]));
        let flow = Workflow::read("s.sh", format!("#!/bin/sh\n{submits}\n").as_bytes(), &files).unwrap();
        assert_eq!((flow.tasks.len(), &flow.notes), (1, &Vec::new()), "{submits}");
        let error = flow.transform(&adds, &[], Collisions::Refuse, &NoContents).err().unwrap().to_string();
        assert!(error.contains("static name collision: an array has"), "{submits}: {error}");
    }
    // What runs once is not refused: after a loop, in a group, in a condition.
    for once in [
        "for n in 1 2; do :; done; { sbatch align.sh; }",
        "if true; then sbatch align.sh; fi",
        "while false; do :; done\nid=$(sbatch align.sh)",
    ] {
        let flow = text("s.sh", &format!("#!/bin/sh\n{once}\n"));
        assert!(flow.transform(&adds, &[], Collisions::Refuse, &NoContents).is_ok(), "{once}");
    }
    let flow = text("s.sh", "#!/bin/sh\nsbatch array.sh\n");
    let plan = flow.transform(&adds, &[], Collisions::Remap, &NoContents).unwrap();
    let id = &plan.tasks[0].1[0].id;
    let outermost = &plan.scripts(0)[1].text;
    assert!(outermost.contains(&format!("fm_give log log.{id}\"${{FLOWMINE_TASK:+.$FLOWMINE_TASK}}\"\n")), "{outermost}");
    let undeclared = text("Snakefile", "rule a:\n    output: '{x}'\n    shell: 'y'\n");
    let error = undeclared.transform(&adds, &[], Collisions::Remap, &NoContents).err().unwrap().to_string();
    assert!(error.contains("its files are not declared"), "{error}");
}

proptest! {
    #[test]
    fn any_script_is_read_or_refused(text in "(sbatch|\\$\\(|[ -d'\"`\\\\(){}$;|&<>=#\\n]|align.sh|--wrap|EOF|é){0,40}") {
        let text = format!("#!/bin/sh\n{text}");
        if let Ok(flow) = Workflow::read("s.sh", text.as_bytes(), &files()) {
            let plan = flow.transform(&layer("define a(T) {}"), &[], Collisions::Refuse, &NoContents).unwrap();
            prop_assert!(!plan.workflow.is_empty());
        }
    }

    #[test]
    fn any_snakefile_is_read_or_refused(text in "(rule|shell:|include:|[ :a'\"\\\\#\\n\\t]|\"\"\"|é){0,40}") {
        let _ = Workflow::read("Snakefile", text.as_bytes(), &files());
    }
}
