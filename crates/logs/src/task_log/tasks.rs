//! Tasks, their runs, the jobs that they were, and who gave data to whom.

use flowmine_attribution::task_attempts;
use flowmine_eventlog::{Attribute, Object, ValueType};
use flowmine_privacy::drop::DropColumns;
use flowmine_schema::tables::{DataFlow, Link, TaskRun};
use flowmine_schema::text::ids::escape;

use super::TaskLogError;
use super::assemble::place;
use super::attributes::{self, TASK, TRACED};
use super::layers;
use super::making::{JOB, Making, Order, RUN, TAG, TASK_RANK, job_id, relation, task_id};
use super::moments::{Moment, moments};
use super::notion::{run_name, session_name};

pub(super) const RUN_ATTRIBUTES: &[(&str, ValueType)] =
    &[("engine", ValueType::String), ("run_name", ValueType::String), ("run_id", ValueType::String)];

pub(super) const TAG_ATTRIBUTES: &[(&str, ValueType)] =
    &[("engine", ValueType::String), ("run_id", ValueType::String), ("tag", ValueType::String)];

const EVENT_ATTRIBUTES: &[(&str, ValueType)] = &[
    ("activity", ValueType::String),
    ("lifecycle", ValueType::String),
    ("status", ValueType::String),
    ("exit_code", ValueType::Integer),
    ("precision_ns", ValueType::Integer),
];

const LAYER_EVENT_ATTRIBUTES: &[(&str, ValueType)] = &[
    ("layer", ValueType::String),
    ("level", ValueType::Integer),
    ("lifecycle", ValueType::String),
    ("exit_code", ValueType::Integer),
    ("failed_in", ValueType::String),
    ("signal", ValueType::String),
    ("precision_ns", ValueType::Integer),
];

flowmine_schema::columns! {
    /// Who read what another wrote.
    struct Gave of DataFlow { writer_type, writer, reader_type, reader }
}

/// What happened to which logical task, as the type of an event: `BWA submitted`. What would be
/// called as an event of a job, a process or a layer has `task` before it.
fn event_type(logical_task: &str, moment: &Moment) -> String {
    let happened = moment.kind.strip_prefix("task ").unwrap_or(moment.kind);
    match logical_task {
        "" => moment.kind.to_owned(),
        of if matches!(of, "job" | "process" | "task") || of.starts_with("layer ") => format!("task {logical_task} {happened}"),
        _ => format!("{logical_task} {happened}"),
    }
}

