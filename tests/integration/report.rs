//! The report in a real browser: each kind of source, hostile names, and sources with nothing in
//! them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::browser::Browser;
use crate::support::firefox::Firefox;
use crate::support::require::require;
use crate::support::{expect, flowmine, repository};

/// Writes the report of sources to a page and returns what was printed.
fn report(page: &Path, sources: &[&Path], options: &[&str], code: i32) -> String {
    let ran = expect(flowmine().arg("report").args(sources).args(options).arg("-o").arg(page), code);
    assert!(ran.stdout.is_empty());
    String::from_utf8(ran.stderr).unwrap()
}

/// Opens a page; it reports nothing to the console and requests nothing but itself.
fn open(browser: &Browser, page: &Path) {
    browser.console();
    browser.requests();
    browser.open(page);
    quiet(browser, page);
}

/// The page reported nothing and requested nothing but itself.
fn quiet(browser: &Browser, page: &Path) {
    assert_eq!(browser.console(), Vec::<String>::new(), "{}", page.display());
    let page = format!("\"file://{}\"", page.display());
    let others: Vec<String> = browser.requests().into_iter().filter(|url| *url != page && !url.starts_with("\"blob:")).collect();
    assert_eq!(others, Vec::<String>::new());
}

/// The model of sources as JSON.
fn model(name: &str, sources: &[&Path], options: &[&str]) -> Value {
    let ran = expect(flowmine().args(["discover", name, "--format", "json"]).args(sources).args(options), 0);
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// The sum of a column of a table on the page.
fn sum(browser: &Browser, table: &str, column: &str) -> f64 {
    let sum = format!(
        "TABLES.get({table:?}).columns.find((of) => of.name === {column:?}).values.reduce((sum, v) => sum + (Number.isNaN(v) ? 0 : v), 0)"
    );
    browser.run(&sum).as_f64().unwrap()
}

fn rows(browser: &Browser, table: &str) -> u64 {
    browser.run(&format!("TABLES.get({table:?}).rows.length")).as_u64().unwrap()
}

/// What holds of each page with rows: sections, numbers of rows and sums are those of the models.
fn check(browser: &Browser, page: &Path, sources: &[&Path], options: &[&str]) {
    report(page, sources, options, 0);
    open(browser, page);
    let sections = browser.run("[...document.querySelectorAll('section')].map((section) => section.id)");
    assert_eq!(sections, json!(["overview", "process", "waiting", "runs", "resources", "io", "prediction", "variants", "data", "terms"]));
    let summary = model("summary", sources, options);
    let number = |of: &Value| of.as_f64().unwrap();
    assert_eq!(rows(browser, "instances") as f64, number(&summary["instances"]));
    assert_eq!(rows(browser, "activities") as usize, summary["activities"].as_array().unwrap().len());
    assert_eq!(sum(browser, "activities", "instances"), number(&summary["total"]["instances"]));
    if let Some(service_ns) = summary["total"]["service"]["sum_ns"].as_f64() {
        // Each value is cut to microseconds.
        let shown = sum(browser, "instances", "run");
        assert!((shown - service_ns / 1e3).abs() <= rows(browser, "instances") as f64, "{shown} {service_ns}");
    }
    // No id is there twice, and no element has a style in its markup.
    assert_eq!(
        browser.run("document.querySelectorAll('[id]').length - new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size"),
        0
    );
    assert!(!fs::read_to_string(page).unwrap().contains(" style=\""));
}

/// The script of axe; nothing where it is not there and not required.
fn axe() -> Option<String> {
    let script = std::env::var_os("FLOWMINE_AXE").and_then(|path| fs::read_to_string(path).ok());
    require("axe", "axe-core (make test installs it)", script.is_some()).then_some(script).flatten()
}

/// No element of the page violates a rule of axe, in either theme, and it fits a narrow window. All terms
/// are open, and a node of the graph is chosen.
fn accessible(browser: &Browser, axe: Option<&str>, page: &Path) {
    let Some(axe) = axe else { return };
    browser.act("document.querySelectorAll('details').forEach((of) => { of.open = true; })");
    browser.act("document.querySelector('.canvas .node[data-mark^=a]')?.dispatchEvent(new MouseEvent('click', { bubbles: true }))");
    // Another theme has other colours, and nothing else.
    for (theme, rules) in [("light", &[][..]), ("dark", &["color-contrast"])] {
        browser.emulate(theme, 1280);
        assert_eq!(browser.axe(axe, rules), Vec::<String>::new(), "{} {theme}", page.display());
    }
    // Nothing but what scrolls by itself is wider than a narrow window.
    browser.emulate("light", 390);
    assert!(browser.run("document.documentElement.scrollWidth <= innerWidth").as_bool().unwrap(), "{}", page.display());
    pictures(browser, page);
    browser.emulate("light", 1280);
}

/// Keeps a picture of each section at three widths in both themes, where long tests run.
fn pictures(browser: &Browser, page: &Path) {
    let Some(dir) = std::env::var_os("FLOWMINE_IMAGES").filter(|_| std::env::var_os("FLOWMINE_LONG").is_some()) else { return };
    fs::create_dir_all(&dir).unwrap();
    let name = page.file_stem().unwrap().to_string_lossy().into_owned();
    let sections = browser.run("[...document.querySelectorAll('section')].map((section) => section.id)");
    for (theme, width) in [390, 768, 1280].into_iter().flat_map(|width| [("light", width), ("dark", width)]) {
        browser.emulate(theme, width);
        for section in sections.as_array().unwrap().iter().filter_map(Value::as_str) {
            let file = Path::new(&dir).join(format!("{name}-{section}-{width}-{theme}.png"));
            browser.picture(&format!("#{section}"), width, &file);
        }
    }
}

/// The directory of a test, and a browser that saves to it.
fn start(name: &str) -> Option<(tempfile::TempDir, PathBuf, Browser)> {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join(format!("{name}.html"));
    let browser = Browser::start(dir.path())?;
    Some((dir, page, browser))
}

#[test]
fn a_queue_an_engine_a_trace_and_a_foreign_log_have_every_section() {
    let Some((dir, page, browser)) = start("kinds") else { return };
    let path = |name: &str| repository(name);
    let axe = axe();
    let of = |name: &str| page.with_file_name(format!("{name}.html"));

    let page = of("engine");
    check(&browser, &page, &[&path("fixtures/workflows/nextflow-local")], &[]);
    accessible(&browser, axe.as_deref(), &page);
    assert!(
        browser
            .run("document.querySelector('#figure-path') !== null && document.querySelector('#figure-gantt') !== null")
            .as_bool()
            .unwrap()
    );

    let columns = ["--case-column", "sample", "--activity-column", "step", "--timestamp-column", "finished"];
    let page = of("log");
    check(&browser, &page, &[&path("fixtures/logs/samples.csv")], &columns);
    accessible(&browser, axe.as_deref(), &page);
    assert!(browser.run("document.querySelector('#io .missing').textContent").as_str().unwrap().contains("flowmine trace"));

    let traced = dir.path().join("traced");
    expect(Command::new("cp").arg("-a").arg(path("fixtures/demonstration/dataset")).arg(&traced), 0);
    expect(
        flowmine().args(["import", "makeflow", "--dataset"]).arg(&traced).arg(path("fixtures/demonstration/rnaseq.makeflow.makeflowlog")),
        0,
    );
    expect(flowmine().args(["correlate", "--dataset"]).arg(&traced), 0);
    let page = of("trace");
    check(&browser, &page, &[&traced], &[]);
    accessible(&browser, axe.as_deref(), &page);
    for figure in ["spans", "accesses0", "prediction", "dots", "throughput", "arrivals"] {
        assert_eq!(browser.run(&format!("document.querySelectorAll('#figure-{figure} svg').length")), 1, "{figure}");
    }
    let prediction: Value =
        serde_json::from_slice(&expect(flowmine().args(["predict", "--dataset"]).arg(&traced).args(["--format", "json"]), 0).stdout)
            .unwrap();
    assert!(prediction.to_string().len() > 10 && rows(&browser, "limits") > 0);
    let profile = model("io-profile", &[&traced], &[]);
    assert_eq!(sum(&browser, "iogroups", "read"), profile["total"]["read_bytes"].as_f64().unwrap());

    let queue = dir.path().join("queue");
    expect(
        flowmine()
            .args(["import", "slurm", "--dataset"])
            .arg(&queue)
            .args([path("fixtures/case-study/polls"), path("fixtures/case-study/sacct-token.txt.gz")]),
        0,
    );
    expect(flowmine().args(["correlate", "--dataset"]).arg(&queue), 0);
    let page = of("queue");
    check(&browser, &page, &[&queue], &[]);
    accessible(&browser, axe.as_deref(), &page);
    // Each job arrives once, and each run is compared with those before it.
    let jobs = rows(&browser, "instances");
    let arrived = "[...document.querySelectorAll('#figure-arrivals g > title')].reduce((sum, of) => sum + Number(/: ([0-9,]+) /.exec(of.textContent)[1].replaceAll(',', '')), 0)";
    assert_eq!(browser.run(arrived), jobs);
    assert!(rows(&browser, "history") > 1);
    let waits = model("waits", &[&queue], &[]);
    assert_eq!(rows(&browser, "causes") as usize, waits["causes"].as_array().unwrap().len());
    assert!(browser.run("document.querySelectorAll('.card').length").as_u64().unwrap() > 0);
}

#[test]
fn tables_sort_filter_and_download_and_the_graph_has_levels() {
    let Some((dir, page, browser)) = start("tables") else { return };
    report(&page, &[&repository("fixtures/workflows/nextflow-local")], &[], 0);
    open(&browser, &page);
    let table = "TABLES.get('instances')";
    let all = rows(&browser, "instances");

    // By running time, longest first, then shortest first.
    let column = format!("{table}.columns.findIndex((of) => of.name === 'run')");
    let extremes = browser.run(&format!("(() => {{ const v = {table}.columns[{column}].values.filter((v) => !Number.isNaN(v)); return [Math.max(...v), Math.min(...v)]; }})()"));
    for extreme in extremes.as_array().unwrap() {
        browser.act(&format!("{table}.heads[{column}].querySelector('button').click()"));
        assert_eq!(browser.run(&format!("{table}.columns[{column}].values[{table}.chosen[0]]")), *extreme);
    }
    let shown = browser
        .run(&format!("document.querySelector('#table-instances tbody tr:not(.space) td:nth-child(' + ({column} + 1) + ')').textContent"));
    assert_eq!(shown, browser.run(&format!("shown({table}.columns[{column}], {table}.chosen[0])")));

    // By a text, and by a number.
    let filter = |text: &str| {
        browser.act(&format!("{table}.search.value = {text:?}; {table}.search.dispatchEvent(new Event('input'));"));
        browser.run(&format!("{table}.chosen.length")).as_u64().unwrap()
    };
    let activity = browser.run(&format!("{table}.columns.find((of) => of.name === 'activity').names[0]"));
    let some = filter(activity.as_str().unwrap());
    assert!(some > 0 && some < all, "{some} of {all}");
    assert_eq!(filter("no such text"), 0);
    assert_eq!(
        filter("run>=0") + browser.run(&format!("{table}.columns[{column}].values.filter(Number.isNaN).length")).as_u64().unwrap(),
        all
    );
    assert_eq!(filter(activity.as_str().unwrap()), some);

    // The download has the rows that pass the filter, and a line of headings.
    browser.act("document.querySelector('#table-instances .tools button:not(.chip)').click()");
    let file = dir.path().join("instances.csv");
    let began = Instant::now();
    while !file.exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing was downloaded");
        std::thread::sleep(Duration::from_millis(20));
    }
    let csv = fs::read_to_string(&file).unwrap();
    assert_eq!(csv.lines().count() as u64, some + 1, "{csv}");

    // A node shows its numbers, and leads to its rows.
    browser.act("document.querySelector('.canvas .node[data-mark^=a]').dispatchEvent(new MouseEvent('click', { bubbles: true }))");
    let name = browser.run("document.querySelector('.details h3').textContent");
    browser.act("document.querySelector('.details button').click()");
    let chosen = format!("new Set({table}.chosen.map((row) => shown({table}.columns.find((of) => of.name === 'activity'), row)))");
    assert_eq!(browser.run(&format!("[...{chosen}]")), json!([name]));

    // It also has its distribution and its slowest instances, which lead to their rows.
    assert!(browser.run("document.querySelectorAll('.details .histogram .bar').length").as_u64().unwrap() > 0);
    let slowest = browser.run("document.querySelector('.details ol a').dataset.value");
    browser.act("document.querySelector('.details ol a').click()");
    let column = browser.run("document.querySelector('.details ol a').dataset.column");
    let shown = browser.run(&format!("shown({table}.columns.find((of) => of.name === {column}), {table}.chosen[0])"));
    assert_eq!(shown, slowest);

    // An edge has the times between its activities.
    browser.act("document.querySelector('.canvas .edge[data-mark=e0]').dispatchEvent(new MouseEvent('click', { bubbles: true }))");
    let headings = browser.run("[...document.querySelectorAll('.details h4')].map((of) => of.textContent)");
    assert!(headings.to_string().contains("from the end to the next start"), "{headings}");

    // Every notion, every kind of number and every level is drawn.
    let views = browser.run("GRAPHS[0].views.map((view) => [view.notion, view.show, view.levels.length])");
    let views = views.as_array().unwrap();
    assert!(views.len() >= 6, "{views:?}");
    for view in views {
        let number = |at: usize| view[at].as_u64().unwrap();
        for (name, value) in [("notion", number(0)), ("show", number(1))] {
            browser.act(&format!(
                "const s = document.querySelector('[data-{name}]'); if (s) {{ s.value = {value}; s.dispatchEvent(new Event('change')); }}"
            ));
        }
        for level in 0..number(2) {
            browser.act(&format!(
                "const s = document.querySelector('[data-levels]'); s.value = {level}; s.dispatchEvent(new Event('input'));"
            ));
            let marks = browser.run("GRAPHS[0].svg.querySelectorAll('.node').length > 0 && Object.keys(GRAPHS[0].marks).length > 0");
            assert_eq!(marks, true, "{view} {level}");
        }
    }
    quiet(&browser, &page);
}

