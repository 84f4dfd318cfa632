//! Traces for Perfetto's page and `chrome://tracing`: the Trace Event Format (Google), as a JSON
//! object.
//!
//! What Perfetto calls a process is a host here, what it calls a thread a lane. Slices of a lane
//! lie within each other and never across. Times are microseconds since the first moment, with
//! three decimals, so that no nanosecond is lost in a reader's floating-point numbers; when that
//! was stands in `otherData`. Names are JSON strings and nothing else.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use flowmine_activity_log::{IoPhase, NONE, Processes, Status};
use flowmine_draw::text::visible;
use serde_json::{Map, Value, json};

use super::calendar;
use crate::critical_path::{CriticalPath, TimePart};
use crate::gantt::{Gantt, Level, lanes};

/// A trace while it is written.
struct Trace<W: Write> {
    out: BufWriter<W>,
    any: bool,
    origin_ns: i64,
}

/// Where a slice lies: a group and a lane in it.
#[derive(Clone, Copy)]
struct Place {
    group: u32,
    lane: u32,
}

impl<W: Write> Trace<W> {
    fn new(out: W, origin_ns: i64) -> io::Result<Self> {
        let mut out = BufWriter::new(out);
        out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        Ok(Self { out, any: false, origin_ns })
    }

    fn put(&mut self, event: &Value) -> io::Result<()> {
        self.out.write_all(if self.any { b",\n" } else { b"\n" })?;
        self.any = true;
        serde_json::to_writer(&mut self.out, event)?;
        Ok(())
    }

    fn at(&self, ns: i64) -> Value {
        micro(ns.saturating_sub(self.origin_ns))
    }

    fn group(&mut self, group: u32, name: &str) -> io::Result<()> {
        self.put(&json!({"ph": "M", "name": "process_name", "pid": group, "args": {"name": visible(name)}}))?;
        self.put(&json!({"ph": "M", "name": "process_sort_index", "pid": group, "args": {"sort_index": group}}))
    }

    fn lane(&mut self, at: Place, name: &str) -> io::Result<()> {
        self.put(&json!({"ph": "M", "name": "thread_name", "pid": at.group, "tid": at.lane, "args": {"name": visible(name)}}))?;
        self.put(&json!({"ph": "M", "name": "thread_sort_index", "pid": at.group, "tid": at.lane, "args": {"sort_index": at.lane}}))
    }

    fn slice(&mut self, at: Place, (name, kind): (&str, &str), (from, to): (i64, i64), args: Map<String, Value>) -> io::Result<()> {
        let time = micro(to.saturating_sub(from).max(0));
        self.put(&json!({
            "ph": "X", "name": visible(name), "cat": kind, "pid": at.group, "tid": at.lane, "ts": self.at(from), "dur": time, "args": args,
        }))
    }

    fn counter(&mut self, group: u32, name: &str, at_ns: i64, value: i64) -> io::Result<()> {
        self.put(&json!({"ph": "C", "name": name, "pid": group, "tid": 0, "ts": self.at(at_ns), "args": {"value": value}}))
    }

    fn finish(mut self, title: &str) -> io::Result<()> {
        let begin = calendar::iso(self.origin_ns);
        let about = json!({"title": title, "begin": begin, "begin_ns": self.origin_ns.to_string()});
        self.out.write_all(b"\n],\"otherData\":")?;
        serde_json::to_writer(&mut self.out, &about)?;
        self.out.write_all(b"}\n")?;
        self.out.flush()
    }
}

/// Nanoseconds as microseconds: exact up to a hundred days.
fn micro(ns: i64) -> Value {
    if ns % 1000 == 0 { (ns / 1000).into() } else { (ns as f64 / 1000.0).into() }
}

fn args(list: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Map<String, Value> {
    list.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Unknown => "unknown",
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::Aborted => "aborted",
        Status::Cached => "cached",
        Status::Unfinished => "unfinished",
    }
}

/// Processes and when each of them read and wrote.
pub type Traced<'a> = (&'a Processes, &'a [Vec<IoPhase>]);

