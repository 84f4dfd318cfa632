use super::*;

/// A graph of processes, operators and points with their edges, in the form that Nextflow draws.
fn dot(nodes: &[(&str, &str, &str)], lines: &[(&str, &str)]) -> String {
    let attributes = |shape: &str, label: &str| match (shape, label) {
        ("process", label) => format!("[label=\"{label}\"]"),
        ("operator", label) => format!("[shape=circle,label=\"\",fixedsize=true,width=0.1,xlabel=\"{label}\"]"),
        (_, "") => "[shape=point,label=\"\",fixedsize=true,width=0.1]".to_owned(),
        (_, label) => format!("[shape=point,label=\"\",fixedsize=true,width=0.1,xlabel=\"{label}\"]"),
    };
    let nodes: String = nodes.iter().map(|(id, shape, label)| format!("{id} {};\n", attributes(shape, label))).collect();
    let lines: String = lines.iter().map(|(from, to)| format!("{from} -> {to} [label=\"ch\"];\n\n")).collect();
    format!("digraph \"dag\" {{\nrankdir=TB;\n{nodes}{lines}}}\n")
}

fn row(id: &str, process: &str, name: &str, status: &'static str) -> Row {
    Row {
        task_id: Some(id.to_owned().into()),
        logical_task: process.to_owned().into(),
        name: name.to_owned().into(),
        status: status.into(),
        ..Row::default()
    }
}

/// Puts the certain parents into the rows; returns the number of rows with additional parents.
fn put(graph: &Graph, rows: &mut [Row], run_of: &[Option<usize>], is_whole: bool, diagnostics: &mut Diagnostics) -> u64 {
    let known = Known { run_of, has_begin: &[true; 2], graph_files: &[], name: "dag.dot", is_whole };
    graph.certain(rows, &known, diagnostics).map_or(0, |certain| certain.put(rows))
}

/// Returns the column `parents` of completed tasks, which are named by number, after a graph was
/// applied.
fn parents(text: &str, tasks: &[&str]) -> (Vec<Option<String>>, Vec<&'static str>) {
    let mut rows: Vec<Row> = tasks
        .iter()
        .enumerate()
        .map(|(at, process)| row(&(at + 1).to_string(), process, &format!("{process} ({at})"), "completed"))
        .collect();
    let mut diagnostics = Diagnostics::default();
    let run_of = vec![Some(0); rows.len()];
    if let Some(graph) = read(text, &mut diagnostics).unwrap() {
        put(&graph, &mut rows, &run_of, true, &mut diagnostics);
    }
    (rows.into_iter().map(|row| row.parents.map(Into::into)).collect(), diagnostics.iter().map(|diagnostics| diagnostics.code).collect())
}

/// Samples pass through A and B; one index is made; all of B are collected.
fn samples() -> String {
    dot(
        &[
            ("v0", "point", "Channel.fromPath"),
            ("v1", "operator", "map"),
            ("v2", "process", "A"),
            ("v3", "process", "SUB:B"),
            ("v4", "process", "INDEX"),
            ("v5", "point", "channel.of"),
            ("v6", "operator", "mix"),
            ("v7", "operator", "collect"),
            ("v8", "process", "ALL"),
            ("v9", "process", "USE"),
        ],
        &[
            ("v0", "v1"),
            ("v1", "v2"),
            ("v2", "v3"),
            ("v4", "v3"),
            ("v5", "v4"),
            ("v3", "v6"),
            ("v4", "v6"),
            ("v6", "v7"),
            ("v7", "v8"),
            ("v4", "v9"),
        ],
    )
}

#[test]
fn what_is_certain() {
    let (told, diagnostics) = parents(&samples(), &["A", "A", "INDEX", "SUB:B", "SUB:B", "ALL", "USE", "USE"]);
    let told: Vec<Option<&str>> = told.iter().map(Option::as_deref).collect();
    let (none, index) = (Some("[]"), Some("[\"3\"]"));
    assert_eq!(told, [none, none, none, None, None, Some("[\"3\",\"4\",\"5\"]"), index, index]);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
}