/// Names that would be markup, script, a formula or a path of an attribute if they were not text.
const HOSTILE: [&str; 7] = [
    "</script><img src=x onerror=hit=1>",
    "\"><svg onload=hit=1>",
    "'-alert(1)-'",
    "<!--<script>",
    "</title><script>hit=1</script>",
    "{{ 7*7 }}",
    "=HYPERLINK(1)",
];

#[test]
fn hostile_names_are_text_everywhere() {
    let Some((dir, page, browser)) = start("hostile") else { return };
    let log = dir.path().join("<img src=x onerror=hit=1>.csv");
    let mut text = "case,activity,start,end,resource\n".to_owned();
    for (at, name) in HOSTILE.iter().enumerate() {
        let quoted = name.replace('"', "\"\"");
        for case in 0..3 {
            let (start, end) = (format!("2026-11-20T10:{:02}:00Z", at * 5 + case), format!("2026-11-20T10:{:02}:30Z", at * 5 + case + 1));
            text.push_str(&format!("\"{quoted}{case}\",\"{quoted}\",{start},{end},\"{quoted}\"\n"));
        }
        text.push_str(&format!("\"all\",\"{quoted}\",2026-11-20T1{at}:00:00Z,2026-11-20T1{at}:30:00Z,\"{quoted}\"\n"));
    }
    fs::write(&log, text).unwrap();
    report(&page, &[&log], &[], 0);
    open(&browser, &page);
    browser
        .act("document.querySelectorAll('.node, .edge').forEach((mark) => mark.dispatchEvent(new MouseEvent('click', { bubbles: true })))");
    assert_eq!(browser.run("typeof hit"), "undefined");
    assert_eq!(browser.run("document.querySelectorAll('img, script:not(:last-of-type)[src], svg[onload]').length"), 0);
    let names = browser.run("TABLES.get('activities').columns[0].names");
    let mut names: Vec<&str> = names.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    names.sort_unstable();
    let mut expected = HOSTILE.to_vec();
    expected.sort_unstable();
    assert_eq!(names, expected);
    let csv = browser.run("csv(TABLES.get('activities').columns, TABLES.get('activities').rows)");
    assert!(csv.as_str().unwrap().contains("\r\n'=HYPERLINK(1),"), "{csv}");
    quiet(&browser, &page);
}