/// Tasks in lanes of hosts with queue, stage, run, reads and writes; below them, where they were
/// traced, processes.
///
/// # Errors
/// When `out` cannot be written.
pub fn gantt(chart: &Gantt, traced: Option<Traced<'_>>, out: impl Write) -> io::Result<()> {
    let first = chart.span_ns.map(|(first, _)| first);
    let origin = [first, traced.and_then(first_of)].into_iter().flatten().min().unwrap_or(0);
    let mut trace = Trace::new(out, origin)?;
    let mut group = 1;
    for resource in &chart.resources {
        let name = resource.name.as_deref().unwrap_or("(not known)");
        trace.group(group, &format!("{}s on {name}", chart.about.instance))?;
        let bars: Vec<_> = chart
            .bars
            .iter()
            .filter(|bar| (resource.first_lane..resource.first_lane + resource.lanes).contains(&bar.lane))
            .copied()
            .collect();
        for slot in 0..resource.lanes {
            trace.lane(Place { group, lane: slot * 3 + 1 }, &format!("slot {}", slot + 1))?;
        }
        put_queue(&mut trace, chart, &bars, (group, resource.lanes * 3 + 1))?;
        for bar in &bars {
            let place = Place { group, lane: (bar.lane - resource.first_lane) * 3 + 1 };
            let case = (bar.case != NONE).then(|| visible(chart.cases.get(bar.case)).into());
            let about = args([
                ("who", chart.identities.who(bar.instance).words().map(Into::into)),
                ("case", case),
                ("status", Some(word(bar.status).into())),
                ("attempt", bar.attempt.map(Into::into)),
                ("start_is_known", (!bar.start_is_known).then_some(false.into())),
            ]);
            trace.slice(place, (chart.activities.get(bar.activity), "run"), (bar.start_ns, bar.end_ns), about)?;
            if let Some(until) = bar.staged_until_ns {
                trace.slice(place, ("stage", "stage"), (bar.start_ns, until), Map::new())?;
            }
            let clipped = chart.phases_of(bar).iter().map(|phase| IoPhase {
                from_ns: phase.from_ns.max(bar.start_ns),
                to_ns: phase.to_ns.min(bar.end_ns),
                ..*phase
            });
            put_phases(&mut trace, place, clipped)?;
        }
        group += 1;
    }
    let first_bars = || chart.bars.iter().filter(|bar| bar.is_first());
    let running = first_bars().map(|bar| (bar.start_ns, bar.end_ns));
    put_level(&mut trace, "running at once", running, &chart.running)?;
    let waiting = first_bars().filter_map(|bar| Some((bar.ready_ns?, bar.start_ns)));
    put_level(&mut trace, "waiting at once", waiting, &chart.queued)?;
    if let Some(traced) = traced {
        put_processes(&mut trace, traced, group)?;
    }
    trace.finish("flowmine: what ran where and when")
}

/// What waited, in lanes of its own, since slices of one lane must not lie across each other.
fn put_queue<W: Write>(trace: &mut Trace<W>, chart: &Gantt, bars: &[crate::gantt::Bar], (group, first): (u32, u32)) -> io::Result<()> {
    let mut waits: Vec<(i64, i64, u32)> =
        bars.iter().filter_map(|bar| Some((bar.ready_ns?, bar.start_ns, bar.activity))).filter(|(from, to, _)| from < to).collect();
    waits.sort_unstable();
    let times: Vec<(i64, i64)> = waits.iter().map(|(from, to, _)| (*from, *to)).collect();
    let (of, count) = lanes(&times);
    for lane in 0..count {
        trace.lane(Place { group, lane: first + lane }, &format!("queue {}", lane + 1))?;
    }
    for ((from, to, activity), lane) in waits.into_iter().zip(of) {
        let place = Place { group, lane: first + lane };
        trace.slice(place, (chart.activities.get(activity), "queue"), (from, to), Map::new())?;
    }
    Ok(())
}

