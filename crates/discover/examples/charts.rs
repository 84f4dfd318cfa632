//! Draws all charts of made-up logs into a directory, to be looked at, and says how much CPU time
//! each took: `charts DIRECTORY [INSTANCES [CASE_LENGTH]]`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Duration;

use flowmine_activity_log::ActivityLog;
use flowmine_discover::pictures;
use flowmine_discover::{batches, dotted_chart, lifecycle, performance_spectrum, summary, temporal_profile, variants};

/// CPU time of this process (Linux), which says more than a clock where others work on the same
/// machine.
struct Instant(Duration);

impl Instant {
    fn now() -> Self {
        let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
        Self(Duration::from_nanos(text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0)))
    }

    fn elapsed(&self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, rest @ ..] = &arguments[..] else {
        eprintln!("usage: charts DIRECTORY [INSTANCES [CASE_LENGTH]]");
        return;
    };
    std::fs::create_dir_all(folder).expect("the directory can be made");
    let number = |at: usize| rest.get(at).and_then(|n| n.parse().ok());
    match number(0) {
        Some(instances) => charts(folder, "large", &common::large(instances, number(1).unwrap_or(10))),
        None => {
            charts(folder, "workflow", &common::workflow(40));
            charts(folder, "small", &common::workflow(3));
            charts(folder, "many", &common::workflow(2000));
        }
    }
}

fn charts(folder: &str, name: &str, log: &ActivityLog) {
    let cases = log.cases().expect("it has cases");
    let save = |model: &str, svg: String, model_time: Duration, start: Instant| {
        println!("{name} {model}: model {model_time:.1?}, picture {:.1?}, {} bytes", start.elapsed(), svg.len());
        std::fs::write(format!("{folder}/{name}-{model}.svg"), svg).expect("the picture can be written");
    };
    let start = Instant::now();
    let model = variants::discover(log, cases, &variants::Options::default());
    let (took, start) = (start.elapsed(), Instant::now());
    save("variants", pictures::variants::svg(&model, &Default::default()), took, start);
    for (time, sort, words) in [
        (dotted_chart::Time::Absolute, dotted_chart::Sort::Start, "dotted"),
        (dotted_chart::Time::Relative, dotted_chart::Sort::Duration, "dotted-relative"),
    ] {
        let start = Instant::now();
        let model = dotted_chart::discover(log, cases, &dotted_chart::Options { sort, time: Some(time) });
        let (took, start) = (start.elapsed(), Instant::now());
        save(words, pictures::dotted_chart::svg(&model, &Default::default()), took, start);
    }
    let start = Instant::now();
    let model = performance_spectrum::discover(log, cases, &Default::default()).expect("no path is asked for");
    let (took, start) = (start.elapsed(), Instant::now());
    save("spectrum", pictures::performance_spectrum::svg(&model, &Default::default()), took, start);
    let start = Instant::now();
    let model = batches::discover(log, cases, &batches::Options { merge_distance_ns: 10_000_000_000, ..Default::default() });
    let (took, start) = (start.elapsed(), Instant::now());
    save("batches", pictures::batches::svg(&model, &Default::default()), took, start);
    let start = Instant::now();
    let model = lifecycle::discover(log, cases, &Default::default());
    let (took, start) = (start.elapsed(), Instant::now());
    save("lifecycle", pictures::lifecycle::svg(&model, &Default::default()), took, start);
    let start = Instant::now();
    let model = temporal_profile::discover(log, cases, &Default::default());
    let (took, start) = (start.elapsed(), Instant::now());
    save("profile", pictures::temporal_profile::svg(&model, &Default::default()), took, start);
    let start = Instant::now();
    let model = summary::discover(log, cases, &Default::default());
    let (took, start) = (start.elapsed(), Instant::now());
    let text = pictures::summary::text(&model, &Default::default());
    println!("{name} summary: model {took:.1?}, text {:.1?}\n", start.elapsed());
    std::fs::write(format!("{folder}/{name}-summary.txt"), text).expect("the text can be written");
}