#[test]
fn a_source_with_nothing_in_it_gives_a_page_that_states_so() {
    let Some((dir, page, browser)) = start("nothing") else { return };
    let empty = dir.path().join("empty");
    expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&empty).arg(repository("fixtures/import/squeue_empty.txt")), 0);
    let missing = || browser.run("[...document.querySelectorAll('#overview .missing')].map((of) => of.textContent).join()");
    report(&page, &[&empty], &[], 0);
    open(&browser, &page);
    assert!(missing().as_str().unwrap().contains("There is no job, task or event to report on"), "{}", missing());

    let one = dir.path().join("one.csv");
    fs::write(&one, "case,activity,start,end\na,align,2026-11-20T10:00:00Z,2026-11-20T10:05:00Z\n").unwrap();
    check(&browser, &page, &[&one], &[]);
    assert_eq!(rows(&browser, "instances"), 1);

    let damaged = dir.path().join("damaged");
    expect(
        flowmine()
            .args(["import", "nextflow", "--dataset"])
            .arg(&damaged)
            .arg(repository("fixtures/workflows/nextflow-local/nextflow.log")),
        0,
    );
    let file = first_file(&damaged.join("task_runs"));
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let said = report(&page, &[&damaged], &[], 1);
    assert!(said.contains("the report has no log"), "{said}");
    open(&browser, &page);
    assert!(missing().as_str().unwrap().contains("task_runs"), "{}", missing());
}