/// Reads and writes, in the two lanes behind that of what did them.
fn put_phases<W: Write>(trace: &mut Trace<W>, of: Place, phases: impl Iterator<Item = IoPhase>) -> io::Result<()> {
    let mut busy_until = [i64::MIN; 2];
    for phase in phases {
        let direction = usize::from(phase.write);
        // Those of several processes of a task can overlap: the rest of one begins where the one before ended.
        let from = phase.from_ns.max(busy_until[direction]);
        if from > phase.to_ns {
            continue;
        }
        busy_until[direction] = phase.to_ns;
        let name = if phase.write { "write" } else { "read" };
        let about = args([
            ("bytes", Some(phase.bytes.into())),
            ("operations", Some(phase.operations.into())),
            ("added_up", phase.added_up.then_some(true.into())),
        ]);
        let place = Place { lane: of.lane + 1 + direction as u32, ..of };
        trace.slice(place, (name, name), (from, phase.to_ns), about)?;
    }
    Ok(())
}

fn put_level<W: Write>(trace: &mut Trace<W>, name: &str, of: impl Iterator<Item = (i64, i64)>, level: &Level) -> io::Result<()> {
    if level.most == 0 {
        return Ok(());
    }
    let mut changes: BTreeMap<i64, i64> = BTreeMap::new();
    for (from, to) in of.filter(|(from, to)| from < to) {
        *changes.entry(from).or_default() += 1;
        *changes.entry(to).or_default() -= 1;
    }
    trace.group(0, "together")?;
    let mut now = 0;
    for (ns, change) in changes {
        now += change;
        trace.counter(0, name, ns, now)?;
    }
    Ok(())
}

fn first_of((processes, phases): Traced<'_>) -> Option<i64> {
    let starts = processes.rows.iter().filter(|row| !row.was_running).filter_map(|row| row.started_ns);
    starts.chain(phases.iter().flatten().map(|phase| phase.from_ns)).min()
}

/// Processes in lanes of hosts, with reads and writes.
///
/// # Errors
/// When `out` cannot be written.
pub fn processes(traced: Traced<'_>, out: impl Write) -> io::Result<()> {
    let mut trace = Trace::new(out, first_of(traced).unwrap_or(0))?;
    put_processes(&mut trace, traced, 1)?;
    trace.finish("flowmine: processes")
}

fn put_processes<W: Write>(trace: &mut Trace<W>, (processes, phases): Traced<'_>, first_group: u32) -> io::Result<()> {
    let begin = first_of((processes, phases)).unwrap_or(0);
    let last = processes.rows.iter().filter_map(|row| row.ended_ns.max(row.started_ns));
    let last = last.chain(phases.iter().flatten().map(|phase| phase.to_ns)).max().unwrap_or(begin);
    for host in 0..processes.hosts.len() as u32 {
        let group = first_group + host;
        trace.group(group, &format!("processes on {}", processes.hosts.get(host)))?;
        // What was there before and did nothing to files is not shown.
        let mut shown: Vec<(i64, i64, u32)> = (0u32..)
            .zip(&processes.rows)
            .filter(|(at, row)| row.host == host && (!row.was_running || !phases[*at as usize].is_empty()))
            .map(|(at, row)| {
                let from = row.started_ns.unwrap_or(begin).max(begin);
                let of = &phases[at as usize];
                // A last write can be reported a moment after the end.
                let to = row.ended_ns.unwrap_or(last).max(from).max(of.iter().map(|phase| phase.to_ns).max().unwrap_or(from));
                (from.min(of.iter().map(|phase| phase.from_ns).min().unwrap_or(from)), to, at)
            })
            .collect();
        shown.sort_unstable();
        let times: Vec<(i64, i64)> = shown.iter().map(|(from, to, _)| (*from, *to)).collect();
        let (of, count) = lanes(&times);
        for lane in 0..count {
            trace.lane(Place { group, lane: lane * 3 + 1 }, &format!("lane {}", lane + 1))?;
        }
        for ((from, to, at), lane) in shown.into_iter().zip(of) {
            let row = &processes.rows[at as usize];
            let place = Place { group, lane: lane * 3 + 1 };
            let program = if row.program == NONE { "(program not known)" } else { processes.programs.get(row.program) };
            let parent = processes.rows.get(row.parent as usize).map(|parent| parent.pid.into());
            let about = args([
                ("pid", Some(row.pid.into())),
                ("parent", parent),
                ("belongs_to", (row.owner != NONE).then(|| visible(processes.owners.get(row.owner)).into())),
                ("exit_code", row.exit_code.map(Into::into)),
                ("exit_signal", row.exit_signal.map(Into::into)),
                ("end_is_known", row.ended_ns.is_none().then_some(false.into())),
                ("cpu_ms", row.cpu_ns.map(|ns| (ns as f64 / 1e6).into())),
                ("read_bytes", Some(row.io.read_bytes.into())),
                ("written_bytes", Some(row.io.written_bytes.into())),
            ]);
            trace.slice(place, (program, "process"), (from, to), about)?;
            put_phases(trace, place, phases[at as usize].iter().copied())?;
        }
    }
    Ok(())
}