#[test]
fn several_tasks_above_are_not_told_apart() {
    // It is not known which of two indices was used; the tasks that collected them waited for both.
    let (told, _) = parents(&samples(), &["A", "INDEX", "INDEX", "SUB:B", "ALL", "USE"]);
    assert_eq!((told[3].as_deref(), told[4].as_deref(), told[5].as_deref()), (None, Some("[\"2\",\"3\",\"4\"]"), None));
}

#[test]
fn what_was_tried_again_is_one_task() {
    let graph = read(&samples(), &mut Diagnostics::default()).unwrap().unwrap();
    let put = |status: &'static str| {
        let mut rows = [row("1", "INDEX", "INDEX", "failed"), row("2", "INDEX", "INDEX", status), row("3", "USE", "USE", "completed")];
        put(&graph, &mut rows, &[Some(0); 3], true, &mut Diagnostics::default());
        rows[2].parents.as_deref().map(str::to_owned)
    };
    assert_eq!(put("completed").as_deref(), Some("[\"2\"]"));
    assert_eq!(put("cached").as_deref(), Some("[\"2\"]"));
    for status in ["failed", "running", "unknown", "aborted"] {
        assert_eq!(put(status), None, "{status}");
    }
}

#[test]
fn what_has_no_name_can_be_an_output() {
    // For an operator this is always so, since older versions omit an input of `join`. For a
    // process it is so where an output seems to lead nowhere, as one to a topic does.
    let nodes = [("v0", "point", ""), ("v1", "operator", "join"), ("v2", "process", "A"), ("v3", "process", "B"), ("v4", "point", "")];
    let (told, _) = parents(&dot(&nodes, &[("v0", "v1"), ("v1", "v2"), ("v0", "v3")]), &["A", "B"]);
    assert_eq!(told, [None, Some("[]".to_owned())]);
    let (told, _) = parents(&dot(&nodes, &[("v0", "v3"), ("v2", "v4")]), &["A", "B"]);
    assert_eq!(told, [Some("[]".to_owned()), None]);
    // Versions of Nextflow that wrote `p` had no topics.
    let (told, _) = parents(&dot(&nodes, &[("v0", "v3"), ("v2", "v4")]).replace('v', "p"), &["A", "B"]);
    assert_eq!(told, [Some("[]".to_owned()), Some("[]".to_owned())]);
    let (told, _) = parents(&dot(&[("v0", "point", "Channel.watchPath"), ("v1", "process", "A")], &[("v0", "v1")]), &["A"]);
    assert_eq!(told, [None]);
}

#[test]
fn mermaid_shows_no_operators() {
    let text = "flowchart TB\n    subgraph \" \"\n    v0[\"Channel.fromPath\"]\n    end\n    v3([INDEX])\n    subgraph \"SUB [SUB]\"\n    v2([\"A\"])\n    v4([B])\n    end\n    v5(( ))\n    \
                v6([ALL])\n    v0 --> v2\n    v0 --> v3\n    v2 --> v4\n    v3 --> v4\n    v4 --> v5\n    v5 --> v6\n";
    let tasks = ["SUB:A", "INDEX", "SUB:B", "ALL"];
    let (told, diagnostics) = parents(text, &tasks);
    let expected = [Some("[]".to_owned()), Some("[]".to_owned()), Some("[\"1\",\"2\"]".to_owned()), None];
    assert_eq!((told, diagnostics), (expected.to_vec(), Vec::new()));
    let page = format!("<html>\n<pre class=\"mermaid\">\n%%{{\n  init: {{ }}\n}}%%\n{text}\n</pre>\n<script>\n</script>\n</html>\n");
    assert!(is_one(&page) && is_one(text));
    assert_eq!(parents(&page, &tasks).0, expected);
    let old = "flowchart TD\n    p0((Channel.fromPath))\n    p1([map])\n    p2[SUB:A]\n    p3(( ))\n    p4([collect])\n    p5[ALL]\n    p0 --> p1\n    p1 -->|in| p2\n    p2 --> p3\n    p2 --> p4\n    p4 --> p5\n";
    assert!(is_one(old));
    assert_eq!(parents(old, &["SUB:A", "SUB:A", "ALL"]).0, [Some("[]".into()), Some("[]".into()), Some("[\"1\",\"2\"]".into())]);
}