/// The first Parquet file of a table, in any of its partitions.
fn first_file(table: &Path) -> PathBuf {
    try_first_file(table).unwrap()
}

fn try_first_file(table: &Path) -> Option<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(table).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let directory = paths.iter().filter(|path| path.is_dir()).find_map(|path| try_first_file(path));
    directory.or_else(|| paths.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "parquet")))
}

#[test]
fn a_damaged_table_costs_no_page_and_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let traced = dir.path().join("traced");
    expect(Command::new("cp").arg("-a").arg(repository("fixtures/demonstration/dataset")).arg(&traced), 0);
    let log = repository("fixtures/demonstration/rnaseq.makeflow.makeflowlog");
    expect(flowmine().args(["import", "makeflow", "--dataset"]).arg(&traced).arg(log), 0);
    expect(flowmine().args(["correlate", "--dataset"]).arg(&traced), 0);
    let page = dir.path().join("page.html");
    report(&page, &[&traced], &[], 0);
    let whole = fs::read(&page).unwrap();
    let mut tables: Vec<PathBuf> = fs::read_dir(&traced).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    tables.sort();
    let mut reported = 0;
    for table in tables {
        let Some(file) = try_first_file(&table) else { continue };
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, "no Parquet").unwrap();
        let output = flowmine().arg("report").arg(&traced).arg("-o").arg(&page).output().unwrap();
        let (said, made) = (String::from_utf8_lossy(&output.stderr).into_owned(), fs::read(&page).unwrap());
        let name = table.file_name().unwrap().to_string_lossy().into_owned();
        assert!(made.ends_with(b"</html>"), "{name}");
        // A table that the page does not need changes nothing; any other is named.
        match output.status.code() {
            Some(0) => assert!(made == whole, "{name}: {said}"),
            Some(1) => {
                assert!(said.contains(&name), "{name}: {said}");
                reported += 1;
            }
            code => panic!("{name}: {code:?}: {said}"),
        }
        fs::write(&file, bytes).unwrap();
    }
    assert!(reported > 4, "{reported}");
}

