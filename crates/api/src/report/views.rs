//! The process under several notions of what a case is.

use flowmine_activity_log::{ActivityLog, Cases};
use flowmine_dataset::Dataset;
use flowmine_discover::dfg::dfg;
use flowmine_logs::task_log::notions;
use flowmine_report::View;
use flowmine_schema::text::visible;

use super::ReportRequest;
use super::damage::Damage;
use crate::error::Result;
use crate::log::{self, Attributes};
use crate::request::Request;
use crate::sink::{Silent, Sink};
use crate::source::{self, Notion};

/// The notions of jobs that are shown next to that of the log.
const OF_JOBS: [&str; 6] = ["auto", "dependency", "account-group", "work-directory", "name", "engine-run"];

/// The most instances of a log of which other notions are shown: each reads the source again.
const MOST_INSTANCES: usize = 50_000;

/// The views, and what is left out in sentences.
#[derive(Default)]
pub struct Views {
    /// The views; the first is that of the log.
    pub views: Vec<View>,
    /// What is left out.
    pub left_out: Vec<String>,
}

/// The views of a source whose log is read already.
pub fn all(
    request: &ReportRequest,
    dataset: Option<&Dataset>,
    log: &ActivityLog,
    cases: &Cases,
    damage: &Damage<'_>,
    sink: &dyn Sink,
) -> Views {
    let name = own_name(request, dataset, cases);
    let mut found = Views { views: vec![View::of_cases(name.clone(), log, cases, dfg(log, cases))], left_out: Vec::new() };
    let others: Vec<String> = others(request, dataset).into_iter().filter(|other| *other != name).collect();
    if others.is_empty() {
        return found;
    }
    if log.len() > MOST_INSTANCES {
        found.left_out.push(format!(
            "Other notions of a case are left out: the log has more than {} instances. \
             The command flowmine discover dfg --case-notion NAME draws one, with NAME one of {}.",
            flowmine_draw::count(MOST_INSTANCES as u64),
            others.join(", ")
        ));
        return found;
    }
    let _stage = sink.stage("discovering");
    for other in others {
        // A notion that the source does not have, such as runs of an engine, is no view.
        let Ok(view) = of_notion(request, &other).map_err(|error| damage.reason(&error)) else { continue };
        if view.has_steps() && !found.views.iter().any(|known| known.is_like(&view)) {
            found.views.push(view);
        }
    }
    found.views.extend(of_objects(request).map_err(|error| damage.reason(&error)).ok().flatten().filter(View::has_steps));
    found
}

/// The notion of the log that is read already.
fn own_name(request: &ReportRequest, dataset: Option<&Dataset>, cases: &Cases) -> String {
    if let Some(name) = &request.cases.case_notion {
        return visible(name).into_owned();
    }
    let notion = dataset.map(|dataset| source::notion(None, dataset));
    match notion {
        Some(Ok(Notion::Jobs(notion))) => notion.name().to_owned(),
        Some(Ok(Notion::Tasks(notion))) => notion.name().to_owned(),
        Some(Ok(Notion::Objects(kind))) => format!("object:{}", visible(&kind)),
        Some(Err(_)) | None if cases.kind.is_empty() => "cases of the log".to_owned(),
        Some(Err(_)) | None => visible(&cases.kind).into_owned(),
    }
}

/// The notions that a source may have beyond its own.
fn others(request: &ReportRequest, dataset: Option<&Dataset>) -> Vec<String> {
    let Some(dataset) = dataset else {
        // The types of an object-centric log, where one of them is chosen.
        return request.cases.case_notion.iter().filter_map(|name| name.strip_prefix("object:")).flat_map(|_| types(request)).collect();
    };
    match source::notion(request.cases.case_notion.as_deref(), dataset) {
        Ok(Notion::Jobs(_)) => OF_JOBS.map(str::to_owned).to_vec(),
        Ok(Notion::Tasks(_)) => notions::ALL.iter().map(|notion| notion.name().to_owned()).collect(),
        Ok(Notion::Objects(_)) => types(request),
        Err(_) => Vec::new(),
    }
}

/// The types of objects of a source, as notions.
fn types(request: &ReportRequest) -> Vec<String> {
    let log = loaded(request, "ocdfg", None).map(|loaded| loaded.log);
    log.map(|log| log.groups.iter().map(|group| format!("object:{}", group.kind)).collect()).unwrap_or_default()
}

fn loaded(request: &ReportRequest, model: &str, notion: Option<&str>) -> Result<log::Loaded> {
    let mut of_log = Request::read::<&str>(model, request.source.clone(), None, [])?;
    of_log.cases = request.cases.clone();
    of_log.cases.case_notion = notion.map(str::to_owned);
    of_log.filter = request.filter.clone();
    of_log.columns = request.columns.clone();
    // What reading reports was reported for the log of the page.
    log::load(&of_log, &Attributes::of_evidence(), &Silent)
}

fn of_notion(request: &ReportRequest, name: &str) -> Result<View> {
    let loaded = loaded(request, "dfg", Some(name))?;
    let (log, cases) = (&loaded.log, loaded.cases()?);
    Ok(View::of_cases(visible(name), log, cases, dfg(log, cases)))
}

fn of_objects(request: &ReportRequest) -> Result<Option<View>> {
    Ok(View::of_objects(&loaded(request, "ocdfg", None)?.log))
}