#[test]
fn cytoscape() {
    let text = format!(
        "<html>{CYTOSCAPE}\nelements: {{\nnodes: [\n{{ data: {{ id: 'p0', label: 'Channel.from'}}, classes: 'ORIGIN' }},\n{{ data: {{ id: 'p1', label: 'A'}}, classes: 'PROCESS' }},\n\
         {{ data: {{ id: 'p2', label: 'println'}}, classes: 'OPERATOR' }},\n],\nedges: [\n{{ data: {{ source: 'p0', target: 'p1', label: 'str' }} }},\n\
         {{ data: {{ source: 'p1', target: 'p2', label: 'result' }} }},\n],\n}},\n"
    );
    assert!(is_one(&text));
    assert_eq!(parents(&text, &["A"]).0, [Some("[]".to_owned())]);
}

#[test]
fn of_another_run_or_of_several() {
    let (told, diagnostics) = parents(&samples(), &["A", "OTHER"]);
    assert_eq!((told, diagnostics), (vec![None, None], vec!["graph_of_no_run"]));
    let graph = read(&samples(), &mut Diagnostics::default()).unwrap().unwrap();
    let mut rows = [row("1", "A", "A", "completed"), row("1", "A", "A", "cached")];
    let mut diagnostics = Diagnostics::default();
    assert_eq!(put(&graph, &mut rows, &[Some(0), Some(1)], true, &mut diagnostics), 0);
    assert_eq!(diagnostics.iter().map(|diagnostics| diagnostics.code).collect::<Vec<_>>(), ["graph_of_no_run"]);
    // Rows without a known run belong to no run, and where a task can be missing nothing is filled.
    assert_eq!(put(&graph, &mut rows, &[None, Some(1)], false, &mut Diagnostics::default()), 0);
    assert_eq!(put(&graph, &mut rows, &[None, Some(1)], true, &mut Diagnostics::default()), 1);
}

#[test]
fn work_directories_are_believed() {
    let graph = read(&samples(), &mut Diagnostics::default()).unwrap().unwrap();
    let mut rows = [row("1", "A", "A", "completed"), row("2", "SUB:B", "B", "completed"), row("3", "USE", "USE", "completed")];
    rows[1].parents = Some("[\"1\"]".into());
    rows[2].parents = Some("[\"2\"]".into());
    let mut diagnostics = Diagnostics::default();
    put(&graph, &mut rows, &[Some(0); 3], true, &mut diagnostics);
    let diagnostics: Vec<(&str, String)> = diagnostics.iter().map(|diagnostics| (diagnostics.code, diagnostics.message.clone())).collect();
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert!(diagnostics[0].0 == "graph_contradicts" && diagnostics[0].1.contains("of USE were made by SUB:B"), "{diagnostics:?}");
    // A graph of another run has no effect.
    assert_eq!((rows[0].parents.as_deref(), rows[2].parents.as_deref()), (None, Some("[\"2\"]")));
    // Certain parents are added to those from work directories, which cover files only.
    let mut rows = [row("1", "INDEX", "INDEX", "completed"), row("2", "USE", "USE", "completed"), row("3", "USE", "USE 2", "completed")];
    rows[1].parents = Some("[]".into());
    rows[2].parents = Some("[\"1\"]".into());
    assert_eq!(put(&graph, &mut rows, &[Some(0); 3], true, &mut Diagnostics::default()), 2);
    let told: Vec<Option<&str>> = rows.iter().map(|row| row.parents.as_deref()).collect();
    assert_eq!(told, [Some("[]"), Some("[\"1\"]"), Some("[\"1\"]")]);
}