#[test]
fn the_same_source_gives_the_same_page() {
    let dir = tempfile::tempdir().unwrap();
    let source = repository("fixtures/workflows/nextflow-local");
    let pages = ["a.html", "b.html"].map(|name| {
        let page = dir.path().join(name);
        report(&page, &[&source], &[], 0);
        fs::read(&page).unwrap()
    });
    assert!(pages[0] == pages[1]);
    let text = String::from_utf8(pages[0].clone()).unwrap();
    assert!(text.contains("default-src 'none'") || text.contains("default-src &#39;none&#39;"));
    for address in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!text.contains(address), "{address}");
    }
}

#[test]
fn a_directory_of_results_has_the_page_next_to_logs_and_tables() {
    let dir = tempfile::tempdir().unwrap();
    let (dataset, out) = (dir.path().join("dataset"), dir.path().join("out"));
    let log = repository("fixtures/workflows/nextflow-local/nextflow.log");
    expect(flowmine().args(["import", "nextflow", "--dataset"]).arg(&dataset).arg(log), 0);
    // A second time nothing is new. `flowmine run` makes the same, to the byte.
    for command in ["report", "report", "run"] {
        expect(flowmine().arg(command).arg(&dataset).arg("--out").arg(&out), 0);
        for name in ["report.html", "log.xes.gz", "log.ocel.sqlite", "dfg.svg", "findings.txt", "summary.json"] {
            assert!(fs::metadata(out.join(name)).unwrap().len() > 0, "{name}");
        }
    }
    let page = expect(flowmine().arg("report").arg(&dataset), 0).stdout;
    assert!(fs::read(out.join("report.html")).unwrap() == page);
    let said = expect(flowmine().arg("report").arg(repository("tests/fixtures/logs/cases.xes")).arg("--out").arg(&out), 2).stderr;
    assert!(String::from_utf8_lossy(&said).contains("-o FILE"));
    // The page of another program stays.
    let mine = dir.path().join("mine");
    fs::create_dir(&mine).unwrap();
    fs::write(mine.join("report.html"), "<title>mine</title>").unwrap();
    let said = expect(flowmine().arg("run").arg(&dataset).arg("--out").arg(&mine), 2).stderr;
    assert!(String::from_utf8_lossy(&said).contains("report.html is there already and was not made by flowmine"));
    assert_eq!(fs::read_to_string(mine.join("report.html")).unwrap(), "<title>mine</title>");
}