pub(super) fn add(making: &mut Making<'_>) -> Result<(), TaskLogError> {
    let from = making.from;
    task_attempts::for_each::<TaskLogError>(from.dataset, from.rules, |attempt| {
        let row = &attempt.row;
        let id = task_id(&attempt.key);
        let run = run_name(row).map(|run| format!("engine run:{run}"));
        let tag = tag_id(row, &from.rules.drop);
        let all: Vec<_> = moments(row).collect();
        making.left_out.tasks_without_event += u64::from(all.is_empty());
        let number = all.len();
        let wanted: Vec<_> = all.into_iter().filter(|moment| from.wants(moment.time_ns)).collect();
        making.left_out.cut_off.add(wanted.len(), number);
        making.left_out.tasks_clamped += u64::from(wanted.iter().any(|moment| moment.is_clamped));
        if wanted.is_empty() && !from.wants_all() {
            return Ok(());
        }
        making.enter(&id);
        for moment in wanted {
            let mut attributes =
                vec![Attribute::text("activity", row.logical_task.as_ref()), Attribute::text("lifecycle", moment.lifecycle)];
            if moment.number == 3 {
                attributes.push(Attribute::text("status", row.status.as_ref()));
                attributes.extend(row.exit_code.map(|code| Attribute::integer("exit_code", code)));
            }
            attributes.extend(moment.precision_ns.map(|precision| Attribute::integer("precision_ns", precision)));
            attributes.retain(|attribute| !from.rules.drop.leaves_out(&attribute.key));
            let mut relations = vec![relation(&id, "task")];
            relations.extend(run.as_deref().map(|run| relation(run, "part of")));
            relations.extend(tag.as_deref().map(|tag| relation(tag, "tagged")));
            let activity = if from.rules.drop.leaves_out("logical_task") { "" } else { &*row.logical_task };
            let kind = event_type(activity, &moment);
            // Of the same time: what happened to the task encloses what happened to its layers.
            let number = if moment.number == 3 { u8::MAX } else { moment.number };
            making.event(&Order::Task(&id, number), &kind, EVENT_ATTRIBUTES, moment.time_ns, attributes, relations)?;
        }
        let (of_layers, beyond) = layers::moments(row);
        if !from.rules.drop.leaves_out("layers") {
            making.left_out.layer_events += beyond.into_iter().filter(|time_ns| from.wants(*time_ns)).count() as u64;
        }
        for moment in of_layers.into_iter().filter(|moment| from.wants(moment.time_ns)) {
            let mut attributes = vec![
                Attribute::text("layer", moment.layer.clone()),
                Attribute::integer("level", i64::from(moment.level)),
                Attribute::text("lifecycle", moment.lifecycle),
            ];
            attributes.extend(moment.status.map(|status| Attribute::integer("exit_code", status)));
            attributes.extend(moment.failed_in.as_deref().map(|place| Attribute::text("failed_in", place)));
            attributes.extend(moment.signal.as_deref().map(|signal| Attribute::text("signal", signal)));
            attributes.extend(row.started_precision_ns.map(|precision| Attribute::integer("precision_ns", precision)));
            attributes.retain(|attribute| !from.rules.drop.leaves_out(&attribute.key));
            let mut relations = vec![relation(&id, "task")];
            relations.extend(run.as_deref().map(|run| relation(run, "part of")));
            if !from.rules.drop.leaves_out("layers") {
                making.event(
                    &Order::Task(&id, moment.number),
                    &moment.kind,
                    LAYER_EVENT_ATTRIBUTES,
                    moment.time_ns,
                    attributes,
                    relations,
                )?;
            }
        }
        let drop = &from.rules.drop;
        let mut attributes: Vec<_> = attributes::of(TASK, row, drop).collect();
        attributes.extend(attempt.traced.as_ref().into_iter().flat_map(|traced| attributes::of(TRACED, traced, drop)));
        let mut relations: Vec<_> = run.as_deref().map(|run| relation(run, "part of")).into_iter().collect();
        relations.extend(tag.as_deref().map(|tag| relation(tag, "tagged")));
        let object = Object { id: id.as_str().into(), kind: "task".into(), attributes, relations };
        making.objects.object(&place(TASK_RANK, &id), object)?;
        if let Some(run) = &run {
            let told = [("engine", Some(&row.engine)), ("run_name", row.run_name.as_ref()), ("run_id", row.run_id.as_ref())];
            let attributes = told.into_iter().filter_map(|(name, text)| Some(Attribute::text(name, text?.as_ref())));
            making.objects.simple(RUN, "engine run", run, attributes.collect())?;
        }
        if let Some(tag) = &tag {
            let told = [("engine", Some(&row.engine)), ("run_id", row.run_id.as_ref()), ("tag", row.tag.as_ref())];
            let attributes = told.into_iter().filter_map(|(name, text)| Some(Attribute::text(name, text?.as_ref())));
            making.objects.simple(TAG, "tag", tag, attributes.collect())?;
        }
        Ok(())
    })?;
    ran_as(making)?;
    gave_data(making)
}

/// The object of a task's tag within its session.
fn tag_id(row: &TaskRun<'_>, drop: &DropColumns) -> Option<String> {
    let tag = row.tag.as_deref().filter(|tag| !tag.is_empty() && !drop.leaves_out("tag"))?;
    let mut id = format!("tag:{}:", session_name(row));
    escape(tag, &mut id);
    Some(id)
}

/// The jobs that tasks were.
fn ran_as(making: &mut Making<'_>) -> Result<(), TaskLogError> {
    let from = making.from;
    from.dataset.read::<Link<'static>, TaskLogError>(|row| {
        if !(making.wanted.jobs && row.source_type == "task" && row.relation == "ran-as" && row.target_type == "job") {
            return Ok(());
        }
        let row = from.rules.apply(row);
        let task = task_id(&row.source);
        if making.is_inside(&task) {
            making.objects.relate((TASK_RANK, &task), "ran as", (JOB, &job_id(&row.target_scope, &row.target, row.target_ns)))?;
        }
        Ok(())
    })
}

/// Who read what another wrote.
fn gave_data(making: &mut Making<'_>) -> Result<(), TaskLogError> {
    let from = making.from;
    from.dataset.read::<Gave<'static>, TaskLogError>(|row| {
        if row.writer_type.as_deref() != Some("task") || row.reader_type.as_deref() != Some("task") || row.writer == row.reader {
            return Ok(());
        }
        let row = from.rules.apply(row);
        let (Some(writer), Some(reader)) = (&row.writer, &row.reader) else { return Ok(()) };
        let (writer, reader) = (task_id(writer), task_id(reader));
        if making.is_inside(&writer) && making.is_inside(&reader) {
            making.objects.relate((TASK_RANK, &writer), "gave data to", (TASK_RANK, &reader))?;
        }
        Ok(())
    })
}