#[test]
fn graphs_that_differ_and_runs_without_a_log() {
    let one = |text: &str| read(text, &mut Diagnostics::default()).unwrap().unwrap();
    let rows = [row("1", "A", "A", "completed"), row("2", "B", "B", "completed"), row("3", "C", "C", "completed")];
    let chain = [("v0", "process", "A"), ("v1", "process", "B"), ("v2", "process", "C")];
    let (first, second) = (one(&dot(&chain, &[("v0", "v1"), ("v1", "v2")])), one(&dot(&chain, &[("v0", "v1"), ("v0", "v2")])));
    let run_of = [Some(0); 3];
    let known = Known { run_of: &run_of, has_begin: &[true], graph_files: &[], name: "dag.dot", is_whole: true };
    let certain = |graph: &Graph| graph.certain(&rows, &known, &mut Diagnostics::default()).unwrap();
    assert!(differing([certain(&first), certain(&first)].iter()).is_empty());
    assert_eq!(differing([certain(&first), certain(&second)].iter()), BTreeSet::from([0]));
    // A task taken from a storeDir appears in logs only.
    let mut diagnostics = Diagnostics::default();
    let without = first.certain(&rows, &Known { has_begin: &[false], ..known }, &mut diagnostics).unwrap();
    assert!(without.of.is_empty(), "no parents are certain");
    assert_eq!(without.above[1], (1, r#"[{"each":true,"logical_task":"A"}]"#.to_owned()));
    assert_eq!(diagnostics.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>(), ["graph_without_log"]);
}

#[test]
fn the_same_graph_in_another_form_has_the_same_meaning() {
    let one = |text: &str| read(text, &mut Diagnostics::default()).unwrap().unwrap();
    let drawn = one("digraph \"dag\" {\nv0 [label=\"A\"];\nv1 [label=\"B\"];\nv0 -> v1;\n}\n");
    let mermaid = one("flowchart TB\n    v7([B])\n    v2([A])\n    v2 --> v7\n");
    let other = one("flowchart TB\n    v7([B])\n    v2([A])\n    v7 --> v2\n");
    assert_eq!(drawn.meaning(), mermaid.meaning());
    assert!(drawn.meaning().is_some_and(|meaning| meaning.len() == 2) && drawn.meaning() != other.meaning());
    assert!(differs(&["run/dag.html"]).message.contains("in the graph run/dag.html"));
}

#[test]
fn circles_and_long_ways_end() {
    let circle = dot(
        &[("v0", "process", "A"), ("v1", "operator", "map"), ("v2", "process", "B")],
        &[("v0", "v1"), ("v1", "v0"), ("v1", "v1"), ("v1", "v2")],
    );
    assert_eq!(parents(&circle, &["A", "B"]).0, [None, None]);
    let mut text = "digraph \"dag\" {\nv0 [label=\"A\"];\n".to_owned();
    for at in 1..100_000 {
        text += &format!("v{at} [shape=circle,label=\"\",xlabel=\"map\"];\nv{} -> v{at};\n", at - 1);
    }
    text += "v100000 [label=\"B\"];\nv99999 -> v100000;\n}\n";
    assert_eq!(parents(&text, &["A", "B"]).0, [Some("[]".to_owned()), None]);
    let many: String = (0..MOST_NODES + 1).map(|at| format!("v{at} [label=\"A\"];\n")).collect();
    assert!(read(&format!("digraph \"dag\" {{\n{many}}}\n"), &mut Diagnostics::default()).is_err());
}

#[test]
fn what_cannot_be_read_has_its_place() {
    let place = |text: &str| {
        let mut diagnostics = Diagnostics::default();
        assert!(read(text, &mut diagnostics).unwrap().is_none(), "{text:?}");
        let diagnostics = diagnostics.iter().next().unwrap().clone();
        (diagnostics.code, diagnostics.line.unwrap(), diagnostics.column.unwrap())
    };
    assert_eq!(place("digraph \"dag\" {\nv0 [label=\"A];\n}\n"), ("graph_line_bad", 2, 5));
    assert_eq!(place("digraph \"dag\" {\nv0 [label=\"A\"];\nv0 -> ;\n}\n"), ("graph_line_bad", 3, 6));
    assert_eq!(place("digraph \"dag\" {\nv0 [label=\"A\"];\n"), ("graph_line_bad", 1, 1));
    assert_eq!(place("flowchart TB\n    v0([A]\n"), ("graph_line_bad", 2, 7));
    assert_eq!(place("flowchart TB\n    end\n").1, 2);
    assert_eq!(place("flowchart TB\n    v0 -->|x v1\n").1, 2);
    // Markup, zeros and long names are valid names.
    let name = format!("<b>\0\u{1b}[31m{}", "x".repeat(1 << 20));
    let told = parents(&dot(&[("v0", "process", &name)], &[]), &[&name]);
    assert_eq!(told, (vec![Some("[]".to_owned())], Vec::new()));
    assert!(!is_one("digraph snakemake_dag {\n\t0[label = \"all\"];\n}\n") && !is_one("graph LR\n    A[Start] --> B{Mode}\n"));
}