/// Any of a hundred activities follows any other: no level has few enough edges to be laid out.
#[test]
fn a_graph_with_too_many_edges_has_its_main_steps() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("dense.csv");
    let mut rows = "case,activity,time\n".to_owned();
    for (case, (from, to)) in (0..120).flat_map(|from| (0..120).map(move |to| (from, to))).enumerate() {
        writeln!(rows, "c{case},a{from},{}\nc{case},a{to},{}", 1_700_000_000 + case, 1_700_000_001 + case).unwrap();
    }
    fs::write(&log, rows).unwrap();
    let columns = ["--case-column", "case", "--activity-column", "activity", "--timestamp-column", "time"];
    let page = dir.path().join("dense.html");
    report(&page, &[&log], &columns, 0);
    let text = fs::read_to_string(&page).unwrap();
    let level = text.split("data-level-name>").nth(1).unwrap().split('<').next().unwrap();
    let edges: usize = level.strip_prefix("main steps: ").unwrap().split(' ').nth(2).unwrap().parse().unwrap();
    assert!(edges <= 300, "{level}");
}

#[test]
fn firefox_opens_the_same_page() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut browser) = Firefox::start(dir.path()) else { return };
    let source = repository("fixtures/workflows/nextflow-local");
    let page = dir.path().join("report.html");
    report(&page, &[&source], &[], 0);
    browser.open(&page);
    // The tables have their rows, and the graph its views.
    let instances = model("summary", &[&source], &[])["instances"].as_u64().unwrap();
    let status = browser.run("document.querySelector('#table-instances .status').textContent");
    assert!(status.as_str().unwrap().starts_with(&format!("{instances} row")), "{status}");
    assert!(browser.run("document.querySelector('[data-graph]').dataset.loaded === ''").as_bool().unwrap());
    assert!(browser.run("document.querySelectorAll('.canvas .node').length").as_u64().unwrap() > 1);
    let chosen = "(() => { document.querySelector('.canvas .node[data-mark^=a]').dispatchEvent(new MouseEvent('click', { bubbles: true })); \
                  return document.querySelectorAll('.details .bar').length; })()";
    assert!(browser.run(chosen).as_u64().unwrap() > 0);
}

/// A log as CSV: cases with the number of their events, and the activity of each.
fn large(path: &Path, cases: usize, events: usize, activity: impl Fn(usize, usize) -> String) {
    use std::io::Write as _;
    let mut file = std::io::BufWriter::new(fs::File::create(path).unwrap());
    writeln!(file, "case,activity,start,end").unwrap();
    for case in 0..cases {
        for event in 0..events {
            let second = 1_764_000_000 + case * 1000 + event * 2;
            writeln!(file, "c{case},{},{second},{}", activity(case, event), second + 1).unwrap();
        }
    }
    file.flush().unwrap();
}

/// Sizes that no figure can show: many activities, and one case of many events. The page stays
/// small, states what it leaves out, and works.
#[test]
fn hostile_sizes_give_a_page_that_works() {
    let Some((dir, page, browser)) = start("sizes") else { return };
    let is_long = std::env::var_os("FLOWMINE_LONG").is_some();
    let (activities, events) = if is_long { (100_000, 1_000_000) } else { (2_000, 5_000) };
    let log = dir.path().join("log.csv");
    large(&log, activities / 100, 100, |case, event| format!("a{}", case * 100 + event));
    report(&page, &[&log], &["--timestamp-unit", "s"], 0);
    open(&browser, &page);
    assert_eq!(rows(&browser, "activities") as usize, activities);
    assert!(fs::metadata(&page).unwrap().len() < 8_000_000, "{}", fs::metadata(&page).unwrap().len());

    large(&log, 1, events, |_, event| format!("a{}", event % 7));
    report(&page, &[&log], &["--timestamp-unit", "s"], 0);
    open(&browser, &page);
    assert!(fs::metadata(&page).unwrap().len() < 8_000_000, "{}", fs::metadata(&page).unwrap().len());
    if is_long {
        assert!(browser.run("document.querySelector('#table-instances .left-out').textContent").as_str().unwrap().contains("1,000,000"));
    }
}