/// The critical path: a lane with its tasks and one with their parts.
///
/// # Errors
/// When `out` cannot be written.
pub fn critical_path(found: &CriticalPath, out: impl Write) -> io::Result<()> {
    let origin = found.begin_ns.unwrap_or(0);
    let mut trace = Trace::new(out, origin)?;
    trace.group(1, "critical path")?;
    trace.lane(Place { group: 1, lane: 1 }, &format!("{}s", found.noun))?;
    trace.lane(Place { group: 1, lane: 2 }, "what they did")?;
    for step in &found.path {
        let (from, to) = (origin.saturating_add(step.from_ns), origin.saturating_add(step.to_ns));
        let about = args([("activity", Some(visible(&step.activity).into()))]);
        trace.slice(Place { group: 1, lane: 1 }, (&step.task, "path"), (from, to), about)?;
        let mut at = from;
        for of in &step.parts {
            let end = at.saturating_add(of.time_ns.max(0)).min(to.max(at));
            let about = args([("meaning", Some(TimePart::meaning(of.part).into()))]);
            trace.slice(Place { group: 1, lane: 2 }, (of.part.name(), of.part.name()), (at, end), about)?;
            at = end;
        }
    }
    trace.finish("flowmine: what the run waited for")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_json_whatever_names_are() {
        let mut out = Vec::new();
        let mut trace = Trace::new(&mut out, 1_000).expect("a vector takes all");
        trace.group(1, "\"}],\n</script>\u{202e}").expect("a vector takes all");
        trace.slice(Place { group: 1, lane: 2 }, ("a\u{0}b", "run"), (1_500, 3_000), Map::new()).expect("a vector takes all");
        trace.finish("x").expect("a vector takes all");
        let read: Value = serde_json::from_slice(&out).expect("it is JSON");
        let events = read["traceEvents"].as_array().expect("a list");
        assert_eq!((events.len(), &events[2]["ts"], &events[2]["dur"]), (3, &json!(0.5), &json!(1.5)));
        assert_eq!(events[2]["name"], "a\\x00b");
        assert_eq!(read["otherData"]["begin_ns"], "1000");
    }

    #[test]
    fn phases_of_one_lane_do_not_lie_across_each_other() {
        let mut out = Vec::new();
        let mut trace = Trace::new(&mut out, 0).expect("a vector takes all");
        let phase = |from_ns, to_ns, write| IoPhase { from_ns, to_ns, write, bytes: 1, operations: 1, added_up: false };
        let all = [phase(0, 10, false), phase(5, 8, false), phase(5, 30, false), phase(6, 9, true)];
        put_phases(&mut trace, Place { group: 1, lane: 1 }, all.into_iter()).expect("a vector takes all");
        trace.finish("x").expect("a vector takes all");
        let read: Value = serde_json::from_slice(&out).expect("it is JSON");
        let of: Vec<(f64, f64)> = read["traceEvents"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|event| event["tid"] == 2)
            .map(|event| (event["ts"].as_f64().expect("a number"), event["dur"].as_f64().expect("a number")))
            .collect();
        assert_eq!(of, [(0.0, 0.01), (0.01, 0.02)]);
    }
}
